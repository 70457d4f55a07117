/** The program in a terminal of tmux, and what a person sees there. */
import { outputOf } from "../../src/platform/process_group.ts";
import { join } from "../../src/platform/path.ts";
import { plainDirectory } from "./plain_directory.ts";
import { programCommand, type TemporaryHome } from "./program.ts";

/** One terminal; `await using` ends its server, which is of this test alone. */
export interface TestTerminal extends AsyncDisposable {
  /** Types text as it stands. */
  type(text: string): Promise<void>;
  /** Presses keys by tmux's names: `Enter`, `C-c`. */
  press(...keys: string[]): Promise<void>;
  /** Pastes in brackets, as terminals do. */
  paste(text: string): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  /**
   * Takes the terminal away, as a closed window or a lost ssh does, and waits until what ran in it has ended. Linux.
   */
  hangUp(): Promise<void>;
  /** What is on the screen; with `all` what has scrolled away too, with `styles` the colors as sequences. */
  screen(options?: { all?: boolean; styles?: boolean }): Promise<string>;
  /** The screen once it holds the pattern. Throws with the last screen when that takes too long. */
  shows(pattern: RegExp, options?: { all?: boolean }): Promise<string>;
}

/** Whether tmux is there; tests of the terminal are left out where it is not. */
export const HAS_TMUX: boolean = (await outputOf(
  new Deno.Command("tmux", { args: ["-V"], stdout: "null", stderr: "null" }),
))?.success === true;

const LONGEST_WAIT_MS = 60_000;
const LOOK_MS = 50;

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

/** The processes below one, by their ids. The system's own list of children may leave some out while they change. */
function descendants(pid: string): string[] {
  const parents = [...Deno.readDirSync("/proc")].map(({ name }) => name).filter((name) => /^\d+$/.test(name))
    .map((id) => [id, /^PPid:\s+(\d+)/m.exec(statusOf(id))?.[1]]);
  const found = [pid];
  for (const at of found) found.push(...parents.flatMap(([id = "", parent]) => parent === at ? [id] : []));
  return found;
}

/** Empty for one that has ended. */
function statusOf(pid: string): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/status`);
  } catch {
    return "";
  }
}

function isRunning(pid: string): boolean {
  return /^State:\s+[^ZX]/m.test(statusOf(pid));
}

/** Starts the program in the project of the home. The exit code is shown after `EXIT`. */
export async function openTerminal(
  args: readonly string[],
  options: {
    home: TemporaryHome;
    columns?: number;
    rows?: number;
    env?: Record<string, string>;
    /** What Deno permits; a binary has all permissions built in. */
    permissions?: readonly string[];
  },
): Promise<TestTerminal> {
  const { home, columns = 80, rows = 24, env = {}, permissions } = options;
  const place = await plainDirectory();
  const socket = join(place, "tmux");
  const tmux = async (words: readonly string[], input?: string) => {
    const child = new Deno.Command("tmux", {
      args: ["-S", socket, "-f", "/dev/null", ...words],
      stdin: input === undefined ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
      env: { TMUX: "", LANG: "C.UTF-8", TERM: "xterm-256color" },
    }).spawn();
    if (input !== undefined) {
      const writer = child.stdin.getWriter();
      await writer.write(new TextEncoder().encode(input));
      await writer.close();
    }
    const { stdout, stderr, success } = await child.output();
    if (!success) throw new Error(`tmux ${words[0]}: ${new TextDecoder().decode(stderr)}`);
    return new TextDecoder().decode(stdout);
  };
  const variables = {
    HOME: home.home,
    AGENTCLI_HOME: home.agentcliHome,
    TMPDIR: home.tmp,
    DENO_NO_UPDATE_CHECK: "1",
    DENO_DIR: Deno.env.get("DENO_DIR") ?? join(Deno.env.get("HOME") ?? "/", ".cache/deno"),
    ...env,
  };
  const assignments = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const command = quoted(["env", "-u", "NO_COLOR", ...assignments, ...programCommand(permissions), ...args]);
  const size = ["-x", String(columns), "-y", String(rows)];
  await tmux(["-u", "new-session", "-d", "-s", "t", ...size, "-c", home.project, `${command}; echo EXIT $?; cat`]);
  const screen: TestTerminal["screen"] = ({ all = false, styles = false } = {}) =>
    tmux(["capture-pane", "-p", "-t", "t", ...all ? ["-S", "-"] : [], ...styles ? ["-e"] : []]);
  return {
    type: async (text) => void await tmux(["send-keys", "-t", "t", "-l", text]),
    press: async (...keys) => void await tmux(["send-keys", "-t", "t", ...keys]),
    async paste(text) {
      await tmux(["load-buffer", "-"], text);
      await tmux(["paste-buffer", "-p", "-r", "-t", "t"]);
    },
    resize: async (width, height) => void await tmux(["resize-window", "-t", "t", "-x", `${width}`, "-y", `${height}`]),
    screen,
    async shows(pattern, looking) {
      const start = performance.now();
      for (;;) {
        const shown = await screen(looking);
        if (pattern.test(shown)) return shown;
        if (performance.now() - start > LONGEST_WAIT_MS) throw new Error(`never shown: ${pattern}\n${shown}`);
        // Another process draws: there is nothing to wait on but its screen.
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    },
    async hangUp() {
      const pane = (await tmux(["display-message", "-p", "-t", "t", "#{pane_pid}"])).trim();
      const left = descendants(pane);
      await tmux(["kill-server"]);
      const start = performance.now();
      while (left.some(isRunning)) {
        if (performance.now() - start > LONGEST_WAIT_MS) throw new Error("the program outlives its terminal");
        // A process of somebody else tells nobody that it has ended.
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    },
    async [Symbol.asyncDispose]() {
      await tmux(["kill-server"]).catch(() => {});
      await Deno.remove(place, { recursive: true });
    },
  };
}
