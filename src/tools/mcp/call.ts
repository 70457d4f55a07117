/** One call of a server's tool: what may be told to it, and what is made of its answer. */
import { headOf } from "../../platform/text.ts";
import type { Label } from "../../boundary/policy/label.ts";
import { membersOf } from "../../platform/record.ts";
import { toolLine } from "../../mcp/find.ts";
import { headerParameters } from "../../mcp/header_parameters.ts";
import { failureOf, ServerFailed } from "../../mcp/link.ts";
import type { McpOffer, MeantTool } from "../../mcp/offer.ts";
import { readBlocks, readResult, type ServerResult } from "../../mcp/result.ts";
import { RPC_CODES, RpcError } from "../../rpc/message.ts";
import { counted, grouped } from "../../platform/number.ts";
import { failure, success } from "../result.ts";
import type { ToolContext, ToolResult } from "../tool.ts";

/** Most bytes of a result; the rest is in a file. */
const MOST_BYTES = 20 * 1024;
/** Arguments are no prose: whatever they hold more leaves at once. */
const ARGUMENT_BYTES = 1024 * 1024;

/** A call whose arguments were checked. */
interface ServerCall extends MeantTool {
  args: Record<string, unknown>;
}

/** Calls the tool. Every failure is a result for the model. */
export async function callServer(offer: McpOffer, call: ServerCall, context: ToolContext): Promise<ToolResult> {
  const { server, tool, args } = call;
  if (JSON.stringify(args).length > ARGUMENT_BYTES) {
    return failure("The arguments are longer than 1 MiB. Send less at once.", context);
  }
  const label = offer.hub.states.find((state) => state.server.name === server)?.server.label ?? "open";
  const name = `${server}.${tool.name}`;
  try {
    const answer = await send(offer, call, { context, label });
    const result = { ...answer, text: answer.text === "" && answer.images.length === 0 ? "(no output)" : answer.text };
    const text = await cut(result, { offer, context, label, name });
    const usage = result.isError ? `\nUsage: ${toolLine(server, tool)}` : "";
    const images = result.images.length === 0 ? {} : { images: result.images };
    return { ...success(text + usage, context, { label, ...images }), isError: result.isError };
  } catch (error) {
    context.signal.throwIfAborted();
    const why = failureOf(error);
    const isOurs = error instanceof RpcError && error.code === RPC_CODES.invalidParams;
    const usage = isOurs ? ` Usage: ${toolLine(server, tool)}` : "";
    const again = error instanceof ServerFailed && error.kind === "gone"
      ? " It may have done its work: look before you call it again."
      : "";
    return failure(`The MCP server ${server} ${why}.${usage}${again}`, context, { label });
  }
}

async function send(
  { hub }: McpOffer,
  { server, tool, args, isResource }: ServerCall,
  { context: { signal, supportsImages, notify, onOutput }, label }: { context: ToolContext; label: Label },
): Promise<ServerResult> {
  const encoder = new TextEncoder();
  const options = {
    signal,
    // What runs is shown before it is labeled, so a server whose data is for local models only shows nothing.
    progress: (text: string) => void (label === "open" && onOutput?.(encoder.encode(`${text}\n`))),
    starting: (name: string) => notify?.(`starting the MCP server ${name}`),
  };
  const shown = { name: `${server}.${tool.name}`, supportsImages };
  if (isResource) {
    const answer = await hub.request(server, "resources/read", { uri: args.uri }, options);
    return { ...await readBlocks(membersOf(answer.contents), shown), isError: false };
  }
  const headers = headerParameters(tool.schema, args);
  return await readResult(
    await hub.request(server, "tools/call", { name: tool.name, arguments: args }, { ...options, headers }),
    shown,
  );
}

/** The beginning of a long result, and where the rest is. Of protected content nothing is kept on the disk. */
async function cut(
  { text }: ServerResult,
  { offer, context, label, name }: {
    offer: McpOffer;
    context: ToolContext;
    label: Label;
    name: string;
  },
): Promise<string> {
  const { length } = new TextEncoder().encode(text);
  const limit = Math.min(MOST_BYTES, context.resultBytes - 300);
  if (length <= limit) return text;
  const isOpen = label === "open" && context.sessionLabel === "open";
  const file = isOpen ? await offer.hub.keepResult(text) : null;
  if (file !== null) context.workspace.lend(file);
  const rest = file === null
    ? `ask ${name} for less at once`
    : `the whole result is in ${file}: Read it with offset and limit`;
  return `${headOf(text, limit)}\n[cut: ${counted(limit, "byte")} of ${grouped(length)}; ${rest}]`;
}
