/** What recovery reads: calls of declared tools, and what may stand where one was expected. */
import { readArgumentsWith, type RepairJson } from "../chat/arguments.ts";
import type { ToolSchema } from "../types.ts";

/** More objects of one text are not mended. */
const MENDED_LIMIT = 64;

/** A call found in text, complete, of a declared tool. */
export interface TextCall {
  name: string;
  input: Record<string, unknown>;
}

/** What calls are read with. */
export interface CallContext {
  /** Name → JSON Schema of the parameters. */
  tools: ReadonlyMap<string, Record<string, unknown>>;
  /** The library that mends JSON; null while it is not loaded. */
  repair: RepairJson | null;
  /** Objects that could be mended with the library; bounds its work. */
  mended: number;
  /** The places of the closing marks of the text, once they were asked for. */
  closings?: readonly number[];
}

/**
 * What stands at an opening mark. The cursor is behind it when it has an end.
 * - `calls`: all of it is complete and declared.
 * - `refused`: it has an end, but is no call that may run (undeclared name, arguments of another kind, invalid JSON).
 * - `broken`: it starts as a call and has no end that can be trusted. Text after it may be the inside of one of its
 *   values, so nothing after it is read.
 */
export type Reading = { kind: "calls"; calls: TextCall[] } | { kind: "refused" } | { kind: "broken" };

/** What the calls of one text are read with. */
export function contextOf(tools: readonly ToolSchema[], repair: RepairJson | null = null): CallContext {
  return { tools: new Map(tools.map((tool) => [tool.function.name, tool.function.parameters])), repair, mended: 0 };
}

/** False when enough was mended. */
export function mayMend(context: CallContext): boolean {
  return context.mended < MENDED_LIMIT;
}

/**
 * Reads one JSON object that is closed but not quite JSON, as the arguments of other calls are read; null when it cannot
 * be mended, or not yet.
 */
export function mendObject(json: string, context: CallContext): Record<string, unknown> | null {
  if (!mayMend(context)) return null;
  context.mended++;
  return readArgumentsWith(json, context.repair)?.input ?? null;
}

/** The declared name that `name` means, or null. Some models put a namespace before it (`functions.`, `default_api.`). */
export function declaredName(name: string, { tools }: CallContext): string | null {
  if (tools.has(name)) return name;
  const bare = name.slice(name.lastIndexOf(".") + 1);
  return tools.has(bare) ? bare : null;
}

/** A reading of one call: refused unless the tool is declared and the arguments are an object. */
export function callReading(call: { name: string; input: unknown }, context: CallContext): Reading {
  const name = declaredName(call.name, context);
  if (name === null || !isRecord(call.input)) return { kind: "refused" };
  return { kind: "calls", calls: [{ name, input: call.input }] };
}

/** One reading of several calls. All or nothing: one that is refused refuses all. */
export function allOf(readings: readonly Reading[]): Reading {
  const calls = readings.flatMap((reading) => reading.kind === "calls" ? reading.calls : []);
  const refused = calls.length === 0 || readings.some((reading) => reading.kind !== "calls");
  return refused ? { kind: "refused" } : { kind: "calls", calls };
}

/** The JSON Schema of a tool's parameters; undefined when it is not declared. */
export function parametersOf(name: string, context: CallContext): Record<string, unknown> | undefined {
  return context.tools.get(declaredName(name, context) ?? "");
}

/** The schemas of a tool's parameters by name. */
export function propertiesOf(name: string, context: CallContext): Record<string, unknown> {
  const properties = parametersOf(name, context)?.properties;
  return isRecord(properties) ? properties : {};
}

/** True for JSON objects; not for arrays and null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
