/** Written arguments, which have no types, get those that the tool's schema states. */
import { isRecord } from "./call.ts";
import { parseJson } from "./json.ts";

/** An argument as it is written; `json` when the call itself says that the value is no text. */
export type WrittenArgument = readonly [name: string, value: string, json?: boolean];

/**
 * Gives written values the types that the schema states. What does not fit stays text, for the check of the tool to
 * complain about; what is a string by the schema, or not in it, stays text whatever it looks like.
 * Null when a name comes twice: which one is meant is unknown.
 */
export function typedArguments(
  written: readonly WrittenArgument[],
  parameters: Record<string, unknown> | undefined,
): Record<string, unknown> | null {
  const properties = isRecord(parameters?.properties) ? parameters.properties : {};
  const typed = new Map<string, unknown>();
  for (const [name, value, json = false] of written) {
    if (typed.has(name)) return null;
    const stated = json ? parseJson(value.trim()) : undefined;
    typed.set(
      name,
      stated ?? typedValue(value, typesOf(Object.hasOwn(properties, name) ? properties[name] : undefined)),
    );
  }
  return Object.fromEntries(typed);
}

/** The JSON Schema types a property may have; empty when unknown. */
function typesOf(schema: unknown): string[] {
  if (!isRecord(schema)) return [];
  const { type } = schema;
  if (typeof type === "string") return [type];
  if (Array.isArray(type)) return type.filter((one) => typeof one === "string");
  const union = schema.anyOf ?? schema.oneOf;
  return Array.isArray(union) ? union.flatMap((one) => isRecord(one) ? typesOf({ type: one.type }) : []) : [];
}

function typedValue(value: string, types: string[]): unknown {
  if (types.length === 0 || types.includes("string")) return value;
  const trimmed = value.trim();
  // Templates of Python write True, False and None.
  const parsed = parseJson(/^(?:True|False)$/.test(trimmed) ? trimmed.toLowerCase() : trimmed);
  const found = trimmed === "None" ? null : parsed;
  return found !== undefined && types.some((type) => hasType(found, type)) ? found : value;
}

function hasType(value: unknown, type: string): boolean {
  switch (type) {
    case "integer":
      return Number.isSafeInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return isRecord(value);
    case "null":
      return value === null;
    case "number":
      return Number.isFinite(value);
    case "boolean":
      return typeof value === "boolean";
    default:
      return false;
  }
}
