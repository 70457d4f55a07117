/**
 * The manifest of an MCP server: its tools, prompts and resources, cleaned of what could deceive; and its stored form.
 */
import { shortened } from "../platform/text.ts";
import { fieldsOf, isRecord, type JsonRecord, membersOf, parseJson, stringsOf, textOf } from "../platform/record.ts";
import { hasValidHeaders } from "./header_parameters.ts";
import type { Home } from "../platform/home.ts";

export interface McpTool {
  /** As the server calls it. */
  name: string;
  /** Cleaned and cut. */
  description: string;
  /** As the server sent it: arguments are checked by it, and it is never sent to a model. */
  schema: JsonRecord;
  /** The server says that it changes nothing: a hint for the text of a question, never a permission. */
  readOnly: boolean;
}

/** One prompt of a server, which is a command of the chat. */
interface McpPrompt {
  name: string;
  description: string;
  arguments: { name: string; required: boolean }[];
}

export interface McpResource {
  uri: string;
  name: string;
  description: string;
}

/** Everything that a session needs to know of a server before its first call. */
export interface Manifest {
  /** As the server names itself. */
  title: string;
  revision: string;
  tools: McpTool[];
  prompts: McpPrompt[];
  resources: McpResource[];
  /** Milliseconds since 1970. */
  fetched: number;
  /** Milliseconds for which the server says that its lists are valid; null where it does not say. */
  ttl: number | null;
}

/** Characters of a description that are shown to a model or a person. */
const DESCRIPTION_LIMIT = 300;
/** Characters of a name. */
const NAME_LIMIT = 200;

// Control characters, characters that change the direction of text, invisible spaces, variation selectors and tag
// characters: what a person does not see on the screen must not reach the model.
const INVISIBLE =
  /[\p{Cc}\p{Cf}\u034f\u115f\u1160\u17b4\u17b5\u2028\u2029\u3164\ufe00-\ufe0f\uffa0\u{e0000}-\u{e0fff}]/gu;

// deno-lint-ignore no-control-regex -- colors of a terminal leave their parameters behind otherwise
const COLORS = /\x1b\[[0-9;]{0,20}m/g;

/** Returns a text of a server as one line without invisible characters, at most `limit` characters long. */
export function cleanText(text: string, limit: number = DESCRIPTION_LIMIT): string {
  // A text of megabytes costs no more than its beginning.
  const line = text.slice(0, limit * 8).replace(COLORS, "").replace(/[\n\r\t]/g, " ").replace(INVISIBLE, "").replace(
    / {2,}/g,
    " ",
  ).trim();
  return shortened(line, limit);
}

/** Characters of a sentence. */
const SENTENCE_LIMIT = 140;

/** Returns the first sentence of a description. */
export function firstSentence(text: string): string {
  const end = /[.!?](?=\s|$)/.exec(text);
  return cleanText(end === null ? text : text.slice(0, end.index + 1), SENTENCE_LIMIT);
}

/** Returns a tool as a server lists it; null for anything else. */
export function toolOf(value: unknown): McpTool | null {
  const { name, description, title, inputSchema, annotations } = fieldsOf(value);
  const known = nameOf(name);
  const schema = isRecord(inputSchema) ? inputSchema : {};
  if (known === null || !hasValidHeaders(schema)) return null;
  return {
    name: known,
    description: cleanText(textOf(description) ?? textOf(title) ?? ""),
    schema,
    readOnly: fieldsOf(annotations).readOnlyHint === true,
  };
}

/** Returns a prompt as a server lists it; null for anything else. */
export function promptOf(value: unknown): McpPrompt | null {
  const { name, description, title, arguments: listed } = fieldsOf(value);
  const known = nameOf(name);
  if (known === null) return null;
  const words = membersOf(listed).flatMap((one) => {
    const word = nameOf(fieldsOf(one).name);
    return word === null ? [] : [{ name: word, required: fieldsOf(one).required === true }];
  });
  return { name: known, description: cleanText(textOf(description) ?? textOf(title) ?? ""), arguments: words };
}

/** Returns a resource as a server lists it; null for anything else. */
export function resourceOf(value: unknown): McpResource | null {
  const { uri, name, title, description } = fieldsOf(value);
  const known = textOf(uri);
  if (known === null || known !== cleanText(known, 2_000)) return null;
  const shown = cleanText(textOf(title) ?? textOf(name) ?? known, NAME_LIMIT);
  return { uri: known, name: shown, description: cleanText(textOf(description) ?? "") };
}

/** A name is sent back as it came, so one that cannot be shown unchanged is invalid. */
function nameOf(value: unknown): string | null {
  const name = textOf(value);
  return name === null || name !== cleanText(name, NAME_LIMIT) ? null : name;
}

/**
 * Returns what a person approved of a server: all words of its tools and its title, in an order that the server cannot
 * choose.
 */
export function toolsText({ title, tools }: Pick<Manifest, "title" | "tools">): string {
  const words = tools.map(({ name, description, schema }) => [name, description, ...[...stringsOf(schema)].sort()]);
  return JSON.stringify([title, ...words.sort()]);
}

/** Incremented whenever the stored shape or its meaning changes. */
const LAYOUT = 1;
/** Characters of a stored manifest; a larger one is requested every time. */
const LIMIT = 8 * 1024 * 1024;

function fileOf(hash: string): string {
  return `cache/mcp/${hash.slice(0, 32)}.json`;
}

/** Returns what is stored for a configuration; null for nothing usable. Never throws for damage. */
export async function readManifest(home: Home, hash: string): Promise<Manifest | null> {
  const value = parseJson(await home.read(fileOf(hash)).catch(() => null) ?? "");
  if (!isRecord(value) || value.layout !== LAYOUT || !isRecord(value.manifest)) return null;
  const { tools, prompts, resources, fetched, revision, title } = value.manifest;
  const whole = [tools, prompts, resources].every(Array.isArray) && typeof fetched === "number" &&
    typeof revision === "string" && typeof title === "string";
  return whole ? value.manifest as unknown as Manifest : null;
}

/** Stores a manifest. One that cannot be written only costs a start later. */
export async function storeManifest(home: Home, hash: string, manifest: Manifest): Promise<void> {
  const text = JSON.stringify({ layout: LAYOUT, manifest });
  if (text.length <= LIMIT) await home.write(fileOf(hash), text).catch(() => {});
}

/** Forgets a manifest, so that the next session asks. */
export async function forgetManifest(home: Home, hash: string): Promise<void> {
  await home.remove(fileOf(hash)).catch(() => {});
}

/** Returns whether the lists have expired by the server's own word. */
export function isStale({ fetched, ttl }: Manifest, now: number): boolean {
  return ttl !== null && now > fetched + ttl;
}
