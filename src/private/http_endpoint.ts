/**
 * The server's side of streamable HTTP, on loopback: one POST for each message, one JSON object for its answer. What a
 * browser sends for a foreign page is refused, even with DNS rebinding, and so are requests
 * without the token, which only programs of this user can read.
 */
import { MCP_CODES, MODERN } from "../mcp/link.ts";
import { sha256 } from "../platform/digest.ts";
import type { Home } from "../platform/home.ts";
import { fieldsOf } from "../platform/record.ts";
import { readRpcLine, responseLine, RPC_CODES, RpcError, type RpcMessage, type RpcOutcome } from "../rpc/message.ts";
import type { McpServer } from "./mcp_server.ts";

/** Largest message, in bytes. */
const BODY_LIMIT = 1024 * 1024;
const PATH = "/mcp";
const REVISION = "mcp-protocol-version";
/** The file of the home that holds the token. */
export const TOKEN_FILE = "private/http-token";

/** Status of a response by the code of its error; all others are 200. */
const STATUS: Readonly<Record<number, number>> = {
  [RPC_CODES.methodNotFound]: 404,
  [MCP_CODES.unsupportedVersion]: 400,
  [MCP_CODES.headerMismatch]: 400,
};

/** Returns the token of a home, which is created when it is first needed. */
export async function tokenIn(home: Home): Promise<string> {
  return await home.locked(TOKEN_FILE, async () => {
    const known = (await home.read(TOKEN_FILE))?.trim() ?? "";
    if (known !== "") return known;
    const token = crypto.getRandomValues(new Uint8Array(32)).toHex();
    await home.write(TOKEN_FILE, `${token}\n`);
    return token;
  });
}

/** Answers one request. */
export async function answerHttp(
  request: Request,
  { port, token, server }: { port: number; token: string; server(): McpServer },
): Promise<Response> {
  if (!isOfThisMachine(request.headers, port)) return new Response(null, { status: 403 });
  // The time that comparing two digests takes reveals nothing of the token.
  if (await sha256(request.headers.get("authorization") ?? "") !== await sha256(`Bearer ${token}`)) {
    return new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });
  }
  if (URL.parse(request.url)?.pathname !== PATH) return new Response(null, { status: 404 });
  if (request.method !== "POST") return new Response(null, { status: 405, headers: { allow: "POST" } });
  // Only what a page may not send without a preflight.
  if (!/^application\/json\s*(?:;|$)/i.test(request.headers.get("content-type") ?? "")) {
    return new Response(null, { status: 415 });
  }
  const text = await bodyOf(request);
  if (text === null) return new Response(null, { status: 413 });
  const message = readRpcLine(text);
  switch (message?.kind) {
    case "request":
      return await answer(message, request, server());
    case "notification":
    case "response":
      return new Response(null, { status: 202 });
    default:
      return json(message?.id ?? null, {
        error: message?.error ?? new RpcError(RPC_CODES.invalidRequest, "there is no message"),
      }, 400);
  }
}

async function answer(
  { id, method, params }: RpcMessage & { kind: "request" },
  { headers, signal }: Request,
  server: McpServer,
): Promise<Response> {
  const revision = headers.get(REVISION);
  try {
    checkHeaders(headers, { method, params });
    return json(id, { result: await server.request(method, params, { signal, revision }) });
  } catch (error) {
    const shown = error instanceof RpcError ? error : new RpcError(RPC_CODES.internalError, "internal error");
    const isBad = shown.code === RPC_CODES.invalidParams && revision === MODERN;
    return json(id, { error: shown }, isBad ? 400 : STATUS[shown.code]);
  }
}

function json(id: Parameters<typeof responseLine>[0], outcome: RpcOutcome, status = 200): Response {
  return new Response(responseLine(id, outcome), { status, headers: { "content-type": "application/json" } });
}

/** With DNS rebinding, and for a foreign page, these have other values. */
function isOfThisMachine(headers: Headers, port: number): boolean {
  const hosts = ["127.0.0.1", "localhost", "[::1]"].map((host) => `${host}:${port}`);
  const origin = headers.get("origin");
  // A browser sends this even without an origin.
  const site = headers.get("sec-fetch-site") ?? "none";
  return ["none", "same-origin"].includes(site) && hosts.includes(headers.get("host")?.toLowerCase() ?? "") &&
    (origin === null || hosts.some((host) => origin.toLowerCase() === `http://${host}`));
}

/** In the era without a handshake, headers repeat the message. Throws `RpcError`. */
function checkHeaders(headers: Headers, { method, params }: { method: string; params: Record<string, unknown> }): void {
  const revision = fieldsOf(params._meta)["io.modelcontextprotocol/protocolVersion"];
  if (revision === undefined) return;
  const said: [string, unknown][] = [[REVISION, revision], ["mcp-method", method]];
  if (method === "tools/call") said.push(["mcp-name", params.name]);
  const wrong = said.find(([name, value]) => headers.get(name) !== value);
  if (wrong !== undefined) throw new RpcError(MCP_CODES.headerMismatch, `the header ${wrong[0]} is not as the message`);
}

async function bodyOf({ body }: Request): Promise<string | null> {
  const decoder = new TextDecoder();
  let [text, size] = ["", 0];
  for await (const bytes of body ?? []) {
    size += bytes.length;
    if (size > BODY_LIMIT) return null;
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}
