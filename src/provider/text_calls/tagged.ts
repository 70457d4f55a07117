/** Reads calls written between tags, without quoting and without types. */
import {
  type CallContext,
  parametersOf,
  parsedCall,
  type ParseResult,
  propertiesOf,
  readArgumentsObject,
} from "./call.ts";
import { typedText } from "../check_arguments.ts";
import { fieldsOf, isRecord, parseJson } from "../../platform/record.ts";
import { isToolName, meantParameter } from "../trained_names.ts";
import type { Cursor } from "./cursor.ts";
import { GAP, NAMESPACE } from "./marks.ts";

const PREFIX = String.raw`(?:[|｜]?[\w.-]{1,24}[:|｜])?`;
/** A name in a tag: `=n` or `name="n"`, with quotes or without. */
const NAME = String.raw`(?:=\s?|[\s\u0120]*name\s?=\s?)["']?([A-Za-z_][\w.-]{0,127})["']?([^<>]{0,200})>`;

const CALL_TAG = new RegExp(`<(${PREFIX}(?:function|function_call|invoke|tool_call|tool_use|tool|call))${NAME}`, "y");
const PARAMETER_TAG = new RegExp(`<(${PREFIX}(?:parameter|param|argument|arg))${NAME}`, "y");
/** The tag of a tool, with the tag of an argument after it. Source: Cline, whose prompt models were trained with. */
const TOOL_TAG = /<([A-Za-z_][\w-]{0,47})>\s*(?=<([A-Za-z_][\w-]{0,127})>)/y;
const KEY_TAG = new RegExp(`<([A-Za-z_][\\w-]{0,127})>`, "y");
const PAIR = new RegExp(
  String.raw`<([^\s<>\/]{0,24}arg_key[^\s<>]{0,24})>\s*([A-Za-z_][\w.-]{0,127})\s*<\/\1>\s*` +
    String
      .raw`(?:<([^\s<>\/]{0,24}arg_type[^\s<>]{0,24})>[^<>]{0,40}<\/\3>\s*)?<([^\s<>\/]{0,24}arg_value[^\s<>]{0,24})>`,
  "y",
);

/** A closing tag that is left over after a call shows that a value held the tags, so that its end was misjudged. */
export const STRAY_TAG = /<\/[^\s<>]{0,24}(?:parameter|param|function|invoke|arg_key|arg_value)[^\s<>]{0,24}>/;

/** The opening of an argument: its name, the pattern of further openings, and its closing tag. */
interface Opening {
  key: string;
  open: RegExp;
  close: string;
  /** The value is JSON, as an attribute says. */
  json?: boolean;
  /** A namespace stands before each tag (MiniMax M3). */
  namespaced?: boolean;
  /** The value may be a section of character data (MiniCPM). */
  section?: boolean;
}

/** The syntax of a call, once its name is known. */
interface TaggedCall {
  name: string;
  /** Arguments that stand in its opening tag. */
  given?: RawArgument[];
  /** Moves over the tag that opens an argument. */
  open(cursor: Cursor): Opening | null;
  /** Tags that end the call. */
  close: readonly string[];
}

/**
 * Reads a call whose tag names the tool. Null when no such tag stands here, or nothing of a call follows it. `around`
 * is the name of the mark before it, whose closing tag ends the call as well.
 */
export function readTag(cursor: Cursor, context: CallContext, around: string | undefined): ParseResult | null {
  const tag = cursor.takePattern(CALL_TAG);
  if (tag === null) return readElement(cursor, context);
  const [, word = "", name = "", attributes = ""] = tag;
  const keys = propertiesOf(name, context);
  const given = attributeArguments(attributes, keys);
  // A tag that ends itself has no other arguments, and with none it only names the tool.
  if (/\/\s*$/.test(attributes)) return given.length === 0 ? null : callOf(name, given, context);
  cursor.takePattern(GAP);
  if (cursor.character === "{") return readArgumentsObject(cursor, { name, context });
  return readTagged(cursor, {
    given,
    name,
    close: [`</${word}>`, ...(around === undefined ? [] : [`</${around}>`])],
    open: (at) => openParameter(at) ?? openKey(at, keys),
  }, context);
}

/** Reads a call as an element that has the tool's name and holds one for each argument. */
function readElement(cursor: Cursor, context: CallContext): ParseResult | null {
  const [, name = "", first = ""] = cursor.takePattern(TOOL_TAG) ?? [];
  if (!isToolName(name) || meantParameter(first, propertiesOf(name, context)) === null) return null;
  const open = (at: Cursor): Opening | null => {
    const [, key] = at.takePattern(KEY_TAG) ?? [];
    return key === undefined ? null : { ...element(key), section: true };
  };
  return readTagged(cursor, { name, close: [`</${name}>`], open }, context);
}

/** Reads the rest of a call between pairs of tags; its name and the mark `around` stood before. */
export function readPairs(
  cursor: Cursor,
  call: { name: string; around: string },
  context: CallContext,
): ParseResult | null {
  return readTagged(cursor, {
    name: call.name,
    close: [`</${call.around}>`],
    open(at) {
      const found = at.takePattern(PAIR);
      const [, , key = "", , tag = ""] = found ?? [];
      return found && { ...element(tag), key };
    },
  }, context);
}

/** An argument in an element of that name. */
function element(key: string): Opening {
  return { key, open: new RegExp(RegExp.escape(`<${key}>`)), close: `</${key}>` };
}

function openParameter(cursor: Cursor): Opening | null {
  const namespaced = isNamespaced(cursor);
  const found = cursor.takePattern(PARAMETER_TAG);
  if (found === null) return null;
  const [, word = "", key = "", attributes = ""] = found;
  return {
    key,
    open: new RegExp(`<${RegExp.escape(word)}${NAME}`),
    close: `</${word}>`,
    json: /\bstring\s?=\s?["']?false/.test(attributes),
    namespaced,
    section: word.endsWith("param"),
  };
}

function openKey(cursor: Cursor, keys: Record<string, unknown>): Opening | null {
  const start = cursor.at;
  const namespaced = isNamespaced(cursor);
  const [, key = ""] = cursor.takePattern(KEY_TAG) ?? [];
  if (key !== "" && Object.hasOwn(keys, key)) {
    return { ...element(key), namespaced };
  }
  cursor.at = start;
  return null;
}

function isNamespaced(cursor: Cursor): boolean {
  return cursor.text.startsWith("[>[", cursor.at - "[>[".length);
}

/** Null when neither an argument nor an end follows: then the text is about the format. */
function readTagged(cursor: Cursor, call: TaggedCall, context: CallContext): ParseResult | null {
  const { name, given = [] } = call;
  const raw: RawArgument[] = [...given];
  for (;;) {
    cursor.takePattern(GAP);
    if (cursor.takeAny(call.close) !== null) break;
    const opening = call.open(cursor);
    if (opening === null) return raw.length === given.length ? null : { kind: "broken" };
    const value = readValue(cursor, { opening, call });
    if (value === null) return { kind: "broken" };
    raw.push([opening.key, value, opening.json]);
  }
  return callOf(name, raw, context);
}

function callOf(name: string, raw: readonly RawArgument[], context: CallContext): ParseResult {
  return parsedCall({ name, input: typedArguments(raw, parametersOf(name, context)) }, context);
}

const ENTITIES: Readonly<Record<string, string>> = { quot: '"', apos: "'", lt: "<", gt: ">", amp: "&" };

/** The arguments among the attributes of a tag: each by its name, or all of them as JSON in one. */
function attributeArguments(attributes: string, keys: Record<string, unknown>): RawArgument[] {
  const given: RawArgument[] = [];
  for (const [, key = "", double, single] of attributes.matchAll(/([A-Za-z_][\w-]*)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)) {
    const value = (double ?? single ?? "").replace(/&(quot|apos|lt|gt|amp);/g, (_, name) => ENTITIES[name] ?? "");
    const all = /^(?:arguments|args|parameters|input)$/.test(key) ? parseJson(value) : undefined;
    if (isRecord(all)) {
      const entries = Object.entries(all);
      given.push(
        ...entries.map(([name, one]): RawArgument =>
          typeof one === "string" ? [name, one] : [name, JSON.stringify(one), true]
        ),
      );
    } else if (meantParameter(key, keys) !== null) given.push([key, value]);
  }
  return given;
}

/**
 * Reads a value; the cursor is after its opening tag, and afterwards after its closing tag. Null when it is not
 * closed. Tags that open and close inside the value belong to it, and so does a closing tag that nothing of the call
 * follows.
 */
function readValue(cursor: Cursor, { opening, call }: { opening: Opening; call: TaggedCall }): string | null {
  const { text } = cursor;
  const start = cursor.at;
  const close = `${opening.namespaced === true ? `(?:${NAMESPACE})?` : ""}${RegExp.escape(opening.close)}`;
  if (opening.section === true && cursor.take(SECTION)) {
    const end = endOfValue(cursor, { tags: new RegExp(`(\\]\\]>${close})`, "g"), call });
    if (end !== null) return text.slice(start + SECTION.length, end);
    cursor.at = start;
  }
  const end = endOfValue(cursor, { tags: new RegExp(`(${close})|${opening.open.source}`, "g"), call });
  return end === null ? null : withoutFrame(text.slice(start, end));
}

const SECTION = "<![CDATA[";

/** Offset of what closes the value, over which the cursor moves; null when nothing does. */
function endOfValue(cursor: Cursor, { tags, call }: { tags: RegExp; call: TaggedCall }): number | null {
  let depth = 1;
  tags.lastIndex = cursor.at;
  for (let tag = tags.exec(cursor.text); tag !== null; tag = tags.exec(cursor.text)) {
    if (tag[1] === undefined) depth++;
    else if (depth > 1) depth--;
    else {
      cursor.at = tags.lastIndex;
      if (endsArgument(cursor, call)) return tag.index;
    }
  }
  return null;
}

/** Returns whether the call continues or ends here; leaves the cursor in its place. */
function endsArgument(cursor: Cursor, call: TaggedCall): boolean {
  const end = cursor.at;
  cursor.takePattern(GAP);
  const goesOn = cursor.takeAny(call.close) !== null || call.open(cursor) !== null;
  cursor.at = end;
  return goesOn;
}

/**
 * Cuts the newlines that templates put around a value: one after the opening tag, and one before the closing tag only
 * where there was one after the opening tag. Without that one the value stands between the tags as it is (GLM,
 * MiniMax, Seed-OSS), and the newline at its end is the last of a file.
 */
function withoutFrame(value: string): string {
  const opening = /^\r?\n/.exec(value)?.[0];
  return opening === undefined ? value : value.slice(opening.length).replace(/\r?\n$/, "");
}

/** An argument as the model wrote it; `json` when the call itself says that the value is no text. */
type RawArgument = readonly [name: string, value: string, json?: boolean];

/**
 * Gives written values the types that the schema states; what is a string by the schema, or not in it, stays text
 * whatever it looks like. Null when a name comes twice: which one is meant is unknown.
 */
export function typedArguments(
  raw: readonly RawArgument[],
  parameters: Record<string, unknown> | undefined,
): Record<string, unknown> | null {
  const properties = fieldsOf(parameters?.properties);
  const typed = new Map<string, unknown>();
  for (const [name, value, json = false] of raw) {
    if (typed.has(name)) return null;
    const stated = json ? parseJson(value.trim()) : undefined;
    typed.set(name, stated ?? typedText(value, properties[meantParameter(name, properties) ?? ""], parameters));
  }
  return Object.fromEntries(typed);
}
