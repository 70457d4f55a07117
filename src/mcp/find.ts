/**
 * Finds tools by words: BM25 over their names, descriptions and parameters, the same words always in the same order.
 */
import { rowsWithin } from "../platform/text.ts";
import { fieldsOf, textOf } from "../platform/record.ts";
import { firstSentence, type Manifest, type McpResource, type McpTool } from "./tool_info.ts";
import { merged, parameterList } from "./signature.ts";

export interface FoundServer {
  name: string;
  /** One line of the user, else of the server. */
  description: string;
  manifest: Manifest;
  /** Returns whether a tool may be found: one that is turned off may not. */
  isOffered(tool: McpTool): boolean;
}

const MOST_LINES = 5;
/** Bytes of an answer: 600 tokens of about four. */
const ANSWER_BYTES = 2_400;
/** Constants of BM25 as they are commonly chosen. */
const [K1, B] = [1.2, 0.75];
/** A word of the name counts as often as this many of the description. */
const NAME_WEIGHT = 3;

interface Entry {
  line: string;
  counts: Map<string, number>;
  length: number;
}

/** The name by which a model calls a tool through McpCall. */
export function callName(server: string, tool: string): string {
  return `${server}.${tool}`;
}

/** Returns `server.tool(arg: type) – first sentence`. */
export function toolLine(server: string, { name, schema, description }: McpTool): string {
  const said = firstSentence(description);
  return `${callName(server, name)}${parameterList(schema)}${said === "" ? "" : ` – ${said}`}`;
}

/** The name of the tool that reads a resource; servers with resources have it. */
export const READ_RESOURCE = "read_resource";

function resourceLine(server: string, { uri, name }: McpResource): string {
  return `${callName(server, READ_RESOURCE)}(uri: ${JSON.stringify(uri)}) – ${name}`;
}

/** Returns the answer to a query, for a model: at most five lines and 600 tokens. */
export function findTools(query: string, servers: readonly FoundServer[]): string {
  const wanted = [...new Set(wordsIn(query.slice(0, 1_000)))];
  const named = servers.filter(({ name }) => wordsIn(name).some((word) => wanted.includes(word)));
  const entries = servers.flatMap(entriesOf);
  const found = ranked(wanted, entries).slice(0, MOST_LINES).map(({ line }) => line);
  const about = named.filter(({ description }) => description !== "").slice(0, 2)
    .map(({ name, description }) => `${name}: ${firstSentence(description)}`);
  if (found.length > 0) return rowsWithin([...about, ...found], ANSWER_BYTES).kept.join("\n");
  const overview = servers.map((server) => {
    const names = server.manifest.tools.filter(server.isOffered).map(({ name }) => name);
    return `${server.name}: ${names.slice(0, 12).join(", ")}${names.length > 12 ? `, … (${names.length})` : ""}`;
  });
  const head = wanted.length === 0 ? "Tools by server:" : "No tool matches these words. Tools by server:";
  return rowsWithin([head, ...overview], ANSWER_BYTES).kept.join("\n");
}

function entriesOf(server: FoundServer): Entry[] {
  const { name, manifest } = server;
  const tools = manifest.tools.filter(server.isOffered).map((tool) => {
    const parameters = Object.entries(fieldsOf(merged(tool.schema, tool.schema).properties))
      .flatMap(([key, value]) => [key, textOf(fieldsOf(value).description)?.slice(0, 200) ?? ""]);
    return entryOf(toolLine(name, tool), [name, tool.name], [tool.description, ...parameters]);
  });
  const resources = manifest.resources.map((resource) =>
    entryOf(resourceLine(name, resource), [name, resource.name], [resource.uri, resource.description])
  );
  return [...tools, ...resources];
}

function entryOf(line: string, names: readonly string[], texts: readonly string[]): Entry {
  const counts = new Map<string, number>();
  let length = 0;
  const add = (text: string, weight: number) => {
    for (const word of wordsIn(text)) {
      counts.set(word, (counts.get(word) ?? 0) + weight);
      length += weight;
    }
  };
  for (const text of names) add(text, NAME_WEIGHT);
  for (const text of texts) add(text, 1);
  return { line, counts, length };
}

/** Best first; equals by their lines, so that no list's order decides. */
function ranked(wanted: readonly string[], entries: readonly Entry[]): Entry[] {
  const average = entries.reduce((sum, { length }) => sum + length, 0) / Math.max(entries.length, 1);
  const rarity = new Map(wanted.map((word) => {
    const holding = entries.filter(({ counts }) => counts.has(word)).length;
    return [word, Math.log(1 + (entries.length - holding + 0.5) / (holding + 0.5))];
  }));
  return entries
    .map((entry) => ({ entry, score: scoreOf(entry, { wanted, rarity, average }) }))
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score || (one.entry.line < other.entry.line ? -1 : 1))
    .map(({ entry }) => entry);
}

function scoreOf(
  { counts, length }: Entry,
  { wanted, rarity, average }: { wanted: readonly string[]; rarity: ReadonlyMap<string, number>; average: number },
): number {
  return wanted.reduce((sum, word) => {
    const count = counts.get(word) ?? 0;
    return sum + (rarity.get(word) ?? 0) * (count * (K1 + 1)) / (count + K1 * (1 - B + B * length / average));
  }, 0);
}

/** Words that stand in most questions and say nothing of a tool. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  "a an and by can for from i in is it me my of on or the this to tool with".split(" "),
);

/** `createIssue`, `create_issue` and `Create issues` are the same words. */
function wordsIn(text: string): string[] {
  return text.replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().match(/[\p{L}\p{N}]+/gu)?.map(stem)
    .filter((word) => !STOP_WORDS.has(word)) ?? [];
}

function stem(word: string): string {
  if (word.length > 4 && word.endsWith("ies")) return `${word.slice(0, -3)}y`;
  return word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
}
