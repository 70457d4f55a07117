/**
 * Tools that live in the client: MCP servers of its own process, called over the protocol; and the images that it
 * sends.
 */
import type { Clock } from "../../platform/io.ts";
import type { Tool, ToolResult } from "../../tools/tool.ts";
import { VERSION } from "../version.ts";
import { fieldsOf, type JsonRecord, textOf } from "../../platform/record.ts";
import { RPC_CODES, RpcError } from "../../rpc/message.ts";
import { McpClient } from "../../mcp/client.ts";
import { failureOf, LEGACY, type Link, ServerFailed } from "../../mcp/link.ts";
import { checkArguments } from "../../provider/check_arguments.ts";
import { readResult } from "../../mcp/result.ts";
import { orLate } from "../../platform/time_limit.ts";
import { plainSchema } from "../../mcp/signature.ts";
import type { McpTool } from "../../mcp/tool_info.ts";
import type { ClientRequests } from "./client.ts";
import type { ShownImage } from "../../provider/chat/content.ts";
import { AgentcliError } from "../../errors.ts";
import type { EncodedImage } from "../../protocol/input.ts";
import type { readEncodedImage } from "../../provider/chat/image_file.ts";

export interface ClientServer {
  name: string;
  status: "connected" | "failed";
  tools: Tool[];
}

interface ServerConnection {
  requests: ClientRequests;
  clock: Pick<Clock, "sleep">;
  /** Returns whether what the session holds may go to the client's tools. */
  isOpen(): boolean;
}

const CONNECT_MS = 30_000;
/** The client itself limits the time of its tools, so this is the longest timer, in milliseconds. */
const CALL_MS = 2 ** 31 - 1;
const TOOLS_LIMIT = 200;

/** Connects a server and lists its tools. Never throws but for the signal's reason: one that fails is `failed`. */
export async function connectServer(name: string, line: ServerConnection, signal: AbortSignal): Promise<ClientServer> {
  const info = { name: "agentcli", version: VERSION };
  const connect = async (either: AbortSignal) => {
    const open = () => linkTo(name, line.requests, either);
    const client = new McpClient(open, { info, timeoutMs: CALL_MS, elicits: false });
    // None of these belongs to the era without a handshake.
    await client.connect({ signal: either, revision: LEGACY[0] ?? null });
    const { tools } = await client.manifest(either, 0);
    const named = new Map(tools.map((tool) => [toolName(name, tool.name), tool]));
    return [...named].slice(0, TOOLS_LIMIT).map(([called, tool]) => toolOf(called, tool, { client, line }));
  };
  const tools = await orLate(CONNECT_MS, { clock: line.clock, signal }, connect).catch((error) => {
    if (!isFailure(error)) throw error;
    return null;
  });
  return { name, status: tools === null ? "failed" : "connected", tools: tools ?? [] };
}

/** The messages of MCP within those of the protocol; `connecting` ends the wait for the answer to a notification. */
function linkTo(server: string, requests: ClientRequests, connecting: AbortSignal): Link {
  let id = 0;
  const ask = async (message: JsonRecord, signal: AbortSignal) => {
    const request = { jsonrpc: "2.0", ...message };
    const answer = await requests.ask({ subtype: "mcp_message", server_name: server, message: request }, signal);
    if (!("response" in answer)) throw new ServerFailed("did not answer");
    return fieldsOf(answer.response.mcp_response);
  };
  return {
    async request(method, params, { signal }) {
      const { error, result } = await ask({ id: id++, method, params }, signal);
      if (error === undefined) return fieldsOf(result);
      throw new RpcError(RPC_CODES.internalError, textOf(fieldsOf(error).message) ?? "no message");
    },
    notify: async (method, params) => void await ask({ method, params }, connecting),
    settle() {},
    ended: null,
    close: () => Promise.resolve(),
  };
}

/** The name by which the client's own rules know a tool. */
function toolName(server: string, tool: string): string {
  return `mcp__${server}__${tool}`.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
}

function isFailure(error: unknown): boolean {
  return error instanceof ServerFailed || error instanceof RpcError;
}

function toolOf(
  name: string,
  { name: theirs, schema, description }: McpTool,
  { client, line }: { client: McpClient; line: ServerConnection },
): Tool {
  return {
    name,
    description: description === "" ? theirs : description,
    parameters: { type: "object", ...plainSchema(schema, schema) },
    check: (input) => checkArguments(schema, input),
    kind: "execute",
    subject: (input) => JSON.stringify(input),
    async run(input, { signal, supportsImages }) {
      if (!line.isOpen()) {
        return failed(`This session holds protected content, which ${name} may not be told. Go on without it.`);
      }
      try {
        const answer = await client.request("tools/call", { name: theirs, arguments: input }, { signal });
        const { text, images, isError } = await readResult(answer, { name, supportsImages });
        return { content: text, isError, ...images.length === 0 ? {} : { images }, label: "open" };
      } catch (error) {
        if (!isFailure(error)) throw error;
        return failed(`${name} ${failureOf(error)}.`);
      }
    },
  };
}

function failed(content: string): ToolResult {
  return { content, isError: true, label: "open" };
}

/** The images of one message. Throws `usage` for one that cannot be sent; nothing is ever fetched. */
export async function clientImages(images: readonly EncodedImage[]): Promise<ShownImage[]> {
  const { readEncodedImage } = await import("../../provider/chat/image_file.ts");
  return images.map((sent, at) => {
    const name = String(at + 1);
    const read = "data" in sent ? readEncodedImage(sent.data, { name }) : null;
    if (read?.kind === "image") return read.image;
    throw new AgentcliError("usage", `image ${name} of the message cannot be sent: ${problemOf(read)}`, {
      hint: 'send PNG, JPEG or WebP as {"type":"base64","media_type":…,"data":…}',
    });
  });
}

function problemOf(read: ReturnType<typeof readEncodedImage> | null): string {
  if (read === null) return "its source is not base64, and nothing is downloaded";
  return read.kind === "unusable" ? read.problem : "its data is not PNG, JPEG or WebP";
}
