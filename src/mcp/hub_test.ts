import assert from "node:assert/strict";
import { inToolProject } from "../../tests/helpers/tool_project.ts";
import { temporaryHome } from "../../tests/helpers/program.ts";
import { denoIo } from "../platform/deno_io.ts";
import { openHome } from "../platform/home.ts";
import { HttpClient } from "../provider/http/client.ts";
import type { FormAnswer } from "./elicit.ts";
import { McpHub } from "./hub.ts";
import { readServers } from "./server.ts";
import { withOrigin } from "./configured.ts";

/** Returns the answer that a server got to its form where a person typed this. */
async function told(typed: string, more: Record<string, unknown> = {}): Promise<{ got: unknown; said: string[] }> {
  await using home = await temporaryHome();
  let got: unknown = null;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { id, method, params } = await request.json();
    const answer = (result: unknown) => Response.json({ jsonrpc: "2.0", id, result });
    if (method === "server/discover") {
      return answer({ resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
    }
    if (method === "tools/list") return answer({ resultType: "complete", tools: [{ name: "ask", inputSchema: {} }] });
    if (params.inputResponses === undefined) {
      const form = { message: "Where?", requestedSchema: { properties: { place: { type: "string" } } } };
      return answer({
        resultType: "input_required",
        inputRequests: { f: { method: "elicitation/create", params: form } },
      });
    }
    got = params.inputResponses.f;
    return answer({ resultType: "complete", content: [] });
  });
  const said: string[] = [];
  try {
    await inToolProject(async ({ root, context }) => {
      const io = { ...denoIo(), env: (name: string) => name === "HOME" ? home.home : undefined };
      const url = `http://127.0.0.1:${server.addr.port}/mcp`;
      const [entry] = withOrigin(readServers({ mcpServers: { hub: { url, ...more } } }).servers, "user");
      const hub = new McpHub({
        servers: [entry!],
        home: await openHome(io),
        io,
        client: new HttpClient(io),
        info: { name: "test", version: "1" },
        root,
        elicit: (): Promise<FormAnswer> => Promise.resolve({ action: "accept", content: { place: typed } }),
        notify: (text) => void said.push(text),
        scope: () => ({
          workspace: context.workspace,
          sandbox: undefined,
          label: () => "open",
          found: (texts) => Promise.resolve([...texts].some((text) => text.includes("SECRET"))),
          protectChanges: () => Promise.resolve(),
          secretVariables: [],
          provider: "test",
        }),
      });
      await hub.prepare(new AbortController().signal);
      await hub.request("hub", "tools/call", { name: "ask", arguments: {} }, { signal: new AbortController().signal });
      await hub.close();
    }, { marker: "no-cloud: .env\n" });
  } finally {
    await server.shutdown();
  }
  return { got, said };
}

Deno.test("what a person types into a form of a networked server is looked through like arguments", async () => {
  assert.deepEqual((await told("Ulm")).got, { action: "accept", content: { place: "Ulm" } });
  for (const typed of ["the SECRET", ".env"]) {
    const { got, said } = await told(typed);
    assert.deepEqual(got, { action: "decline" }, typed);
    assert.match(said.join(), /holds protected content, which the MCP server hub may not be told: declined/);
  }
  const local = await told("the SECRET", { local: true });
  assert.deepEqual(local.got, { action: "accept", content: { place: "the SECRET" } }, "control: a local one");
});
