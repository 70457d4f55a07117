import assert from "node:assert/strict";
import { sharedProject } from "../../../tests/helpers/guarded_project.ts";

const project = sharedProject();

/** Arguments of tools, and whether they name something that is protected. */
const ARGUMENTS: readonly [unknown, boolean][] = [
  [{ path: "credentials" }, true],
  [{ paths: ["src/a.ts", "credentials"] }, true],
  [{ path: "/P" }, true],
  [{ path: "/P/config" }, true],
  [{ path: "." }, true],
  [{ path: "/" }, true],
  [{ path: "l/../../credentials" }, true],
  [{ path: ".agentclisecret" }, true],
  [{ path: "/P/.ide/hooks.json" }, true],
  [{ source: ".ide", destination: "x" }, true],
  [{ command: "cat s*/p*" }, true],
  [{ cmd: "bash", args: ["-c", "cat .e*"] }, true],
  [{ request: { arguments: { script: "cd src && cat ../.env" } } }, true],
  [{ command: "rm -rf .i*" }, true],
  [{ command: "rm", args: ["-rf", ".i*"] }, true],
  [{ command: "ls", args: ["-l", ".i*"] }, false],
  [[{ command: ["bash", "-c", "cat .e*"] }], true],
  [{ command_line: "agentcli editor remove --all" }, true],
  [{ uri: "vscode-remote://host/P/.env" }, true],
  [{ command: "cat src/*.ts" }, false],
  [{ command: "create", path: "src/new.ts", file_text: "// cat s*/p*\n" }, false],
  [{ cmd: "deno", args: ["test", "src/*.ts"] }, false],
  [{ code: "cat .e*" }, true],
  [{ exec: "cat .e*" }, true],
  [{ run: "cat .e*" }, true],
  [{ shell_command: "cat .e*" }, true],
  [{ shellCommand: "cat .e*" }, true],
  [{ bash: "cat .e*" }, true],
  [{ script: ["cat .e*"] }, true],
  [{ "run-command": "cat .e*" }, true],
  [{ code: "cat src/*.ts" }, false],
  // JSON in JSON.
  ['{"path": "\\u002eenv"}', true],
  ['{"command": "cat .\\u0065*"}', true],
  [{ input: '{"path": "\\u002eenv"}' }, true],
  [{ input: '{"input": "{\\"path\\": \\"cred\\\\u0065ntials\\"}"}' }, true],
  [{ input: 'a {"path": "\\u002eenv"}' }, true],
  [{ input: '"\\u002eenv"' }, true],
  [{ input: '{"path": "src/\\u0061.ts"}' }, false],
  [JSON.stringify({ input: "[".repeat(1_000) }), false],
  [{ path: ".git/rebase-apply/patch" }, true],
  [{ path: "/P/.git" }, true],
  [{ path: ".gitignore" }, false],
  [{ path: "src" }, false],
  [{ path: "/P/src/a.ts", query: "what are credentials?" }, false],
  [{ text: "", credentials: 1, data: ["a"] }, false],
];

for (const [given, blocked] of ARGUMENTS) {
  Deno.test(`the guard ${blocked ? "blocks" : "lets pass"} a tool with ${JSON.stringify(given).slice(0, 99)}`, async () => {
    const at = await project();
    assert.equal(await at.mcp(given) !== null, blocked);
  });
}
