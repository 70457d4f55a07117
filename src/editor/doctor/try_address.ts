/** Asks an MCP server at an address of this machine for its tools (streamable HTTP), through the one HTTP client. */
import { createHttpClient, type HttpResponse } from "../../provider/http/client.ts";
import type { Endpoint } from "../../provider/types.ts";
import { AgentcliError } from "../../errors.ts";
import type { Io } from "../../platform/io.ts";
import { expanded, INITIALIZE, INITIALIZED, LIST_TOOLS, messageIn, type Tools, toolsIn } from "./try_server.ts";

/** A server may take this long for each answer, in milliseconds. */
const TIME_LIMIT_MS = 10_000;
const REPLY_LIMIT = 4 * 1024 * 1024;

/** A server as it stands in its file. */
export interface ServerAddress {
  url: string;
  headers?: unknown;
}

/** Returns the tools, or why there are none. `url` is one that counts as local. */
export async function toolsAtAddress(
  name: string,
  { url, headers }: ServerAddress,
  io: Io,
): Promise<Tools | { problem: string; fix: string }> {
  const place = new URL(url);
  const own = typeof headers === "object" && headers !== null ? Object.entries(headers) : [];
  const endpoint: Endpoint = {
    provider: `server ${name}`,
    baseUrl: place.origin,
    keySource: "none",
    headers: {
      ...Object.fromEntries(own.map(([header, value]) => [header, expanded(value, io.env)])),
      accept: "application/json, text/event-stream",
    },
    caCerts: [],
    timeout: { connect: TIME_LIMIT_MS / 1000, firstByte: TIME_LIMIT_MS / 1000, idle: TIME_LIMIT_MS / 1000 },
    local: true,
  };
  const client = createHttpClient(io);
  /** The answer to a message; null for one that has none. */
  const ask = async (message: { method: string; id?: number }): Promise<Record<string, unknown> | string | null> => {
    const signal = AbortSignal.timeout(TIME_LIMIT_MS);
    const response = await client.send(endpoint, {
      method: "POST",
      path: place.pathname + place.search,
      atOrigin: true,
      body: JSON.stringify(message),
      signal,
    });
    const session = response.headers.get("mcp-session-id");
    if (session !== undefined) endpoint.headers["mcp-session-id"] = session;
    if (response.status >= 400) {
      await response.cancel();
      return `answers with HTTP ${response.status}`;
    }
    if (message.id !== undefined) return await readAnswer(response.body, message.id);
    await response.cancel();
    return null;
  };
  const fix = "start it, or remove it from the configuration";
  try {
    const first = await ask(INITIALIZE);
    if (typeof first === "string") return { problem: first, fix: "check its address and its headers" };
    await ask(INITIALIZED);
    const answer = await ask(LIST_TOOLS);
    const tools = typeof answer === "object" && answer !== null ? toolsIn(answer) : null;
    if (tools !== null) return tools;
    return { problem: typeof answer === "string" ? answer : "answers, but lists no tools", fix };
  } catch (error) {
    if (error instanceof DOMException) return { problem: "did not answer within 10 seconds", fix };
    if (error instanceof AgentcliError) return { problem: error.message, fix };
    throw error;
  } finally {
    client.close();
  }
}

/** Reads until the message with this id is there; a stream of events may stay open behind it. */
async function readAnswer(body: HttpResponse["body"], id: number): Promise<Record<string, unknown> | null> {
  if (body === null) return null;
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const bytes = await body.read();
      text += bytes === null ? decoder.decode() : decoder.decode(bytes, { stream: true });
      const message = messageIn(text, id) ?? (bytes === null ? messageIn(text.replaceAll(/\r?\n/g, " "), id) : null);
      if (message !== null || bytes === null || text.length > REPLY_LIMIT) return message;
    }
  } finally {
    await body.cancel();
  }
}
