/** Checks the arguments of a call by the tool's parameters, and mends what a model got slightly wrong. */
import { isRecord, parseJson } from "../platform/record.ts";
import { meantParameter } from "../provider/trained_names.ts";
import type { ParameterSchema, Tool } from "./tool.ts";

/** The arguments as the tool may use them, or one sentence for the model about what is wrong. */
type CheckedArguments = { value: Record<string, unknown> } | { problem: string };

/** Longest piece of a value that a problem quotes, in characters. */
const QUOTE_LIMIT = 40;

type Checked = { value: unknown } | { problem: string };

/**
 * Gives `input` with declared names only. Mended: `"5"` → 5, `"yes"` → true, a number for text, one value for a list and a list of one for a text,
 * JSON text for a list or an object, letter case of an enumerated word, null for an optional value, near names.
 * Unknown names are dropped. The problem names the argument, what was expected and what came. Never throws.
 * Source: specification of the agent, loop step 3.
 */
export function checkArguments(schema: ParameterSchema, input: Record<string, unknown>): CheckedArguments {
  const checked = checkObject(schema, input, "");
  return "problem" in checked ? checked : { value: checked.value as Record<string, unknown> };
}

/** {@link checkArguments} for a call of a tool, in any set of arguments that it takes. */
export function checkCall(
  { parameters, taken, check }: Pick<Tool, "parameters" | "taken" | "check">,
  input: Record<string, unknown>,
): CheckedArguments {
  if (check !== undefined) return check(input);
  if (taken === undefined) return checkArguments(parameters, input);
  const properties = { ...parameters.properties, ...taken.properties };
  const given = namedAsDeclared(properties, input);
  const has = (name: string) => (given.get(name) ?? null) !== null;
  const instead = parameters.required?.every(has) ? undefined : taken.instead.find((names) => names.every(has));
  const required = instead === undefined ? parameters.required : [...instead];
  return checkArguments({ ...parameters, properties, ...required === undefined ? {} : { required } }, input);
}

function checkObject(schema: ParameterSchema, input: Record<string, unknown>, at: string): Checked {
  const declared = schema.properties;
  if (declared === undefined) return { value: input };
  const given = namedAsDeclared(declared, input);
  const entries: [string, unknown][] = [];
  for (const [name, parameter] of Object.entries(declared)) {
    const place = at === "" ? name : `${at}.${name}`;
    const value = given.get(name);
    if (value === undefined || value === null) {
      if (!schema.required?.includes(name)) continue;
      const names = Object.keys(input).slice(0, 8).map((given) => `\`${given.slice(0, QUOTE_LIMIT)}\``).join(", ") ||
        "none";
      return {
        problem: `The argument \`${place}\` is missing (given: ${names}). ` +
          `Send the call again with \`${place}\`: ${expectation(parameter)}.`,
      };
    }
    const checked = checkValue(parameter, value, place);
    if ("problem" in checked) return checked;
    entries.push([name, checked.value]);
  }
  return { value: Object.fromEntries(entries) };
}

/** The given values by declared name: exact names first, then spellings and aliases that mean one free name. */
function namedAsDeclared(declared: Record<string, ParameterSchema>, input: Record<string, unknown>) {
  const given = new Map<string, unknown>();
  const unknown: [string, unknown][] = [];
  for (const [name, value] of Object.entries(input)) {
    if (Object.hasOwn(declared, name)) given.set(name, value);
    else unknown.push([name, value]);
  }
  const claims = new Map<string, unknown[]>();
  for (const [name, value] of unknown) {
    const meant = meantParameter(name, declared);
    if (meant !== null && (given.get(meant) ?? null) === null) {
      claims.set(meant, [...claims.get(meant) ?? [], value]);
    }
  }
  // Two unknown names for one parameter are ambiguous, not a spelling.
  for (const [name, values] of claims) if (values.length === 1) given.set(name, values[0]);
  return given;
}

function checkValue(schema: ParameterSchema, value: unknown, at: string): Checked {
  const wrong: Checked = {
    problem: `The argument \`${at}\` must be ${expectation(schema)}, not ${describe(value)}. ` +
      (Array.isArray(value) && schema.type === "string" ? "Send one call for each." : "Send the call again."),
  };
  switch (schema.type) {
    case "string":
      return checkText(schema, value, wrong);
    case "integer":
    case "number": {
      const number = typeof value === "string" ? numberIn(value) : value;
      if (typeof number !== "number" || !Number.isFinite(number)) return wrong;
      return schema.type === "integer" && !Number.isSafeInteger(number) ? wrong : { value: number };
    }
    case "boolean": {
      const word = String(value).trim().toLowerCase();
      if (/^(?:true|yes|on|1)$/.test(word)) return { value: true };
      return /^(?:false|no|off|0)$/.test(word) ? { value: false } : wrong;
    }
    case "array":
      return checkList(schema, value, at);
    case "object": {
      const object = typeof value === "string" ? parseJson(value) : value;
      return isRecord(object) ? checkObject(schema, object, at) : wrong;
    }
    default:
      return { value };
  }
}

function checkText(schema: ParameterSchema, value: unknown, wrong: Checked): Checked {
  const only = Array.isArray(value) && value.length === 1 ? value[0] : value;
  const text = typeof only === "number" || typeof only === "boolean" ? String(only) : only;
  if (typeof text !== "string") return wrong;
  if (schema.enum === undefined || schema.enum.includes(text)) return { value: text };
  const lowered = text.trim().toLowerCase();
  const meant = schema.enum.filter((word) => word.toLowerCase() === lowered);
  return meant.length === 1 ? { value: meant[0] } : wrong;
}

function checkList(schema: ParameterSchema, value: unknown, at: string): Checked {
  const parsed = typeof value === "string" ? parseJson(value) : value;
  const list = Array.isArray(parsed) ? parsed : [isRecord(parsed) ? parsed : value];
  const items = schema.items;
  if (items === undefined) return { value: list };
  const values: unknown[] = [];
  for (const [index, item] of list.entries()) {
    const checked = checkValue(items, item, `${at}[${index}]`);
    if ("problem" in checked) return checked;
    values.push(checked.value);
  }
  return { value: values };
}

/** The decimal number that `text` spells, or undefined. Bounded before it is read: a model may send anything. */
function numberIn(text: string): number | undefined {
  const trimmed = text.length <= 40 ? text.trim() : "";
  return /^[+-]?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(trimmed) ? Number(trimmed) : undefined;
}

function expectation(schema: ParameterSchema): string {
  if (schema.enum !== undefined) return `one of ${schema.enum.map((word) => JSON.stringify(word)).join(", ")}`;
  switch (schema.type) {
    case "string":
      return "text";
    case "integer":
      return "a whole number";
    case "number":
      return "a number";
    case "boolean":
      return "true or false";
    case "array":
      return "a list";
    case "object":
      return "an object";
    default:
      return "a value";
  }
}

function describe(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  if (typeof value !== "string") return String(value);
  return `the text ${JSON.stringify(value.length > QUOTE_LIMIT ? value.slice(0, QUOTE_LIMIT) + "…" : value)}`;
}
