import assert from "node:assert/strict";
import { isOwnTool, startsOwnServer } from "./own_server.ts";

Deno.test("our own server is known by what starts it", () => {
  for (
    const [command, ...args] of [
      ["agentcli", "mcp", "serve"],
      ["/home/u/.local/bin/agentcli", "mcp", "serve", "--audit"],
      ["C:\\x\\agentcli.exe", "mcp", "serve"],
      ["deno", "run", "-A", "file:///x/agentcli.js", "mcp", "serve"],
      ["deno", "run", "-A", "/x/main.ts", "mcp", "serve"],
      ["agentcli", "--cwd", "${workspaceFolder}", "mcp", "serve"],
    ]
  ) {
    assert.ok(startsOwnServer({ command, args }), String(args));
  }
  for (
    const [command, ...args] of [
      ["agentcli", "mcp", "list"],
      ["other", "mcp", "serve"],
      ["npx", "-y", "agentcli-like", "mcp", "serve"],
      ["agentcli"],
    ]
  ) {
    assert.ok(!startsOwnServer({ command, args }), String(args));
  }
  assert.ok(!startsOwnServer({ command: "agentcli", args: "mcp serve" }) && !startsOwnServer({}));
});

Deno.test("its tools are known where the server is it, or is not named", () => {
  const ask = (server: unknown, name: unknown) => isOwnTool({ server, name });
  assert.deepEqual([ask("agentcli", "ask_private"), ask(undefined, "answer_of")], [true, true]);
  assert.deepEqual([ask("files", "ask_private"), ask("agentcli", "read"), ask(null, "ask_private")], [
    false,
    false,
    false,
  ]);
});
