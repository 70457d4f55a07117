/** A project with protected files of many names, and the editor's guard as it is asked there. */
import assert from "node:assert/strict";
import { denoIo } from "../../src/platform/deno_io.ts";
import { type HookEvent, parseHookInput } from "../../src/editor/hooks/events.ts";
import { questionOf } from "../../src/editor/guard/payloads.ts";
import type { AssistantId } from "../../src/editor/assistants.ts";
import { readPayload } from "../../src/editor/guard/payloads.ts";
import { judge } from "../../src/editor/guard/guard.ts";
import { plainDirectory } from "./plain_directory.ts";

const MARKER =
  "no-cloud: secrets\nno-cloud: data\nno-cloud: .env\nno-cloud: credentials\nno-cloud: config/*.key\nno-cloud: keys/key07\n";
const FILES = [
  "secrets/plan.md",
  "data/customers/list",
  "config/server.key",
  "config/open.json",
  "credentials",
  ".env",
  "docs/deep/a.md",
  "src/a.ts",
  "other/open",
  "src/deep/b.ts",
  ".ide/hooks.json",
  ".ide/hooks/no-cloud-guard.sh",
  "keys/key07",
  ".git/HEAD",
  ".git/rebase-apply/patch",
  "links/open.md",
];

/**
 * Makes a project `P` in the home `H` of a user; `/P` in what is asked, and both in `path`, stand for them. Without a
 * sandbox, unless told.
 */
export async function guardedProject({ sandbox = false, path = "" }: { sandbox?: boolean; path?: string } = {}) {
  // Paths stand in the commands without quotes, and patterns that begin above the home mean nothing of other tests.
  const place = await plainDirectory();
  const home = `${place}/home`;
  const root = `${home}/P`;
  for (const path of FILES) {
    Deno.mkdirSync(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.writeTextFileSync(`${root}/${path}`, `text of ${path}\n`);
  }
  Deno.writeTextFileSync(`${root}/.agentclisecret`, MARKER);
  Deno.symlinkSync("docs/deep", `${root}/l`);
  Deno.symlinkSync(`${root}/data/customers`, `${root}/docs/c`);
  Deno.symlinkSync(".ide/hooks", `${root}/hk`);
  Deno.linkSync(`${root}/.agentclisecret`, `${root}/other/marker.txt`);
  Deno.linkSync(`${root}/.ide/hooks.json`, `${root}/other/hooks.txt`);
  Deno.symlinkSync("../.env", `${root}/links/e`);
  Deno.symlinkSync("../data", `${root}/links/d`);
  Deno.linkSync(`${root}/credentials`, `${root}/links/h`);
  const { clock } = denoIo();
  const variables: Record<string, string> = {
    AGENTCLI_HOME: `${home}/.agentcli`,
    PATH: path.replace(/\/([PH])(?=[/:])/g, (_, at) => at === "P" ? root : home),
  };
  const env = (name: string) => variables[name];
  const hasSandbox = () => Promise.resolve(sandbox);
  const placed = (value: unknown) => JSON.stringify(value).replace(/(?<=[\s":\\]|:\/\/[\w+-]*)\/P\b/g, root);
  const placeAt = (cwd: string) => ({ cwd, userHome: home, io: { os: "linux" as const, env, clock }, hasSandbox });
  const ask = async (event: HookEvent, info: unknown, cwd = root) => {
    const text = placed({ tool_info: info });
    return await judge(questionOf(parseHookInput(text, event)), placeAt(cwd));
  };
  const askAs = async (id: AssistantId, event: string, payload: Record<string, unknown>) => {
    const input = placed({ hook_event_name: event, workspace_roots: ["/P"], cwd: "/P", ...payload });
    return await judge(readPayload(id, event, { input, env: () => root }), placeAt(root));
  };
  /** What the hooks of every assistant say has to be what those of the editor say. */
  const alike = async (said: ReturnType<typeof ask>, tools: readonly [tool: string, input: unknown][], cwd = "/P") => {
    const refusal = await said;
    for (const [tool_name, tool_input] of tools) {
      for (
        const [id, event] of [["claude", "PreToolUse"], ["codex", "PreToolUse"], ["cursor", "preToolUse"]] as const
      ) {
        const other = await askAs(id, event, { tool_name, tool_input, cwd });
        assert.deepEqual(other, refusal, `${id}: ${tool_name} ${JSON.stringify(tool_input)}`);
      }
    }
    return refusal;
  };
  return {
    root,
    home,
    ask,
    /** As another assistant asks. */
    askAs,
    read: (path: string) => alike(ask("pre_read_code", { file_path: path }), [["Read", { file_path: path }]]),
    write: (path: string) =>
      alike(ask("pre_write_code", { file_path: path, edits: [] }), [["Write", { file_path: path }]]),
    command: (line: string, cwd?: string) =>
      alike(ask("pre_run_command", { command_line: line, cwd }), [["Bash", { command: line }]], cwd),
    mcp: (given: unknown, tool = "t") =>
      alike(
        ask("pre_mcp_tool_use", { mcp_tool_name: tool, mcp_tool_arguments: given }),
        [[`mcp__files__${tool}`, given]],
      ),
    [Symbol.asyncDispose]: () => Deno.remove(place, { recursive: true }),
  };
}

/** One such project for the tests of a file that only ask in it; it is made with the first of them. */
export function sharedProject(options?: Parameters<typeof guardedProject>[0]): () => ReturnType<typeof guardedProject> {
  let made: ReturnType<typeof guardedProject> | undefined;
  Deno.test.afterAll(async () => await (await made)?.[Symbol.asyncDispose]());
  return () => made ??= guardedProject(options);
}
