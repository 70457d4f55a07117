/** What the bench's server has to know of a request, in either of the two interfaces that clients speak. */

/** The paths of the interfaces: `/v1/chat/completions`, or `/v1/responses`. */
export type Interface = "chat" | "responses";

/** A tool that the client offers. */
export interface OfferedTool {
  name: string;
  /** Of its arguments: name and schema. */
  properties: Record<string, { type?: string | string[]; enum?: unknown[] }>;
  required: string[];
}

/** A request, as far as an answer depends on it. */
export interface Asked {
  model: string;
  stream: boolean;
  tools: OfferedTool[];
  /** How many results of calls it brings. */
  results: number;
}

type Json = Record<string, unknown>;

function objectsOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "object" && one !== null) : [];
}

/** Tools come below `function` (chat), flat (responses), or in groups (`namespace`, responses). */
function toolsOf(list: unknown): OfferedTool[] {
  return objectsOf(list).flatMap((tool) => {
    if (tool.type === "namespace") return toolsOf(tool.tools);
    const { name, parameters } = (tool.function ?? tool) as { name?: unknown; parameters?: Partial<OfferedTool> };
    const { properties = {}, required = [] } = parameters ?? {};
    return typeof name === "string" ? [{ name, properties, required }] : [];
  });
}

/** Reads the body of a request. Throws when it is no JSON. */
export function askedIn(body: string): Asked {
  const { model, stream, tools, messages, input }: Json = JSON.parse(body);
  const results = objectsOf(messages).filter(({ role }) => role === "tool").length +
    objectsOf(input).filter(({ type }) => String(type).endsWith("_call_output")).length;
  return { model: String(model), stream: stream === true, tools: toolsOf(tools), results };
}

const READS = /^(?:read|read_?file|view|view_?file)$/i;
const RUNS = /shell|bash|exec|command/i;
const PATH = /path|file/i;
const COMMAND = /^(?:cmd|command|script)$/i;

/**
 * A call that reads the file, with a tool that the client offers: one for files, else one for commands; null without.
 */
export function callThatReads(file: string, tools: readonly OfferedTool[]): { name: string; input: Json } | null {
  for (const [named, taken, word] of [[READS, PATH, file], [RUNS, COMMAND, `cat '${file}'`]] as const) {
    for (const { name, properties, required } of tools) {
      const argument = Object.keys(properties).find((key) => taken.test(key));
      if (!named.test(name) || argument === undefined) continue;
      const others = required.filter((key) => key !== argument).map((key) => [key, someValue(properties[key])]);
      return { name, input: { [argument]: valueOf(properties[argument], word), ...Object.fromEntries(others) } };
    }
  }
  return null;
}

function typeOf(schema: OfferedTool["properties"][string] | undefined): string {
  return [schema?.type ?? "string"].flat()[0] ?? "string";
}

function valueOf(schema: OfferedTool["properties"][string] | undefined, word: string): unknown {
  return typeOf(schema) === "array" ? ["sh", "-c", word] : word;
}

function someValue(schema: OfferedTool["properties"][string] | undefined): unknown {
  if (schema?.enum !== undefined) return schema.enum[0];
  const simple: Record<string, unknown> = { boolean: false, number: 1, integer: 1, array: [], object: {} };
  return simple[typeOf(schema)] ?? "reads the file";
}
