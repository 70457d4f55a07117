/** Checks the arguments of a call by the JSON Schema of its tool, and repairs what small models get slightly wrong. */
import { percentDecoded } from "../platform/text.ts";
import { fieldsOf, isRecord, type JsonRecord, membersOf, parseJson } from "../platform/record.ts";
import { meantParameter } from "./trained_names.ts";

/** The arguments as the tool may get them, or one sentence for the model about what is wrong. */
export type CheckedArguments = { value: JsonRecord } | { problem: string };

type Checked = { value: unknown } | { problem: string };

/** Schemas nested more deeply are ignored: the server checks them itself. */
const DEPTH = 12;
/** Most schemas that one call is checked by: one with many references to itself could be followed without end. */
const MOST_SCHEMAS = 100_000;
/** Forms of `anyOf` that are tried. */
const MOST_FORMS = 20;
/** Characters of a value that a problem quotes. */
const QUOTE_LIMIT = 40;

/**
 * Returns `input` as the schema wants it (2020-12, without what only a whole validator knows: patterns, formats,
 * conditions). Repaired: `"5"` → 5, `"yes"` → true, a number for text, one value for a list and a list of one for a
 * text, JSON text for a list or an object, letter case of an enumerated word, null for an optional value, near names.
 * What the schema does not mention passes as it is, for a server to decide; where the schema `isClosed`, other names
 * are dropped. The problem names the argument, what was expected and what came. Never throws.
 * Source: specification of the agent, loop step 3.
 */
export function checkArguments(
  schema: object,
  input: JsonRecord,
  { isClosed = false }: { isClosed?: boolean } = {},
): CheckedArguments {
  const root = fieldsOf(schema);
  const checked = new Check(root, isClosed).value(root, input, { at: "", depth: 0 });
  if ("problem" in checked) return checked;
  return isRecord(checked.value) ? { value: checked.value } : { value: input };
}

/**
 * Returns a text as a schema within `root` wants it: a number, true, null, a list. What may be text stays text, and so
 * does what fits nothing, for {@link checkArguments} to complain about.
 */
export function typedText(text: string, schema: unknown, root: object = {}): unknown {
  const checked = new Check(fieldsOf(root), false).value(schema, text, { at: "", depth: 0 });
  return "value" in checked ? checked.value : text;
}

interface Place {
  at: string;
  depth: number;
}

class Check {
  readonly #root: JsonRecord;
  readonly #isClosed: boolean;
  #left = MOST_SCHEMAS;

  constructor(root: JsonRecord, isClosed: boolean) {
    this.#root = root;
    this.#isClosed = isClosed;
  }

  value(schema: unknown, value: unknown, place: Place): Checked {
    if (schema === false) return { problem: `The argument \`${place.at}\` is not known. Leave it out.` };
    if (!isRecord(schema) || place.depth > DEPTH || --this.#left < 0) return { value };
    const below = { ...place, depth: place.depth + 1 };
    let current: Checked = { value };
    const apply = (next: unknown) => {
      if ("value" in current) current = this.value(next, current.value, below);
    };
    if (schema.$ref !== undefined) apply(resolveReference(schema.$ref, this.#root));
    membersOf(schema.allOf).forEach(apply);
    const forms = [...membersOf(schema.anyOf), ...membersOf(schema.oneOf)];
    if ("value" in current && forms.length > 0) current = this.#anyOf(forms, current.value, below);
    return "problem" in current ? current : this.#own(schema, current.value, place);
  }

  /**
   * The form that takes the value as it is, else the first that takes it repaired; else the problem of the nearest
   * form.
   */
  #anyOf(forms: readonly unknown[], value: unknown, place: Place): Checked {
    const tried = forms.slice(0, MOST_FORMS).map((form) => this.value(form, value, place));
    const exact = tried.find((one) => "value" in one && isSame(one.value, value));
    return exact ?? tried.find((one) => "value" in one) ?? tried.at(0) ?? { value };
  }

  #own(schema: JsonRecord, given: unknown, place: Place): Checked {
    const types = typesOf(schema);
    const typed = types.length === 0 ? { value: given } : mended(types, given);
    if (typed === null) return wrong(place.at, expectation(schema), given);
    let { value } = typed;
    const words = schema.const === undefined ? membersOf(schema.enum) : [schema.const];
    if (words.length > 0 || schema.const !== undefined) {
      const word = words.find((one) => isSame(one, value)) ?? meantWord(words, value);
      if (word === undefined) return wrong(place.at, expectation(schema), given);
      value = word;
    }
    const outside = outOfBounds(schema, value);
    if (outside !== null) return wrong(place.at, outside, given);
    if (Array.isArray(value)) return this.#list(schema, value, place);
    return isRecord(value) ? this.#object(schema, value, place) : { value };
  }

  #list(schema: JsonRecord, values: readonly unknown[], place: Place): Checked {
    const first = membersOf(schema.prefixItems);
    const checked: unknown[] = [];
    for (const [index, item] of values.entries()) {
      const at = { at: `${place.at}[${index}]`, depth: place.depth + 1 };
      const one = this.value(first[index] ?? schema.items, item, at);
      if ("problem" in one) return one;
      checked.push(one.value);
    }
    return { value: checked };
  }

  #object(schema: JsonRecord, input: JsonRecord, place: Place): Checked {
    const declared = fieldsOf(schema.properties);
    const required = membersOf(schema.required).filter((name) => typeof name === "string");
    const pathOf = (name: string) => place.at === "" ? name : `${place.at}.${name}`;
    const isPatterned = Object.keys(fieldsOf(schema.patternProperties)).length > 0;
    const isClosed = schema.additionalProperties === false || this.#isClosed && schema.properties !== undefined;
    const given = namedAsDeclared(declared, input);
    const entries: [string, unknown][] = [];
    for (const name of new Set([...Object.keys(declared), ...required, ...given.keys()])) {
      const own = Object.hasOwn(declared, name);
      // A value that is null was left out, unless the schema takes null.
      if (!given.has(name) || given.get(name) === null && own && !takesNull(declared[name])) {
        if (required.includes(name)) return missing(pathOf(name), fieldsOf(declared[name]), input);
        continue;
      }
      if (!own && isClosed && !isPatterned) continue;
      const rule = own ? declared[name] : isPatterned ? undefined : schema.additionalProperties;
      const checked = this.value(rule, given.get(name), { at: pathOf(name), depth: place.depth + 1 });
      if ("problem" in checked) return checked;
      entries.push([name, checked.value]);
    }
    return { value: Object.fromEntries(entries) };
  }
}

/** Returns what a local `$ref` leads to; undefined for any other: nothing is ever fetched. */
export function resolveReference(reference: unknown, root: JsonRecord): JsonRecord | undefined {
  if (typeof reference !== "string" || !reference.startsWith("#")) return undefined;
  let at: unknown = root;
  for (const part of reference.slice(1).split("/").slice(1)) {
    const name = percentDecoded(part).replaceAll("~1", "/").replaceAll("~0", "~");
    at = isRecord(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  }
  return isRecord(at) ? at : undefined;
}

/** The given values by declared name: exact names first, then spellings and aliases that mean one free name. */
export function namedAsDeclared(declared: object, input: JsonRecord): Map<string, unknown> {
  const known = fieldsOf(declared);
  const given = new Map(Object.entries(input).filter(([name]) => Object.hasOwn(known, name)));
  const meant = Object.entries(input).filter(([name]) => !given.has(name)).map(([name, value]) => {
    const one = meantParameter(name, known) ?? sameLetters(name, known);
    return { name, value, meant: one !== null && (given.get(one) ?? null) === null ? one : null };
  });
  for (const one of meant) {
    // Two unknown names for one parameter are ambiguous, not a spelling.
    const isOnly = meant.every((other) => other === one || other.meant !== one.meant);
    given.set(one.meant !== null && isOnly ? one.meant : one.name, one.value);
  }
  return given;
}

/** `ownerName` and `owner_name` are the same to a model. */
function sameLetters(name: string, declared: JsonRecord): string | null {
  const plain = (text: string) => text.replace(/[_-]/g, "").toLowerCase();
  const same = Object.keys(declared).filter((one) => plain(one) === plain(name));
  return same.length === 1 ? same[0] ?? null : null;
}

function typesOf({ type }: JsonRecord): string[] {
  return (Array.isArray(type) ? type : [type]).filter((one): one is string => typeof one === "string");
}

function takesNull(schema: unknown): boolean {
  const { anyOf, oneOf, ...own } = fieldsOf(schema);
  return typesOf(own).includes("null") || membersOf(own.enum).includes(null) ||
    [...membersOf(anyOf), ...membersOf(oneOf)].some(takesNull) || Object.keys(own).length === 0;
}

/** The value where a type takes it as it is, else as the first type that it can be turned into; null for none. */
function mended(types: readonly string[], value: unknown): { value: unknown } | null {
  if (types.some((type) => isOfType(type, value))) return { value };
  for (const type of types) {
    const turned = turnedInto(type, value);
    if (turned !== undefined) return { value: turned };
  }
  return null;
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case "string":
      return typeof value === "string";
    case "integer":
      return Number.isSafeInteger(value);
    case "number":
      return Number.isFinite(value);
    case "boolean":
      return typeof value === "boolean";
    case "array":
      return Array.isArray(value);
    case "object":
      return isRecord(value);
    case "null":
      return value === null;
    default:
      return true;
  }
}

function turnedInto(type: string, value: unknown): unknown {
  const text = typeof value === "string" && value.length <= 1_000_000 ? value.trim() : null;
  switch (type) {
    case "string": {
      const only = Array.isArray(value) && value.length === 1 ? value[0] : value;
      return ["string", "number", "boolean"].includes(typeof only) ? String(only) : undefined;
    }
    case "integer":
    case "number": {
      if (text === null || !/^[+-]?\d{1,30}(\.\d{1,30})?(e[+-]?\d{1,3})?$/i.test(text)) return undefined;
      const number = Number(text);
      return isOfType(type, number) ? number : undefined;
    }
    case "boolean": {
      const word = String(value).trim().toLowerCase();
      if (/^(?:true|yes|on|1)$/.test(word)) return true;
      return /^(?:false|no|off|0)$/.test(word) ? false : undefined;
    }
    case "object": {
      const parsed = text === null ? undefined : parseJson(text);
      return isRecord(parsed) ? parsed : undefined;
    }
    case "array": {
      const parsed = text === null ? undefined : parseJson(text);
      return Array.isArray(parsed) ? parsed : value === null || value === undefined ? undefined : [value];
    }
    case "null":
      // Templates of Python write None.
      return text === "null" || text === "None" ? null : undefined;
    default:
      return undefined;
  }
}

function meantWord(words: readonly unknown[], value: unknown): unknown {
  const plain = (word: unknown) => String(word).trim().toLowerCase();
  const meant = words.filter((word) =>
    typeof word !== "object" && typeof value !== "object" && plain(word) === plain(value)
  );
  return meant.length === 1 ? meant[0] : undefined;
}

function isSame(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === "object" && JSON.stringify(one) === JSON.stringify(other));
}

/** Returns what the schema demands of the value; null when it is within the bounds. */
function outOfBounds(schema: JsonRecord, value: unknown): string | null {
  const is = (name: string) => typeof schema[name] === "number" ? schema[name] as number : null;
  const [least, most] = [is("minimum"), is("maximum")];
  const [above, below] = [is("exclusiveMinimum"), is("exclusiveMaximum")];
  if (typeof value === "number") {
    if (least !== null && value < least) return `a number of at least ${least}`;
    if (most !== null && value > most) return `a number of at most ${most}`;
    if (above !== null && value <= above) return `a number greater than ${above}`;
    if (below !== null && value >= below) return `a number less than ${below}`;
  }
  const measured = typeof value === "string"
    ? { size: [...value].length, low: is("minLength"), high: is("maxLength"), noun: "characters" }
    : Array.isArray(value)
    ? { size: value.length, low: is("minItems"), high: is("maxItems"), noun: "items" }
    : null;
  if (measured === null) return null;
  if (measured.low !== null && measured.size < measured.low) return `at least ${measured.low} ${measured.noun} long`;
  return measured.high !== null && measured.size > measured.high
    ? `at most ${measured.high} ${measured.noun} long`
    : null;
}

const NOUNS: Readonly<Record<string, string>> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

function expectation(schema: JsonRecord): string {
  const words = schema.const === undefined ? membersOf(schema.enum) : [schema.const];
  if (words.length > 0) return `one of ${words.slice(0, 20).map((word) => quoted(word)).join(", ")}`;
  return typesOf(schema).map((type) => NOUNS[type] ?? "a value").join(" or ") || "a value";
}

function missing(at: string, schema: JsonRecord, input: JsonRecord): { problem: string } {
  const names = Object.keys(input).slice(0, 8).map((name) => `\`${name.slice(0, QUOTE_LIMIT)}\``).join(", ");
  return {
    problem: `The argument \`${at}\` is missing (given: ${names || "none"}). ` +
      `Send the call again with \`${at}\`: ${expectation(schema)}.`,
  };
}

function wrong(at: string, wanted: string, value: unknown): { problem: string } {
  const next = Array.isArray(value) && wanted === NOUNS.string ? "Send one call for each." : "Send the call again.";
  return {
    problem: `The argument \`${at}\` must be ${wanted}, not ${typeof value === "string" ? "the text " : ""}${
      quoted(value)
    }. ${next}`,
  };
}

function quoted(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (isRecord(value)) return "an object";
  if (typeof value !== "string") return String(value);
  return JSON.stringify(value.length > QUOTE_LIMIT ? `${value.slice(0, QUOTE_LIMIT)}…` : value);
}
