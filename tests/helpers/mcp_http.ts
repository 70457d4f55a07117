/** A scripted MCP server at an address of this machine, of either era; it records every request. */

/** A request as it came. */
export interface HeardRequest {
  method: string;
  headers: Headers;
  // deno-lint-ignore no-explicit-any -- tests look into messages of any shape
  message: any;
}

/** What the server is and answers. */
export interface HttpPlan {
  era: "modern" | "legacy";
  tools: { name: string; description?: string; inputSchema?: Record<string, unknown> }[];
  /** The result of a call. A response is sent as it is. */
  call?(params: Record<string, unknown>, request: HeardRequest): Record<string, unknown> | Response;
  /** Names of prompts, each with one argument `text`, which comes back. */
  prompts?: string[];
  /** Answers come as streams of events. */
  streams?: boolean;
  /** Answers everything first; null falls back to the plan. */
  before?(request: HeardRequest): Response | null;
  host?: "127.0.0.1" | "127.0.0.2";
}

/** A running server; `await using` closes it. */
export interface HttpServer extends AsyncDisposable {
  url: string;
  heard: HeardRequest[];
}

/** Starts a server on a free port. */
export function startMcpHttp(plan: HttpPlan): HttpServer {
  const heard: HeardRequest[] = [];
  const server = Deno.serve({ hostname: plan.host ?? "127.0.0.1", port: 0, onListen: () => {} }, async (raw) => {
    const message = raw.method === "POST" ? await raw.json() : null;
    const request = { method: raw.method, headers: raw.headers, message };
    heard.push(request);
    return plan.before?.(request) ?? answerOf(request, plan);
  });
  return {
    url: `http://${plan.host ?? "127.0.0.1"}:${server.addr.port}/mcp`,
    heard,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

function answerOf(request: HeardRequest, plan: HttpPlan): Response {
  const { message } = request;
  if (message?.id === undefined) return new Response(null, { status: 202 });
  const found = resultOf(request, plan);
  if (found instanceof Response) return found;
  const isModern = plan.era === "modern";
  const body = JSON.stringify({
    jsonrpc: "2.0",
    id: message.id,
    ..."error" in found ? found : { result: isModern ? { resultType: "complete", ...found } : found },
  });
  if ("error" in found) return Response.json(JSON.parse(body), { status: isModern ? 404 : 400 });
  const headers: Record<string, string> = message.method === "initialize" ? { "mcp-session-id": "s1" } : {};
  return plan.streams === true
    ? new Response(`id: 1\nevent: message\ndata: ${body}\n\n`, {
      headers: { ...headers, "content-type": "text/event-stream" },
    })
    : new Response(body, { headers: { ...headers, "content-type": "application/json" } });
}

function resultOf(request: HeardRequest, plan: HttpPlan): Record<string, unknown> | Response {
  const { method, params } = request.message;
  const isModern = plan.era === "modern";
  if (method === "server/discover" && isModern) {
    return {
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: {}, ...plan.prompts === undefined ? {} : { prompts: {} } },
      ttlMs: 60_000,
      cacheScope: "private",
      _meta: {},
    };
  }
  if (method === "initialize" && !isModern) {
    return {
      protocolVersion: "2025-11-25",
      capabilities: { tools: {}, ...plan.prompts === undefined ? {} : { prompts: {} } },
      serverInfo: { name: "h", version: "1" },
    };
  }
  if (method === "tools/list") return { tools: plan.tools, ttlMs: 60_000, cacheScope: "private" };
  if (method === "prompts/list") {
    return {
      prompts: (plan.prompts ?? []).map((name) => ({ name, arguments: [{ name: "text" }] })),
      ttlMs: 60_000,
      cacheScope: "private",
    };
  }
  if (method === "prompts/get") {
    return { messages: [{ role: "user", content: { type: "text", text: `${params.arguments.text}` } }] };
  }
  if (method === "tools/call") {
    return plan.call?.(params, request) ?? { content: [{ type: "text", text: JSON.stringify(params.arguments) }] };
  }
  return { error: { code: -32601, message: "unknown method" } };
}
