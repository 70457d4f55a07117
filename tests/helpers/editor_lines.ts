/** A project in which all scaffolded hooks are installed, and the inputs of all events. */
import { type HookEvent, SCAFFOLD_IDS, type ScaffoldId, SCAFFOLDS } from "../../src/editor/hooks/events.ts";
import { done, installProgram } from "./editor_program.ts";
import type { TemporaryHome } from "./program.ts";
import assert from "node:assert/strict";

/** Stands in the protected files. */
export const SECRET = "correct-horse-battery-staple-42";
const PAYLOADS = new URL("../fixtures/editor/payloads/", import.meta.url);
/** The hooks file of each scope. */
export const SCOPES = { project: ".ide/hooks.json", user: "../home/.vendor/ide/hooks.json" } as const;

/** A line that is installed. */
export interface Line {
  scope: keyof typeof SCOPES;
  scaffold: ScaffoldId;
  event: HookEvent;
  command: string;
  powershell: string;
  /** What its script passes on. */
  settings: readonly string[];
}

/** A project with protected files, and the program that hooks call. */
export async function project(home: TemporaryHome): Promise<string> {
  await home.write(".agentclisecret", "no-cloud: secrets\nno-cloud: .env\nno-cloud: odd\n");
  await home.write("secrets/keys.md", `key ${SECRET}\n`);
  await home.write(".env", `TOKEN=${SECRET}\n`);
  await home.write("src/a.ts", "let a = 1;\n");
  await home.write("src/$(touch made) 'b' \"c\".ts", "let b = 1;\n");
  await home.write("odd/new\nline", `x ${SECRET}\n`);
  await home.write("local/settings.json", "{}\n");
  await Deno.mkdir(`${home.root}/worktree`);
  return await installProgram(home);
}

/** Installs all five in a scope; `program` is what they call. */
export async function install(
  home: TemporaryHome,
  { scope, program }: { scope: Line["scope"]; program: string },
): Promise<Line[]> {
  const settings: Readonly<Record<ScaffoldId, readonly string[]>> = {
    "no-cloud-guard": [],
    "audit-log": ["log=project"],
    "setup-worktree": ["copy=local"],
    "format-on-write": ["formatter=true"],
    "session-note": ["file=notes.md"],
  };
  const given = (scaffold: ScaffoldId) => [`agentcli=${program}`, ...settings[scaffold]];
  for (const scaffold of SCAFFOLD_IDS) {
    const set = given(scaffold).flatMap((setting) => ["--set", setting]);
    await done(home, "add", "hook", scaffold, "--scope", scope, ...set, "--yes");
  }
  const { hooks } = JSON.parse(await home.read(SCOPES[scope]));
  return SCAFFOLD_IDS.flatMap((scaffold) =>
    SCAFFOLDS[scaffold].events.map((event) => {
      const entry = hooks[event].find(({ command }: { command: string }) => command.includes(`/${scaffold}.sh`));
      const { command, powershell } = entry;
      return { scope, scaffold, event, command, powershell, settings: given(scaffold) };
    })
  );
}

/** The recorded input of an event, in this project. */
export async function recorded(home: TemporaryHome, event: HookEvent): Promise<string> {
  const text = await Deno.readTextFile(new URL(`${event}.json`, PAYLOADS));
  return text.replaceAll("/home/u/.windsurf/worktrees/proj/ab-proj-c1", `${home.root}/worktree`)
    .replaceAll("/home/u/proj", home.project);
}

/** An input with this `tool_info`. */
export function payload(event: HookEvent, info: unknown): string {
  return JSON.stringify({ agent_action_name: event, trajectory_id: "t", tool_info: info });
}

/** What touches nothing that is protected, and what does. */
export function infos(home: TemporaryHome): Record<HookEvent, { open: unknown; secret: unknown }> {
  const read = { open: { file_path: "src/a.ts" }, secret: { file_path: `${home.project}/secrets/keys.md` } };
  const write = {
    open: { file_path: "src/a.ts", edits: [{ old_string: "a", new_string: "b" }] },
    secret: { file_path: "src/a.ts", edits: [{ old_string: "a", new_string: SECRET }] },
  };
  const command = {
    open: { command_line: "agentcli sandbox -- 'deno test'", cwd: home.project },
    secret: { command_line: "cat secrets/keys.md", cwd: home.project },
  };
  const server = { mcp_server_name: "s", mcp_tool_name: "t" };
  const tool = {
    open: { ...server, mcp_tool_arguments: { path: "src/a.ts" }, mcp_result: "[]" },
    secret: { ...server, mcp_tool_arguments: { path: ".env" }, mcp_result: SECRET },
  };
  return {
    pre_read_code: read,
    post_read_code: read,
    pre_write_code: write,
    post_write_code: write,
    pre_run_command: command,
    post_run_command: command,
    pre_mcp_tool_use: tool,
    post_mcp_tool_use: tool,
    pre_user_prompt: { open: { user_prompt: "explain src/a.ts" }, secret: { user_prompt: `what is ${SECRET}?` } },
    post_cascade_response: { open: { response: "Done." }, secret: { response: `It is ${SECRET}.` } },
    post_cascade_response_with_transcript: {
      open: { transcript_path: "src/a.ts" },
      secret: { transcript_path: "secrets/keys.md" },
    },
    post_setup_worktree: {
      open: { worktree_path: `${home.root}/worktree`, root_workspace_path: home.project },
      secret: { worktree_path: `${home.root}/worktree`, root_workspace_path: home.project },
    },
  };
}

/** A program of the system in a directory that stands for all of PATH. */
export async function linkProgram(home: TemporaryHome, name: string): Promise<void> {
  const found = ["/usr/bin", "/bin"].map((at) => `${at}/${name}`).find((path) => Deno.statSync(path).isFile);
  await Deno.symlink(found ?? assert.fail(name), `${home.root}/bin/${name}`);
}

/** The inputs of an event: as it was recorded, and one that touches nothing protected, and one that does. */
export const KINDS = ["recorded", "open", "secret"] as const;

/** Everything in the project but what the hooks add to it, to be compared. */
export async function contentOf(home: TemporaryHome): Promise<string> {
  const found: string[] = [];
  const waiting = [home.project];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for await (const { name, isDirectory } of Deno.readDir(at)) {
      const path = `${at}/${name}`;
      if (isDirectory) waiting.push(path);
      else if (!/\.ide\/audit-log\.jsonl$|\/notes\.md$/.test(path)) {
        found.push(`${path} ${await Deno.readTextFile(path)}`);
      }
    }
  }
  return found.sort().join("\n");
}

/** Inputs that nobody records, for the event `pre_read_code` or `post_read_code`; whether the guard lets them pass. */
export const HOSTILE: readonly [string, (event: HookEvent, project: string) => string | Uint8Array, boolean][] = [
  ["nothing", () => "", false],
  ["broken JSON", () => '{"tool_info": {', false],
  ["an input that is cut", (event) => payload(event, { file_path: "src/a.ts" }).slice(0, -3), false],
  ["two inputs", (event) => payload(event, { file_path: "src/a.ts" }).repeat(2), false],
  ["bytes that are no text", () => new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x00, 0x7d]), false],
  ["zeros", () => new Uint8Array(4096), false],
  ["null", () => "null", false],
  ["a list", () => "[1, 2]", false],
  ["a number", () => "7", false],
  ["deep lists", () => "[".repeat(200_000), false],
  ["no tool_info", (event) => JSON.stringify({ agent_action_name: event }), false],
  ["tool_info null", (event) => payload(event, null), false],
  ["tool_info a list", (event) => payload(event, ["src/a.ts"]), false],
  ["tool_info without the path", (event) => payload(event, {}), false],
  ["a path that is a number", (event) => payload(event, { file_path: 7 }), false],
  ["a path that is null", (event) => payload(event, { file_path: null }), false],
  ["a path that is a list", (event) => payload(event, { file_path: ["src/a.ts"] }), false],
  ["an unknown event", () => payload("pre_everything" as HookEvent, { file_path: "src/a.ts" }), false],
  ["an event that is no text", () => JSON.stringify({ agent_action_name: 1, tool_info: { file_path: "a" } }), false],
  ["an empty path", (event) => payload(event, { file_path: "" }), false],
  ["a path with a NUL", (event) => payload(event, { file_path: "secrets/keys.md\0.ts" }), false],
  ["a protected path with a line break", (event) => payload(event, { file_path: "odd/new\nline" }), false],
  [
    "a protected path as an address",
    (event, project) => payload(event, { file_path: `file://${encodeURI(project)}/secrets/keys%2emd` }),
    false,
  ],
  ["a protected path from elsewhere", (event) => payload(event, { file_path: "src/../././secrets//keys.md" }), false],
  ["a protected path in capitals", (event) => payload(event, { file_path: "SECRETS/KEYS.MD" }), false],
  ["a protected path, parted as on Windows", (event) => payload(event, { file_path: "secrets\\keys.md" }), false],
  ["the directory of the project", (event) => payload(event, { file_path: "." }), false],
  ["a directory with a protected file", (event) => payload(event, { file_path: "odd" }), false],
  ["the whole disk's root by way of the project", (event) => payload(event, { file_path: "src/.." }), false],
  ["a byte order mark", (event) => `\ufeff${payload(event, { file_path: "src/a.ts" })}`, true],
  ["more fields", (event) => payload(event, { file_path: "src/a.ts", more: { deep: [null] } }), true],
  [
    "a path with quotes and a command",
    (event) => payload(event, { file_path: "src/$(touch made) 'b' \"c\".ts" }),
    true,
  ],
  ["a path that is not there", (event) => payload(event, { file_path: "$(touch made)`touch made`;'\"\n" }), true],
  ["an open directory", (event) => payload(event, { file_path: "src" }), true],
  ["a path of the home", (event) => payload(event, { file_path: "~/notes.txt" }), true],
  ["5 MB", (event) => payload(event, { file_path: "src/a.ts", more: "a b ".repeat(1_310_720) }), true],
];

/** What stands where the program was: the text of a script, or nothing. */
export const FAILURES: readonly [string, string | null, number?][] = [
  ["is not there", null],
  ["is not executable", "exit 0", 0o644],
  ["ends with 1", "exit 1"],
  ["ends with 3", "exit 3"],
  ["ends with 126", "exit 126"],
  ["ends with 127", "exec no-such-program"],
  ["ends with 255 after output", "echo '{}'; exit 255"],
  ["is killed", "kill -KILL $$"],
  ["crashes", "kill -SEGV $$"],
  ["is interrupted", "kill -INT $$"],
  ["closes its input at once and fails", "exec <&-; exit 1"],
];

/** Programs that end with 0 and are not the guard, or did not get to judge. */
export const FALSE_FRIENDS: readonly [string, string][] = [
  ["says nothing", "exit 0"],
  ["shows its help", "echo 'usage: pass'"],
  ["gives back what it was given", 'echo "$@"'],
  ["gives the answer for another event", "echo 'no-cloud-guard: pass pre_user_prompt'"],
  ["gives the answer among other words", "echo 'no-cloud-guard: pass pre_read_code or not'"],
];

/** Installs a guard whose program is this script and has a second to answer; returns the line of `pre_user_prompt`. */
export async function installImpatientGuard(
  home: TemporaryHome,
  script: string,
): Promise<Pick<Line, "command" | "powershell">> {
  const program = `${home.root}/program`;
  await Deno.writeTextFile(program, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  const set = [`agentcli=${program}`, "limit_seconds=1"].flatMap((setting) => ["--set", setting]);
  await done(home, "add", "hook", "no-cloud-guard", ...set, "--yes");
  return JSON.parse(await home.read(".ide/hooks.json")).hooks.pre_user_prompt[0];
}
