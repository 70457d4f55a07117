/** The tools of MCP servers: those that are functions of their own, and McpFind and McpCall for all others. */
import { headOf, shortened } from "../../platform/text.ts";
import type { ExposedTool } from "../../mcp/exposure.ts";
import { plainSchema } from "../../mcp/signature.ts";
import { toolLine } from "../../mcp/find.ts";
import { functionName } from "../../config/mcp_names.ts";
import type { McpOffer, MeantTool } from "../../mcp/offer.ts";
import { isRecord, membersOf, parseJson } from "../../platform/record.ts";
import { failure, success } from "../result.ts";
import { MCP_CALL, MCP_FIND, type Tool, type ToolContext, type ToolResult } from "../tool.ts";
import type { Label } from "../../boundary/policy/label.ts";
import { headerParameters } from "../../mcp/header_parameters.ts";
import { failureOf, ServerFailed } from "../../mcp/link.ts";
import { readBlocks, readResult, type ServerResult } from "../../mcp/result.ts";
import { RPC_CODES, RpcError } from "../../rpc/message.ts";
import { counted, grouped } from "../../platform/number.ts";
import callPrompt from "./call_prompt.md" with { type: "text" };
import findPrompt from "./find_prompt.md" with { type: "text" };

interface McpCallInput {
  /** `server.tool`, as McpFind names it. */
  tool: string;
  args: Record<string, unknown>;
}

/** Names of servers in the description of McpFind: a model searches for what it knows to exist. */
const MOST_NAMES = 12;
/** Characters of the arguments that are shown to a person in one line. */
const SHOWN = 300;

/**
 * Returns the tools of the servers of a session: those with a function of their own first, in the order of the servers.
 */
export function mcpTools(offer: McpOffer): Tool[] {
  const direct = offer.exposed.tools.filter(({ exposure }) => exposure === "direct").map((one) =>
    directTool(offer, one)
  );
  return offer.hasSearch ? [...direct, mcpFindTool(offer), mcpCallTool(offer)] : direct;
}

function mcpFindTool(offer: McpOffer): Tool<{ query: string }> {
  const names = offer.serverNames;
  const servers = [...names.slice(0, MOST_NAMES), ...names.length > MOST_NAMES ? ["…"] : []].join(", ");
  return {
    name: MCP_FIND,
    description: `${findPrompt.trim()} Servers: ${servers}.`,
    parameters: { type: "object", properties: { query: { type: "string" } }, required: ["query"] },
    kind: "note",
    subject: ({ query }) => query,
    run: ({ query }, context) => {
      const text = offer.find(query);
      return Promise.resolve(success(text, context, { label: offer.labelOf(text) }));
    },
  };
}

function mcpCallTool(offer: McpOffer): Tool<McpCallInput> {
  const meant = ({ tool }: McpCallInput): MeantTool => {
    const found = offer.meant(tool);
    if ("problem" in found) throw new Error("a call that was not checked");
    return found;
  };
  return {
    name: MCP_CALL,
    description: callPrompt.trim(),
    parameters: {
      type: "object",
      properties: { tool: { type: "string", description: "server.tool" }, args: { type: "object" } },
      required: ["tool", "args"],
    },
    kind: "execute",
    check: (input) => checkCallInput(offer, input),
    ruleName: (input) => functionName(meant(input).server, meant(input).tool.name),
    subject: ({ tool, args }) => `${tool} ${shown(args)}`,
    forbidden: (input) => offer.hub.forbidden(meant(input).server, { arguments: input.args }),
    run: (input, context) => callServer(offer, { ...meant(input), args: input.args }, context),
  };
}

/** Small models put the arguments beside the name, or the name where the arguments are. */
function checkCallInput(offer: McpOffer, input: Record<string, unknown>): ReturnType<NonNullable<Tool["check"]>> {
  const { tool: named, name, args, arguments: other, ...rest } = input;
  const wanted = typeof named === "string" ? named : typeof name === "string" ? name : null;
  if (wanted === null) return { problem: 'The argument `tool` is missing. Send {"tool":"server.tool","args":{…}}.' };
  const found = offer.meant(wanted);
  if ("problem" in found) return found;
  const given = args ?? other;
  const parsed = typeof given === "string" ? parseJson(given.trim() || "{}") : given ?? rest;
  if (!isRecord(parsed)) {
    return { problem: `The argument \`args\` must be an object. Usage: ${toolLine(found.server, found.tool)}` };
  }
  const checked = offer.check(found, parsed);
  if ("problem" in checked) return checked;
  return { value: { tool: `${found.server}.${found.tool.name}`, args: checked.value } };
}

function directTool(offer: McpOffer, { server, tool }: ExposedTool): Tool<Record<string, unknown>> {
  const meant: MeantTool = { server, tool, isResource: false };
  return {
    name: functionName(server, tool.name),
    description: tool.description,
    parameters: plainSchema(tool.schema, tool.schema),
    kind: "execute",
    label: offer.hub.states.find((state) => state.server.name === server)?.server.label ?? "open",
    check: (input) => offer.check(meant, input),
    subject: shown,
    forbidden: (args) => offer.hub.forbidden(server, { arguments: args }),
    run: (args, context) => callServer(offer, { ...meant, args }, context),
  };
}

function shown(args: Record<string, unknown>): string {
  return shortened(JSON.stringify(args), SHOWN);
}

/** Most bytes of a result; the rest is in a file. */
const MOST_BYTES = 20 * 1024;
/** Arguments are not prose: anything further in them leaves at once. */
const ARGUMENT_BYTES = 1024 * 1024;

/** A call whose arguments were checked. */
interface ServerCall extends MeantTool {
  args: Record<string, unknown>;
}

/** Calls the tool. Every failure is a result for the model. */
async function callServer(offer: McpOffer, call: ServerCall, context: ToolContext): Promise<ToolResult> {
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
    // Progress is shown before it is labeled, so a server whose data is for local models shows none.
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

/** The beginning of a long result, and where the rest is. Nothing protected is kept on the disk. */
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
  if (file !== null) context.workspace.lent.add(file);
  const rest = file === null
    ? `ask ${name} for less at once`
    : `the whole result is in ${file}: Read it with offset and limit`;
  return `${headOf(text, limit)}\n[cut: ${counted(limit, "byte")} of ${grouped(length)}; ${rest}]`;
}
