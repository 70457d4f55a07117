/** Writes what a tool takes in one line, and as a schema that every model server understands. */
import { fieldsOf, isRecord, type JsonRecord, membersOf, textOf } from "../platform/record.ts";
import { resolveReference } from "../provider/check_arguments.ts";
import { cleanText } from "./tool_info.ts";

/** The keywords of a schema that model servers compile into a grammar; everything else is left out. */
export interface PlainSchema {
  type?: "object" | "string" | "integer" | "number" | "boolean" | "array";
  description?: string;
  properties?: Record<string, PlainSchema>;
  required?: string[];
  items?: PlainSchema;
  enum?: string[];
}

/**
 * Schemas nested more deeply are any value, and so are those beyond this many: one can refer to itself from many
 * places.
 */
const DEPTH = 8;
const MOST_SCHEMAS = 1_000;

/** The position of a part in a tool's schema, and how many more parts may be read. */
interface Place {
  depth: number;
  counter: { left: number };
}

function start(): Place {
  return { depth: 0, counter: { left: MOST_SCHEMAS } };
}

function below({ depth, counter }: Place): Place {
  return { depth: depth + 1, counter };
}

const TYPES: readonly string[] = ["object", "string", "integer", "number", "boolean", "array"];

/**
 * Returns a schema with its references resolved, the parts of `allOf` joined, and of several forms the first that is
 * not null. The grammars of model servers reject most of what JSON Schema can say.
 */
export function plainSchema(schema: unknown, root: JsonRecord, place = start()): PlainSchema {
  const { depth, counter } = place;
  if (depth >= DEPTH) return {};
  const whole = merged(schema, root, { depth: 0, counter });
  const description = cleanText(textOf(whole.description) ?? "", depth === 1 ? 160 : 80);
  const said = description === "" || depth === 0 ? {} : { description };
  const words = membersOf(whole.enum ?? (whole.const === undefined ? undefined : [whole.const]));
  if (words.length > 0 && words.every((word) => typeof word === "string")) {
    return { type: "string", ...said, enum: words as string[] };
  }
  const type = typeOf(whole);
  if (type === "object") {
    const properties = Object.entries(fieldsOf(whole.properties));
    if (properties.length === 0) return { type, ...said, ...depth === 0 ? { properties: {} } : {} };
    const names = properties.map(([name]) => name);
    const required = membersOf(whole.required).filter((name): name is string => names.includes(name as string));
    return {
      type,
      ...said,
      properties: Object.fromEntries(properties.map(([name, value]) => [name, plainSchema(value, root, below(place))])),
      ...required.length === 0 ? {} : { required },
    };
  }
  if (type === "array") return { type, ...said, items: plainSchema(whole.items ?? {}, root, below(place)) };
  return { ...type === undefined ? {} : { type }, ...said };
}

/** Follows references and forms to one schema; a circular one is any value. */
export function merged(schema: unknown, root: JsonRecord, place = start()): JsonRecord {
  if (!isRecord(schema) || place.depth > DEPTH || --place.counter.left < 0) return {};
  const { $ref, allOf, anyOf, oneOf, ...own } = schema;
  const forms = [...membersOf(anyOf), ...membersOf(oneOf)].filter((form) => fieldsOf(form).type !== "null");
  const others = [
    ...$ref === undefined ? [] : [resolveReference($ref, root)],
    ...membersOf(allOf),
    // Forms of one object often differ in what they require: only the first counts where the schema says nothing
    // itself.
    ...own.type === undefined && own.properties === undefined ? forms.slice(0, 1) : [],
  ].map((one) => merged(one, root, below(place)));
  return others.reduce<JsonRecord>((sum, one) => ({
    ...one,
    ...sum,
    ...isRecord(sum.properties) || isRecord(one.properties)
      ? { properties: { ...fieldsOf(one.properties), ...fieldsOf(sum.properties) } }
      : {},
    ...Array.isArray(sum.required) || Array.isArray(one.required)
      ? { required: [...new Set([...membersOf(sum.required), ...membersOf(one.required)])] }
      : {},
  }), own);
}

function typeOf(schema: JsonRecord): PlainSchema["type"] {
  const named = (Array.isArray(schema.type) ? schema.type : [schema.type]).find((type) => TYPES.includes(type));
  if (named !== undefined) return named as PlainSchema["type"];
  if (schema.properties !== undefined) return "object";
  return schema.items === undefined ? undefined : "array";
}

/** Characters of a list of parameters. */
const LIST_LIMIT = 300;

/** Returns `(path: string, depth?: integer)` for the schema of a tool's arguments. */
export function parameterList(schema: JsonRecord): string {
  const { properties = {}, required = [] } = plainSchema(schema, schema);
  const entries = Object.entries(properties);
  // Required parameters come first: a cut list loses only optional ones.
  entries.sort(([one], [other]) => Number(required.includes(other)) - Number(required.includes(one)));
  const parts = entries.map(([name, value]) =>
    `${cleanText(name, 60)}${required.includes(name) ? "" : "?"}: ${typeText(value)}`
  );
  let kept = parts;
  while (kept.length > 1 && kept.join(", ").length > LIST_LIMIT) kept = kept.slice(0, -1);
  return `(${[...kept, ...kept.length < parts.length ? ["…"] : []].join(", ")})`;
}

function typeText(schema: PlainSchema, depth = 0): string {
  if (schema.enum !== undefined) {
    const words = schema.enum.slice(0, 6).map((word) => JSON.stringify(cleanText(word, 40)));
    return [...words, ...schema.enum.length > 6 ? ["…"] : []].join("|");
  }
  if (schema.type === "array") {
    const items = typeText(schema.items ?? {}, depth + 1);
    return /[|]/.test(items) ? `(${items})[]` : `${items}[]`;
  }
  if (schema.type === "object" && schema.properties !== undefined && depth < 2) {
    const { properties, required = [] } = schema;
    const parts = Object.entries(properties).slice(0, 8).map(([name, value]) =>
      `${cleanText(name, 40)}${required.includes(name) ? "" : "?"}: ${typeText(value, depth + 1)}`
    );
    return `{${parts.join(", ")}}`;
  }
  return schema.type ?? "any";
}
