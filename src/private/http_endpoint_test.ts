import assert from "node:assert/strict";
import { toolHome } from "../../tests/helpers/tool_home.ts";
import { answerHttp, TOKEN_FILE, tokenIn } from "./http_endpoint.ts";
import { McpServer } from "./mcp_server.ts";
import type { Outcome } from "./outcome.ts";

const PORT = 7801;
const TOKEN = "0123456789abcdef";
const CAPABLE = { "io.modelcontextprotocol/clientCapabilities": {} };
const REVISION = "io.modelcontextprotocol/protocolVersion";
const outcome: Outcome = { kind: "answer", answer: "yes", cost: 1585 };
const server = () =>
  new McpServer({
    version: "1",
    service: { call: (name) => Promise.resolve(name === "ask_private" ? outcome : null) },
  });

function send(
  body: unknown,
  { headers = {}, method = "POST", path = "/mcp" }: {
    headers?: Record<string, string>;
    method?: string;
    path?: string;
  } = {},
): Promise<Response> {
  const all = {
    host: `127.0.0.1:${PORT}`,
    "content-type": "application/json",
    authorization: `Bearer ${TOKEN}`,
    ...headers,
  };
  const text = typeof body === "string" ? body : JSON.stringify({ jsonrpc: "2.0", ...body as object });
  const request = new Request(`http://127.0.0.1:${PORT}${path}`, {
    method,
    ...method === "POST" ? { body: text } : {},
  });
  // A name that may not be set is what the server sees all the same.
  const seen = { url: request.url, method, body: request.body, signal: request.signal, headers: new Headers(all) };
  return answerHttp(seen as Request, { port: PORT, token: TOKEN, server });
}

const PING = { id: 1, method: "ping" };

Deno.test("a message is answered, a notification taken", async () => {
  const answered = await send(PING);
  assert.deepEqual([answered.status, await answered.json()], [200, { jsonrpc: "2.0", id: 1, result: {} }]);
  assert.equal((await send({ method: "notifications/initialized" })).status, 202);
  const called = await (await send({ id: 2, method: "tools/call", params: { name: "ask_private", arguments: {} } }))
    .json();
  assert.deepEqual(called.result.structuredContent, { answer: "yes", bits: 1.585 });
  for (const origin of [`http://127.0.0.1:${PORT}`, `http://localhost:${PORT}`]) {
    assert.equal((await send(PING, { headers: { origin } })).status, 200);
  }
});

Deno.test("pages of other places, and names that lead here, are refused", async () => {
  const others: Record<string, string>[] = [
    { origin: "https://example.com" },
    { origin: "null" },
    { origin: `https://localhost:${PORT}` },
    { origin: "http://localhost:3000" },
    { origin: `http://localhost:${PORT}.example.com` },
    { host: `example.com:${PORT}` },
    { host: "127.0.0.1" },
    { host: `127.0.0.1:${PORT}.example.com` },
    { host: `localhost:${PORT + 1}` },
    { host: "" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
  ];
  for (const headers of others) assert.equal((await send(PING, { headers })).status, 403, JSON.stringify(headers));
  assert.equal((await send(PING, { headers: { "content-type": "text/plain" } })).status, 415);
  assert.equal((await send(PING, { path: "/" })).status, 404);
  for (const method of ["GET", "OPTIONS", "DELETE"]) assert.equal((await send("", { method })).status, 405);
  assert.equal((await send(`"${"x".repeat(1024 * 1024)}"`)).status, 413);
});

Deno.test("what comes without the token is refused, whatever it is", async () => {
  for (const authorization of ["", "Bearer", "Bearer ", `Bearer ${TOKEN}0`, `Bearer ${TOKEN.slice(1)}`, TOKEN]) {
    for (const method of ["POST", "GET"]) {
      const refused = await send(PING, { headers: { authorization }, method });
      assert.deepEqual([refused.status, await refused.text()], [401, ""], authorization);
    }
  }
  assert.equal((await send(PING, { headers: { "sec-fetch-site": "none" } })).status, 200, "the control");
});

Deno.test("the token is made once, for the owner alone", async () => {
  await using place = await toolHome(null);
  const [one, other] = await Promise.all([tokenIn(place.home), tokenIn(place.home)]);
  assert.match(one, /^[0-9a-f]{64}$/);
  assert.deepEqual([other, await tokenIn(place.home)], [one, one]);
  const { mode } = await Deno.stat(place.home.file(TOKEN_FILE));
  if (Deno.build.os !== "windows") assert.equal((mode ?? 0) & 0o777, 0o600);
});

Deno.test("errors have their status, and headers say what the message says", async () => {
  assert.equal((await send("{")).status, 400);
  assert.equal((await send({ id: 1, method: "resources/list" })).status, 404);
  const modern = { id: 1, method: "tools/list", params: { _meta: { [REVISION]: "2026-07-28", ...CAPABLE } } };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
  assert.equal((await send(modern, { headers })).status, 200);
  const wrong = await send(modern, { headers: { ...headers, "mcp-method": "tools/call" } });
  assert.deepEqual([wrong.status, (await wrong.json()).error.code], [400, -32020]);
  const old = { id: 1, method: "tools/list", params: { _meta: { [REVISION]: "2030-01-01", ...CAPABLE } } };
  const refused = await send(old, { headers: { ...headers, "mcp-protocol-version": "2030-01-01" } });
  assert.deepEqual([refused.status, (await refused.json()).error.code], [400, -32022]);
  const bare = await send({ id: 1, method: "tools/list" }, { headers });
  assert.deepEqual([bare.status, (await bare.json()).error.code], [400, -32602]);
  const ping = { ...modern, method: "ping" };
  assert.equal((await send(ping, { headers: { ...headers, "mcp-method": "ping" } })).status, 404);
});
