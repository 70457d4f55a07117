import assert from "node:assert/strict";
import { guardedProject } from "../../../tests/helpers/guarded_project.ts";
import type { AssistantId } from "../assistants.ts";
import { answerOf, eventsOf, readPayload } from "./payloads.ts";

type Asked = [id: AssistantId, event: string, payload: Record<string, unknown>];

/** A call of a tool, as Claude Code and Codex report it. */
const call = (id: AssistantId, tool_name: string, tool_input: unknown): Asked => [
  id,
  id === "cursor" ? "preToolUse" : "PreToolUse",
  { session_id: "s", tool_name, tool_input, tool_use_id: "t" },
];
const claude = (tool: string, input: unknown) => call("claude", tool, input);
const codex = (tool: string, input: unknown) => call("codex", tool, input);
const cursor = (event: string, payload: Record<string, unknown>): Asked => ["cursor", event, payload];
const patch = (...lines: string[]) => ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");

/**
 * What must be blocked, beside what is much the same and must pass. `/P` stands for the project, which has no sandbox
 * here.
 */
const CASES: Readonly<Record<string, { blocked: Asked[]; open: Asked[] }>> = {
  "a read": {
    blocked: [
      claude("Read", { file_path: "/P/.env" }),
      claude("Read", { file_path: "/P/links/e", limit: 1 }),
      claude("NotebookRead", { notebook_path: "/P/secrets/plan.md" }),
      codex("view_image", { path: "credentials" }),
      call("cursor", "Read", { file_path: "/P/.env" }),
      call("cursor", "ReadFile", { target_file: "/P/.env" }),
      call("cursor", "ReadFile", { file_path: "/P/src/a.ts", target_file: "/P/.env" }),
      cursor("beforeReadFile", { file_path: "/P/secrets/plan.md", content: "x" }),
      cursor("beforeReadFile", { file_path: "/P/src/a.ts", attachments: [{ type: "file", filePath: "/P/.env" }] }),
      cursor("beforeTabFileRead", { file_path: "/P/.env", content: "x" }),
    ],
    open: [
      claude("Read", { file_path: "/P/src/a.ts" }),
      codex("view_image", { path: "src/a.ts" }),
      call("cursor", "Read", { file_path: "/P/src/a.ts" }),
      cursor("beforeReadFile", {
        file_path: "/P/src/a.ts",
        attachments: [{ type: "rule", filePath: "/P/docs/deep/a.md" }],
      }),
    ],
  },
  "a search": {
    blocked: [
      claude("Grep", { pattern: "x" }),
      claude("Grep", { pattern: "x", path: "/P", output_mode: "files_with_matches" }),
      claude("Grep", { pattern: "x", path: "/P/.env" }),
      call("cursor", "Grep", { pattern: "x", file_path: "/P/src", path: "/P" }),
      call("cursor", "Grep", { pattern: "x" }),
      codex("grep_files", { pattern: "x", path: "secrets" }),
    ],
    open: [
      claude("Grep", { pattern: "x", path: "/P/src" }),
      claude("Grep", { pattern: "x", path: "/P/src/a.ts" }),
      call("cursor", "Grep", { pattern: "x", path: "/P/docs/deep" }),
    ],
  },
  "a list of names": {
    blocked: [
      claude("Glob", { pattern: "secrets/**" }),
      claude("Glob", { pattern: "**", path: "/P/data" }),
      claude("Glob", { pattern: "customers/*", path: "/P/data" }),
      codex("list_dir", { dir_path: "/P/secrets" }),
    ],
    open: [claude("Glob", { pattern: "**/*.ts" }), claude("Glob", { pattern: "src/*", path: "/P" })],
  },
  "a write": {
    blocked: [
      claude("Edit", { file_path: "/P/.env", old_string: "a", new_string: "b" }),
      claude("Write", { file_path: "/P/.agentclisecret", content: "" }),
      claude("Write", { file_path: "/P/.claude/settings.json", content: "{}" }),
      claude("Write", { file_path: "/P/sub/.claude/settings.local.json", content: "{}" }),
      claude("Edit", { file_path: "/P/.mcp.json", old_string: "a", new_string: "b" }),
      claude("NotebookEdit", { notebook_path: "/P/.env", new_source: "x" }),
      claude("Write", { file_path: "/P/src/copy.ts", content: "a text of secrets/plan.md\n" }),
      codex("apply_patch", {
        command: patch("*** Add File: src/n.ts", "+x", "*** Update File: .env", "@@", "-a", "+b"),
      }),
      codex("apply_patch", { command: patch("*** Update File: src/a.ts", "*** Move to: secrets/a.ts") }),
      // Codex trims these lines.
      codex("apply_patch", { command: patch("*** Add File: src/n.ts", "+x", "  *** Update File: .env", "@@", "+b") }),
      codex("apply_patch", { command: patch("*** Add File: .codex/hooks.json", "+{}") }),
      call("cursor", "Write", { file_path: "/P/.cursor/hooks.json", contents: "{}" }),
      call("cursor", "Delete", { path: "/P/.env" }),
      call("cursor", "Delete", { file_path: "/P/src/a.ts", path: "/P/.env" }),
    ],
    open: [
      claude("Edit", { file_path: "/P/src/a.ts", old_string: "a", new_string: "b" }),
      claude("Write", { file_path: "~/.claude/plans/plan.md", content: "first" }),
      codex("apply_patch", { command: patch("*** Add File: src/n.ts", "+x") }),
      call("cursor", "Write", { file_path: "/P/src/n.ts", contents: "x" }),
    ],
  },
  "a command": {
    blocked: [
      claude("Bash", { command: "cat .env", description: "Look" }),
      claude("PowerShell", { command: "Get-Content .env" }),
      claude("Bash", { command: "agentcli mcp uninstall claude --yes" }),
      claude("Bash", { command: "agentcli mcp release r-17 --yes" }),
      claude("Bash", { command: "agentcli mcp pending" }),
      claude("Bash", { command: "agentcli mcp session" }),
      codex("Bash", { command: "cat secrets/plan.md" }),
      codex("Bash", { command: ["bash", "-lc", "cat .env"] }),
      cursor("beforeShellExecution", { command: "cat .env", cwd: "" }),
      cursor("beforeShellExecution", { command: "cat plan.md", cwd: "/P/secrets" }),
      call("cursor", "Shell", { command: "cat .env" }),
    ],
    open: [
      claude("Bash", { command: "ls src", description: "Look", timeout: 1000 }),
      claude("Bash", { command: "agentcli mcp test files" }),
      codex("Bash", { command: "cat src/a.ts" }),
      cursor("beforeShellExecution", { command: "cat src/a.ts", cwd: "/P" }),
    ],
  },
  "a tool of a server": {
    blocked: [
      claude("mcp__files__read", { path: "/P/.env" }),
      claude("mcp__files__ask_private", { paths: [".env"] }),
      claude("mcp__agentcli__other", { path: ".env" }),
      codex("mcp__files__read", { path: "secrets" }),
      cursor("beforeMCPExecution", { tool_name: "read", tool_input: '{"path":"/P/.env"}', command: "x" }),
      call("cursor", "MCP:read", { path: ".env" }),
      claude("SomeNewTool", { where: "/P/.env" }),
    ],
    open: [
      claude("mcp__files__read", { path: "/P/src/a.ts" }),
      claude("mcp__agentcli__ask_private", { question: "Is A set?", paths: [".env"] }),
      codex("mcp__agentcli__do_private", { task: "Set A in .env", paths: [".env"] }),
      cursor("beforeMCPExecution", { tool_name: "ask_private", tool_input: '{"paths":[".env"]}' }),
      call("cursor", "MCP:private_status", {}),
      claude("Task", { description: "d", prompt: "Ask about .env", subagent_type: "x" }),
      claude("TodoWrite", { todos: [{ content: "look at .env", status: "pending" }] }),
      claude("SomeNewTool", { where: "/P/src/a.ts" }),
    ],
  },
  "a prompt": {
    blocked: [
      ["claude", "UserPromptSubmit", { prompt: "what is in @.env?" }],
      ["claude", "UserPromptSubmit", { prompt: 'see (@"secrets/plan.md")' }],
      ["claude", "UserPromptSubmit", { prompt: "see @secrets/plan.md#L1-2, please" }],
      ["codex", "UserPromptSubmit", { prompt: "explain: text of secrets/plan.md" }],
      cursor("beforeSubmitPrompt", { prompt: "hello", attachments: [{ type: "file", file_path: "/P/.env" }] }),
    ],
    open: [
      ["claude", "UserPromptSubmit", { prompt: "is A set in .env? Ask u@example.com or @someone" }],
      ["claude", "UserPromptSubmit", { prompt: "see @src/a.ts." }],
      cursor("beforeSubmitPrompt", { prompt: "hello", attachments: [] }),
    ],
  },
};

Deno.test("each assistant's input is blocked where it touches what is protected, and passes beside it", async () => {
  await using project = await guardedProject();
  for (const [what, { blocked, open }] of Object.entries(CASES)) {
    for (const [cases, passes] of [[blocked, false], [open, true]] as const) {
      for (const one of cases) {
        const refusal = await project.askAs(...one);
        assert.equal(refusal === null, passes, `${what}: ${JSON.stringify(one)}: ${refusal?.reason}`);
        // The path and the rule, never what is in it.
        if (refusal !== null) assert.doesNotMatch(refusal.reason, /text of (?!secrets\/plan\.md, which)/);
      }
    }
  }
});

Deno.test("an editor's own hooks let our server's tools pass, and no others of those names", async () => {
  await using project = await guardedProject();
  const ask = (mcp_server_name: string, mcp_tool_name: string) =>
    project.ask("pre_mcp_tool_use", { mcp_server_name, mcp_tool_name, mcp_tool_arguments: { paths: [".env"] } });
  assert.equal(await ask("agentcli", "ask_private"), null);
  assert.match((await ask("files", "ask_private"))?.reason ?? "", /\.env is protected/);
  assert.match((await ask("agentcli", "read_file"))?.reason ?? "", /\.env is protected/);
});

Deno.test("what cannot be checked is refused", () => {
  const read = (input: string, event = "PreToolUse") => () =>
    readPayload("claude", event, { input, env: () => undefined });
  for (const input of ["", "{", "[]", "null", '{"tool_input":{}}', '{"tool_name":7}', "7"]) assert.throws(read(input));
  assert.throws(read('{"tool_name":"Read","hook_event_name":"PostToolUse"}'), /not of the event/);
  assert.throws(read('{"tool_name":"Read"}', "PostToolUse"), /not for the event/);
  assert.throws(read('{"tool_name":"Read"}', "constructor"), /not for the event/);
  assert.doesNotThrow(read('\ufeffn++{"tool_name":"Read","tool_input":{}}'));
});

Deno.test("answers are those that each assistant documents", () => {
  assert.deepEqual(eventsOf("claude").map((event) => answerOf("claude", event, "no")), [null, null]);
  assert.equal(answerOf("cursor", "beforeReadFile", null), '{"permission":"allow"}');
  assert.deepEqual(JSON.parse(answerOf("cursor", "preToolUse", "no") ?? ""), {
    permission: "deny",
    user_message: "no",
    agent_message: "no",
  });
  assert.deepEqual(JSON.parse(answerOf("cursor", "beforeSubmitPrompt", "no") ?? ""), {
    continue: false,
    user_message: "no",
  });
  assert.equal(answerOf("cursor", "beforeSubmitPrompt", null), '{"continue":true}');
});
