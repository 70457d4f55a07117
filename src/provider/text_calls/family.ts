/** What a family of models is to recovery: the text its calls open with, and how one of them is read. */
import type { ToolSchema } from "../types.ts";
import type { Cursor } from "./cursor.ts";

/** A call found in text, complete, of a declared tool. */
export interface TextCall {
  name: string;
  input: Record<string, unknown>;
}

/** The declared tools: name → JSON Schema of the parameters. */
export type DeclaredTools = ReadonlyMap<string, Record<string, unknown>>;

/**
 * What stands at an opener. The cursor is behind it when it has an end.
 * - `calls`: all of it is complete and declared.
 * - `refused`: it has an end, but is no call that may run (undeclared name, arguments of another kind, invalid JSON).
 * - `broken`: it starts as a call and has no end that can be trusted. Text after it may be the inside of one of its
 *   values, so nothing after it is read.
 */
export type Reading = { kind: "calls"; calls: TextCall[] } | { kind: "refused" } | { kind: "broken" };

/** One row of the table of families. */
export interface Family {
  readonly name: string;
  /** Exact texts a call opens with. */
  readonly openers: readonly string[];
  /** Tokens that may stand around calls and belong to them. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  /**
   * Closing tags of formats without escapes. One that is left over after a call shows that a value held the tags
   * itself, so that its end was misjudged.
   */
  readonly closing?: readonly string[];
  /** Reads at an opener; null when what follows is nothing like a call (prose about the format). */
  read(cursor: Cursor, tools: DeclaredTools): Reading | null;
}

/** The tools by name. */
export function declareTools(tools: readonly ToolSchema[]): DeclaredTools {
  return new Map(tools.map((tool) => [tool.function.name, tool.function.parameters]));
}

/** The declared name that `name` means, or null. Some templates put `functions.` before it (gpt-oss, Kimi). */
export function declaredName(name: string, tools: DeclaredTools): string | null {
  if (tools.has(name)) return name;
  const bare = name.startsWith("functions.") ? name.slice("functions.".length) : name;
  return tools.has(bare) ? bare : null;
}

/** A reading of one call: refused unless the tool is declared and the arguments are an object. */
export function callReading(call: { name: string; input: unknown }, tools: DeclaredTools): Reading {
  const name = declaredName(call.name, tools);
  if (name === null || !isRecord(call.input)) return { kind: "refused" };
  return { kind: "calls", calls: [{ name, input: call.input }] };
}

/** True for JSON objects; not for arrays and null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
