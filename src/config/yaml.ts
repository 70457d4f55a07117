/**
 * YAML read with limits: nesting, aliases and repeated keys are bounded or refused, and nothing of the text gets into
 * an error. The one module that imports the YAML library; import it lazily, it is not needed while the cache holds.
 */
import {
  Composer,
  Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  type Pair,
  Parser,
  visit,
  type YAMLMap,
  type YAMLSeq,
} from "npm:yaml@2.9.1";

export { isAlias, isMap, isPair, isScalar, isSeq } from "npm:yaml@2.9.1";
export type { Node, Pair, YAMLMap, YAMLSeq } from "npm:yaml@2.9.1";

/** A place in a document: keys and list indexes from the top. */
export type KeyPath = readonly (string | number)[];

/** Open constructs of the parser; a level of nesting opens about two. */
const STACK_LIMIT = 200;
/** Times that anchors may be repeated in all (a "billion laughs" needs more). */
const ALIAS_LIMIT = 100;
/** Characters of a file. */
const TEXT_LIMIT = 1024 * 1024;

/** An error in a YAML text, with the offset of the character. Quotes nothing of the text. */
export class YamlProblem extends Error {
  override readonly name = "YamlProblem";
  constructor(message: string, readonly offset: number) {
    super(message);
  }
}

export interface ParsedYaml {
  text: string;
  document: Document.Parsed;
  lines: LineCounter;
}

// The library's own messages quote the text (tags, escapes, aliases), so each code has its own sentence here.
const PROBLEMS: Record<string, string> = {
  ALIAS_PROPS: "an alias cannot have an anchor or a tag",
  BAD_ALIAS: "this alias is not valid",
  BAD_DIRECTIVE: "this directive is not valid",
  BAD_DQ_ESCAPE: "this escape in a quoted text is not valid",
  BAD_INDENT: "the indentation is wrong here, or a bracket above is not closed",
  BAD_SCALAR_START: "a text cannot start with this character without quotes",
  BLOCK_AS_IMPLICIT_KEY: "a key and its value cannot start here: is a line break or a quote missing?",
  BLOCK_IN_FLOW: "an indented block cannot stand inside brackets",
  MISSING_CHAR: "a closing quote, bracket, comma or colon is missing",
  MULTILINE_IMPLICIT_KEY: "a key must stand on one line: is a colon missing?",
  MULTIPLE_DOCS: "the file must be one document: remove the `---` lines",
  TAB_AS_INDENT: "tabs cannot be used for indentation",
  UNEXPECTED_TOKEN: "this was not expected here",
};

function* boundedTokens(text: string, lines: LineCounter) {
  const parser = new Parser(lines.addNewLine);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    // The parser is a loop, but what follows it recurses: deep nesting must end here.
    if (parser.stack.length > STACK_LIMIT) throw new YamlProblem("the nesting is too deep", parser.offset);
  }
  yield* parser.end();
}

/** Parses one document. Throws {@link YamlProblem}. */
export function parseYaml(text: string): ParsedYaml {
  if (text.length > TEXT_LIMIT) throw new YamlProblem("the file is larger than 1 MiB", 0);
  const lines = new LineCounter();
  // Repeated keys are checked in `normalize`: the library compares each with each.
  const composer = new Composer({ keepSourceTokens: true, prettyErrors: false, uniqueKeys: false, logLevel: "silent" });
  const documents = [...composer.compose(boundedTokens(text, lines), true, text.length)];
  const document = documents[0];
  if (document === undefined) throw new YamlProblem("the file is not YAML", 0);
  const error = document.errors[0];
  if (error) throw new YamlProblem(PROBLEMS[error.code] ?? "this is not valid YAML", error.pos[0]);
  if (documents.length > 1) {
    throw new YamlProblem("the file must be one document: remove the `---` lines", documents[1]?.range[0] ?? 0);
  }
  const parsed = { text, document: document as Document.Parsed, lines };
  normalize(parsed.document.contents, { keys: [], literal: false });
  return parsed;
}

/** The first place where a file of one or more documents is not YAML; null for none. Quotes nothing of the text. */
export function structureProblem(text: string): { line: number; message: string } | null {
  const lines = new LineCounter();
  const composer = new Composer({ prettyErrors: false, uniqueKeys: false, logLevel: "silent" });
  try {
    for (const { errors } of composer.compose(boundedTokens(text, lines), true, text.length)) {
      const error = errors.find(({ code }) => code in PROBLEMS);
      if (error !== undefined) return { line: lines.linePos(error.pos[0]).line, message: PROBLEMS[error.code] ?? "" };
    }
    return null;
  } catch (error) {
    if (error instanceof YamlProblem) return null;
    throw error;
  }
}

// Values of these keys are text even where YAML sees a number or a truth value: `api_key: 123456`, `id: 007`.
const TEXT_KEYS = new Set([
  "api_key",
  "alias",
  "id",
  "base_url",
  "ca_file",
  "default_provider",
  "default_model",
]);
const TEXT_MAPS = new Set(["headers", "roles"]);

/** Refuses keys that are not words or occur twice, and takes text as written where text is meant. */
function normalize(node: unknown, place: { keys: readonly string[]; literal: boolean }): void {
  if (isMap(node)) {
    const seen = new Set<string>();
    for (const pair of node.items) {
      const key = keyText(pair);
      const offset = offsetOf(pair.key) ?? 0;
      if (key === null) throw new YamlProblem("a key must be a word", offset);
      if (seen.has(key)) throw new YamlProblem("this key is there twice", offset);
      seen.add(key);
      if (isScalar(pair.key)) pair.key.value = key;
      const keys = [...place.keys, key];
      const inParams = keys.includes("params") || keys.includes("engines");
      const literal = !inParams && (TEXT_KEYS.has(key) || TEXT_MAPS.has(place.keys.at(-1) ?? ""));
      normalize(pair.value, { keys, literal });
    }
  } else if (isSeq(node)) {
    for (const item of node.items) {
      normalize(item, { ...place, literal: place.literal && place.keys.at(-1) === "alias" });
    }
  } else if (isScalar(node) && place.literal && node.value !== null && typeof node.value !== "string") {
    node.value = node.source ?? String(node.value);
  }
}

function offsetOf(node: unknown): number | undefined {
  return (node as Node | null)?.range?.[0];
}

/** The key of a pair as text; null when it is a list or a mapping. */
export function keyText(pair: Pair): string | null {
  if (!isScalar(pair.key)) return null;
  // The source, not the value: a name of twenty digits is no number.
  return typeof pair.key.value === "string" ? pair.key.value : pair.key.source ?? String(pair.key.value);
}

/**
 * The document as plain data; `__proto__` is an ordinary key. Throws {@link YamlProblem} for too many or circular
 * aliases.
 */
export function plainValue(parsed: ParsedYaml): unknown {
  try {
    const value: unknown = parsed.document.toJS({ maxAliasCount: ALIAS_LIMIT });
    JSON.stringify(value); // throws for a circle
    return value;
  } catch {
    throw new YamlProblem("anchors and aliases are repeated too often or in a circle", 0);
  }
}

/**
 * The value node at a path; undefined when nothing is there. Aliases on the way are followed, unless it has to be its
 * `own`.
 */
export function nodeAt(parsed: ParsedYaml, path: KeyPath, { own = false }: { own?: boolean } = {}): unknown {
  let node: unknown = parsed.document.contents;
  for (const part of path) {
    if (!own && isAlias(node)) node = node.resolve(parsed.document);
    if (isMap(node)) node = pairOf(node, String(part))?.value;
    else if (isSeq(node)) node = node.items[Number(part)];
    else return undefined;
  }
  return node;
}

/** The pair of a mapping with that key. */
export function pairOf(map: YAMLMap, key: string): Pair | undefined {
  return map.items.find((pair) => keyText(pair) === key);
}

/** Line and column, from 1, of the value at `path` (or of its `key`), else of the nearest thing above it. */
export function positionOf(
  parsed: ParsedYaml,
  path: KeyPath,
  options: { key?: boolean } = {},
): { line: number; column: number } {
  for (let length = path.length; length > 0; length--) {
    const above = nodeAt(parsed, path.slice(0, length - 1));
    const holder = isAlias(above) ? above.resolve(parsed.document) : above;
    const pair = isMap(holder) ? pairOf(holder, String(path[length - 1])) : undefined;
    // A wrong value is located itself; something missing, by the key of what it is missing from.
    const offset = length === path.length && pair && !options.key ? valueOffset(pair) : offsetOf(pair?.key);
    const found = offset ?? (isSeq(holder) ? offsetOf((holder as YAMLSeq).items[Number(path[length - 1])]) : undefined);
    if (found !== undefined) return positionAt(parsed.text, found);
  }
  return { line: 1, column: 1 };
}

function valueOffset(pair: Pair): number | undefined {
  const empty = isScalar(pair.value) && pair.value.value === null;
  return empty ? offsetOf(pair.key) : offsetOf(pair.value) ?? offsetOf(pair.key);
}

/** Line and column, from 1, of an offset. */
export function positionAt(text: string, offset: number): { line: number; column: number } {
  const before = text.slice(0, offset);
  const start = before.lastIndexOf("\n") + 1;
  return { line: before.split("\n").length, column: offset - start + 1 };
}

/** `value` as YAML in block style, lists of plain words in brackets, without line folding, ending with a line feed. */
export function blockText(value: unknown): string {
  const document = new Document(value);
  visit(document, {
    Seq(_, list) {
      if (list.items.length > 0 && list.items.every((item) => isScalar(item))) list.flow = true;
    },
  });
  return document.toString({ lineWidth: 0 });
}
