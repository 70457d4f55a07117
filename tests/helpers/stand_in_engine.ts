/**
 * Programs that play engines: on a PATH of their own, noting how they were started, and serving as the real ones do.
 */
import { join } from "../../src/platform/path.ts";
import { REPOSITORY, type TemporaryHome } from "./program.ts";

/** How a program behaves. */
export interface StandInSettings {
  program: string;
  /** Which server it answers like. */
  kind: "llama-server" | "vllm" | "ollama" | "freetoken" | "minisgl" | "lms" | "lms server" | "plain";
  /** Where it notes its starts. */
  record: string;
  /** Printed for `--help`, `--help=all`; a way that is absent is refused. */
  help: Record<string, string>;
  /** Model of its list, where no option names one. */
  model?: string;
  /** Requests that are answered with 503 first. */
  loadingAnswers?: number;
  /** Writes so many lines of log and exits. */
  dies?: { lines: number; code: number };
}

/** One start of a program. */
export interface Start {
  program: string;
  argv: string[];
  env: Record<string, string>;
  pid: number;
}

/** The programs of one test. */
export interface StandIns {
  /** For the `PATH` of the program under test: these programs, and what a shell script needs. */
  path: string;
  install(program: string, settings: Omit<StandInSettings, "program" | "record">): Promise<void>;
  /** All starts so far but those that asked for help. */
  starts(): Promise<Start[]>;
}

/** A place for programs in the directories of a test. */
export async function standIns(home: TemporaryHome): Promise<StandIns> {
  const directory = join(home.root, "bin");
  const record = join(home.root, "starts");
  await Deno.mkdir(directory);
  return {
    path: `${directory}:/usr/bin:/bin`,
    async install(program, settings) {
      const file = join(home.root, `${program}.json`);
      await Deno.writeTextFile(file, JSON.stringify({ ...settings, program, record }));
      await Deno.writeTextFile(`${file}.server`, JSON.stringify({ ...settings, kind: "lms server", program, record }));
      const quoted = [
        Deno.execPath(),
        ...["run", "-A", "--quiet", "--no-config"],
        join(REPOSITORY, "tests/helpers/stand_in_engine_program.ts"),
        file,
      ].map((word) => `'${word}'`).join(" ");
      await Deno.writeTextFile(join(directory, program), `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 });
    },
    async starts() {
      const text = await Deno.readTextFile(record).catch(() => "");
      const all = text.split("\n").filter((line) => line !== "").map((line): Start => JSON.parse(line));
      return all.filter(({ argv }) => !argv.some((word) => word.startsWith("--help")));
    },
  };
}

/** A port of this machine that was free a moment ago. */
export function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}

/** Whether a process runs: also one that is no child of ours. */
export async function runs(pid: number): Promise<boolean> {
  const { stdout } = await new Deno.Command("/bin/ps", { args: ["-o", "stat=", "-p", String(pid)] }).output();
  const state = new TextDecoder().decode(stdout).trim();
  return state !== "" && !state.startsWith("Z");
}

/** Asks until it holds: the system tells of no change by itself. Fails after 20 s. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  const limit = performance.now() + 20_000;
  while (!await holds()) {
    if (performance.now() > limit) throw new Error("waited too long");
  }
}
