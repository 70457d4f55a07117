/**
 * Tools that live in the client: MCP servers of its own process, called over the protocol; and the images that it
 * sends.
 */
import type { Clock } from "../../platform/io.ts";
import type { Tool, ToolResult } from "../../tools/tool.ts";
import { VERSION } from "../version.ts";
import { fieldsOf, membersOf, textOf } from "../../platform/record.ts";
import { checkArguments } from "../../provider/check_arguments.ts";
import { readResult } from "../../mcp/result.ts";
import { orLate } from "../../platform/time_limit.ts";
import { plainSchema } from "../../mcp/signature.ts";
import { toolOf as readTool } from "../../mcp/tool_info.ts";
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
  /** Returns whether what the session holds may be told to the client's tools. */
  isOpen(): boolean;
}

/** The revision of MCP that is offered first. */
const REVISION = "2025-11-25";
const CONNECT_MS = 30_000;
const TOOLS_LIMIT = 200;

/** A failure of the other side, as one sentence. */
class ServerFailed extends Error {
  override readonly name = "ServerFailed";
}

/** Connects a server and lists its tools. Never throws but for the signal's reason: one that fails is `failed`. */
export async function connectServer(name: string, line: ServerConnection, signal: AbortSignal): Promise<ClientServer> {
  const connect = async (either: AbortSignal) => {
    const ask = createAsk(name, line);
    await ask("initialize", {
      protocolVersion: REVISION,
      capabilities: {},
      clientInfo: { name: "agentcli", version: VERSION },
    }, either);
    await ask("notifications/initialized", null, either);
    return await listTools(name, { ask, line }, either);
  };
  const tools = await orLate(CONNECT_MS, { clock: line.clock, signal }, connect).catch((error) => {
    if (!(error instanceof ServerFailed)) throw error;
    return null;
  });
  return { name, status: tools === null ? "failed" : "connected", tools: tools ?? [] };
}

/** Sends one message and gives its result; parameters of null make it a notification, which has none. */
type Ask = (
  method: string,
  params: Record<string, unknown> | null,
  signal: AbortSignal,
) => Promise<Record<string, unknown>>;

function createAsk(name: string, { requests }: ServerConnection): Ask {
  let id = 0;
  return async (method, params, signal) => {
    const message = params === null ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", id: id++, method, params };
    const answer = await requests.ask({ subtype: "mcp_message", server_name: name, message }, signal);
    if (!("response" in answer)) throw new ServerFailed("the client does not answer");
    const response = fieldsOf(answer.response.mcp_response);
    if (response.error !== undefined) throw new ServerFailed(textOf(fieldsOf(response.error).message) ?? "it refused");
    return fieldsOf(response.result);
  };
}

async function listTools(
  server: string,
  { ask, line }: { ask: Ask; line: ServerConnection },
  signal: AbortSignal,
): Promise<Tool[]> {
  const tools = new Map<string, Tool>();
  let cursor: string | undefined;
  do {
    const page = await ask("tools/list", cursor === undefined ? {} : { cursor }, signal);
    for (const entry of membersOf(page.tools)) {
      const tool = toolOf(server, fieldsOf(entry), { ask, line });
      if (tool !== null && tools.size < TOOLS_LIMIT && !tools.has(tool.name)) tools.set(tool.name, tool);
    }
    const next = textOf(page.nextCursor);
    cursor = next === null || next === cursor ? undefined : next;
  } while (cursor !== undefined && tools.size < TOOLS_LIMIT);
  return [...tools.values()];
}

/** Names that every server of models takes: letters, digits, `_` and `-`, at most 64. */
function toolName(server: string, tool: string): string {
  return `mcp__${server}__${tool}`.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64);
}

function toolOf(
  server: string,
  entry: Record<string, unknown>,
  { ask, line }: { ask: Ask; line: ServerConnection },
): Tool | null {
  const tool = readTool(entry);
  if (tool === null) return null;
  const { name: theirs, schema, description } = tool;
  const name = toolName(server, theirs);
  return {
    name,
    description: description === "" ? theirs : description,
    parameters: { type: "object", ...plainSchema(schema, schema) },
    check: (input) => checkArguments(schema, input),
    // Nothing is known of what it does.
    kind: "execute",
    subject: (input) => JSON.stringify(input),
    async run(input, { signal, supportsImages }) {
      if (!line.isOpen()) {
        return failed(`This session holds protected content, which ${name} may not be told. Go on without it.`);
      }
      try {
        const answer = await ask("tools/call", { name: theirs, arguments: input }, signal);
        const { text, images, isError } = await readResult(answer, { name, supportsImages });
        return { content: text, isError, ...images.length === 0 ? {} : { images }, label: "open" };
      } catch (error) {
        if (!(error instanceof ServerFailed)) throw error;
        return failed(`${name} failed: ${error.message}.`);
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
