/**
 * A project with canaries in protected files, and ways to run commands in it, sandboxed and not: for the tests of the
 * sandbox.
 */
import {
  createSessionSandbox,
  type SessionSandbox,
  type SessionSandboxOptions,
} from "../../src/boundary/sandbox/sandbox.ts";
import type { WatchedProgram } from "../../src/boundary/sandbox/watched_run.ts";
import { ProtectedSet } from "../../src/boundary/policy/protected.ts";
import { ProtectedPlaces } from "../../src/boundary/policy/protected_tree.ts";
import type { SandboxRequest } from "../../src/boundary/sandbox/open_sandbox.ts";
import type { SandboxRefusal, SandboxSettings } from "../../src/boundary/sandbox/sandbox.ts";
import { run } from "../../src/platform/process.ts";
import { plainDirectory } from "../helpers/plain_directory.ts";

/** What came of a command. */
export interface Ran {
  text: string;
  code: number;
  report: { quarantined: Awaited<ReturnType<WatchedProgram["quarantine"]>>; exposed: string[] };
}

/** `hide` takes the place of what is protected in the project. */
type MoreOfRequest = Partial<SandboxRequest> & { hide?: Partial<ProtectedPlaces> };

/** The project. */
export interface SandboxProject {
  /** A real path, like all others. */
  root: string;
  /** Holds the project, the homes and what lies outside of them. */
  base: string;
  /** The tool's. */
  home: string;
  userHome: string;
  /** In every protected file. */
  canary: string;
  sandbox: SessionSandbox;
  request(command: string, more?: MoreOfRequest): SandboxRequest;
  sandboxed(command: string, more?: MoreOfRequest): Promise<Ran>;
  unsandboxed(command: string): Promise<string>;
  write(name: string, text: string): void;
  read(name: string): string | null;
  git(...args: string[]): string;
}

/** Where the programs of one way to make a sandbox lie. */
export interface SandboxChoice {
  /** Directories; those of the system when absent. */
  programs?: readonly string[];
  settings?: Partial<SandboxSettings>;
  /** What the home knows of projects. */
  projects?: NonNullable<SessionSandboxOptions["projects"]>;
  /** The value of PATH. */
  path?: string;
  /** Where the tool's home lies, below the base. */
  home?: string;
  /** Other users reach it, and no name on the way has to be quoted. */
  plain?: boolean;
}

const PATH = "/usr/local/bin:/usr/bin:/bin";

/** What a sandbox asks of its surroundings. */
export function sandboxIo(PATH: string, HOME?: string): Parameters<typeof createSessionSandbox>[0]["io"] {
  return { os: "linux", env: (name) => ({ PATH, HOME })[name] };
}

/** Runs `work` in a fresh project; what is protected is `.env`, `secrets` and `deep/down/key`. */
export async function inSandboxProject(
  work: (project: SandboxProject) => Promise<void>,
  choice: SandboxChoice = {},
): Promise<void> {
  const base = choice.plain ? await plainDirectory() : Deno.realPathSync(await Deno.makeTempDir());
  try {
    await work(makeProject(base, choice));
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

function makeProject(base: string, choice: SandboxChoice): SandboxProject {
  const root = `${base}/project`;
  const home = `${base}/${choice.home ?? "user/.agentcli"}`;
  const userHome = `${base}/user`;
  const canary = `CNRY_${crypto.randomUUID().replaceAll("-", "")}`;
  const write = (name: string, text: string) => {
    const path = name.startsWith("/") ? name : `${root}/${name}`;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    Deno.writeTextFileSync(path, text);
  };
  write("pub.txt", "PUB\n");
  write(".agentclisecret", "no-cloud: .env\nno-cloud: secrets\nno-cloud: deep/down/key\n");
  for (const name of [".env", "secrets/k.txt", "deep/down/key", `${home}/providers.yaml`]) write(name, `A=${canary}\n`);
  const settings: SandboxSettings = { mode: "auto", network: false, read: [], write: [], env: [], ...choice.settings };
  const sandbox = createSessionSandbox({
    io: sandboxIo(choice.path ?? PATH, userHome),
    settings,
    home,
    roots: [root],
    projects: choice.projects,
    ...choice.programs === undefined ? {} : { programs: choice.programs },
  });
  const protection = new ProtectedSet([root]);
  const request = (command: string, { hide, ...more }: MoreOfRequest = {}): SandboxRequest => {
    (more.protection ?? protection).refresh();
    const hidden = () => Promise.resolve(new ProtectedPlaces().add(hide ?? {}));
    const markers = [`${root}/.agentclisecret`];
    return {
      root,
      additional: [],
      cwd: root,
      argv: ["/bin/bash", "-c", command],
      env: { PATH: choice.path ?? PATH, HOME: userHome, LANG: "C.UTF-8" },
      protection: hide === undefined
        ? protection
        : { kept: protection.kept, roots: protection.roots, markers, refresh() {}, hidden, rule: () => null },
      git: false,
      network: false,
      ...more,
    };
  };
  return {
    root,
    base,
    home,
    userHome,
    canary,
    sandbox,
    request,
    write,
    read(name) {
      try {
        return Deno.readTextFileSync(name.startsWith("/") ? name : `${root}/${name}`);
      } catch {
        return null;
      }
    },
    async sandboxed(command, more) {
      const asked = request(command, more);
      const sandboxed = await sandbox.wrapCommand(asked);
      // By which marker: one that somebody left above the temporary directory counts here too.
      const rule = JSON.stringify(protection.rule(root));
      if (sandboxed.kind === "refused") throw new Error(`refused: ${sandboxed.reason}; the rule of the root: ${rule}`);
      const ran = await start(sandboxed.argv, { cwd: sandboxed.cwd, env: sandboxed.env });
      const { planted, exposed } = await sandboxed.look();
      const quarantined = await sandboxed.quarantine(planted);
      await sandboxed.note?.remove();
      return { ...ran, report: { quarantined, exposed } };
    },
    async unsandboxed(command) {
      return (await start(["/bin/bash", "-c", command], { cwd: root, env: { PATH, HOME: userHome } })).text;
    },
    git(...args) {
      const { stdout } = new Deno.Command("git", {
        args: ["-c", "user.name=t", "-c", "user.email=t@example.com", "-c", "safe.directory=*", ...args],
        cwd: root,
        clearEnv: true,
        env: { PATH, HOME: userHome, GIT_CONFIG_NOSYSTEM: "1" },
        stderr: "null",
      }).outputSync();
      return new TextDecoder().decode(stdout);
    },
  };
}

/** Runs an argument list to its end and gives all it says. */
export async function start(
  argv: [string, ...string[]],
  options: { cwd: string; env: Record<string, string> },
): Promise<{ text: string; code: number }> {
  let text = "";
  const decoder = new TextDecoder();
  const outcome = await run({
    argv,
    ...options,
    timeoutMs: 30_000,
    onOutput: (bytes) => text += decoder.decode(bytes, { stream: true }),
  });
  return { text, code: outcome.code };
}

/** The refusal of a request, which must be one. */
export async function refusal(sandbox: SessionSandbox, request: SandboxRequest): Promise<SandboxRefusal> {
  const answer = await sandbox.wrapCommand(request);
  if (answer.kind !== "refused") throw new Error("the command was not refused");
  return answer;
}

/** Whether a text holds the canary as it is, or in a form that a command can give it. */
export function holdsCanary(text: string, canary: string): boolean {
  const bytes = new TextEncoder().encode(canary);
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const plain = text.replace(/\s/g, "").toLowerCase();
  const forms = [
    canary,
    canary.slice(5, 17),
    [...canary].reverse().join(""),
    hex,
    ...[0, 1, 2].map((start) => btoa(canary.slice(start, start + 21))),
  ];
  return forms.some((form) => plain.includes(form.toLowerCase().replace(/=+$/, "")));
}

/** Directories with the programs of the second choice alone; null where one of them is missing. */
export async function secondChoice(base: string): Promise<string[] | null> {
  const directory = `${base}/programs`;
  await Deno.mkdir(directory, { recursive: true });
  for (const name of ["unshare", "setpriv", "mount", "umount", "pivot_root", "setsid", "sh"]) {
    const found = ["/usr/bin", "/usr/sbin", "/bin", "/sbin"].map((place) => `${place}/${name}`).find(exists);
    if (found === undefined) return null;
    await Deno.symlink(found, `${directory}/${name}`).catch(() => {});
  }
  return [directory];
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}

/** Whether this machine has bubblewrap: the tests of it are passed over where it does not. */
export function hasBubblewrap(): boolean {
  return Deno.build.os === "linux" && exists("/usr/bin/bwrap");
}
