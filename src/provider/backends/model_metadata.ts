/**
 * Caches model metadata across sessions, in `cache/servers.json` of the home: a run does not request again what
 * the one before found out. Everything in it is a hint; a file that cannot be read or written costs time and nothing
 * else.
 */
import type { Home } from "../../platform/home.ts";
import { fieldsOf, membersOf, tokens } from "../../platform/record.ts";
import type { ModelFacts } from "./backend.ts";
import { isToolCallFallback, type ToolCallFallback } from "./template_needs.ts";

const NAME = "cache/servers.json";
/** Raised when the shape changes: an older file is then not read. */
const LAYOUT = 1;
/** A server may be started again with another window at any time: half an hour. Milliseconds. */
const WINDOW_AGE = 30 * 60 * 1000;
/** Tool calling of a server changes with its version: a week. Milliseconds. */
const TOOLS_AGE = 7 * 24 * 60 * 60 * 1000;
/** Models kept; the ones learned of longest ago go first. */
const COUNT_LIMIT = 200;

/** A model on a server. */
export interface ModelAddress {
  baseUrl: string;
  model: string;
}

/** Cached metadata; unknown or outdated parts are absent. */
export interface ModelMetadata {
  /** Tokens; null: the server does not report it. */
  window?: number | null;
  /** Tokens; the server refused a longer prompt. */
  refusedWindow?: number;
  /** The same, from longer ago: for a server that tells nothing by itself. */
  formerWindow?: number;
  /** Id of its backend; null: not recognized. */
  server?: string | null;
  /** Further facts that the server reports; null for none. */
  told?: ModelFacts | null;
  /** Request fields that the server refuses. */
  refused?: readonly string[];
  /** By refusals. */
  toolCalls?: ToolCallFallback;
  /** From what the server reported of its chat template. */
  template?: ToolCallFallback;
}

/** An entry of the file. Times are milliseconds since 1970. */
interface Entry {
  window?: number | null;
  server?: string | null;
  told?: ModelFacts | null;
  refused?: readonly string[];
  refusedAt?: number;
  windowAt?: number;
  refusedWindow?: number;
  toolCalls?: ToolCallFallback;
  toolCallsAt?: number;
  template?: ToolCallFallback;
  templateAt?: number;
}

function keyOf({ baseUrl, model }: ModelAddress): string {
  return `${baseUrl} ${model}`;
}

/** Returns the cached metadata of a model. Never throws. */
export async function readModelMetadata(
  home: Home,
  address: ModelAddress,
  { now }: { now: number },
): Promise<ModelMetadata> {
  const entry = (await readEntries(home)).get(keyOf(address)) ?? {};
  const known: ModelMetadata = {};
  if (fresh(entry.windowAt, { now, age: WINDOW_AGE })) {
    if (entry.window !== undefined) known.window = entry.window;
    if (entry.server !== undefined) known.server = entry.server;
    if (entry.told !== undefined) known.told = entry.told;
    if (entry.refusedWindow !== undefined) known.refusedWindow = entry.refusedWindow;
  } else if (entry.refusedWindow !== undefined && fresh(entry.windowAt, { now, age: TOOLS_AGE })) {
    known.formerWindow = entry.refusedWindow;
  }
  if (entry.toolCalls !== undefined && fresh(entry.toolCallsAt, { now, age: TOOLS_AGE })) {
    known.toolCalls = entry.toolCalls;
  }
  if (entry.refused !== undefined && fresh(entry.refusedAt, { now, age: TOOLS_AGE })) known.refused = entry.refused;
  if (entry.template !== undefined && fresh(entry.templateAt, { now, age: TOOLS_AGE })) known.template = entry.template;
  return known;
}

/** A time ahead of the clock is none to trust. */
function fresh(at: number | undefined, { now, age }: { now: number; age: number }): boolean {
  return at !== undefined && at <= now && now - at < age;
}

/** Adds to what is known of a model; undefined with the key present forgets a part. Never throws. */
export async function storeModelMetadata(
  home: Home,
  address: ModelAddress,
  learned: { facts: ModelMetadata; now: number },
): Promise<void> {
  const { facts, now } = learned;
  try {
    await home.locked(NAME, async () => {
      const entries = await readEntries(home);
      const key = keyOf(address);
      const entry = entries.get(key) ?? {};
      // Put at the end, so that the order is that of learning.
      entries.delete(key);
      entries.set(key, {
        ...entry,
        ...facts,
        // What was found after a refusal stands in its place.
        ...("window" in facts ? { refusedWindow: facts.refusedWindow } : {}),
        ...("window" in facts ? { windowAt: now } : {}),
        ...("toolCalls" in facts ? { toolCallsAt: now } : {}),
        ...("refused" in facts ? { refusedAt: now } : {}),
        ...("template" in facts ? { templateAt: now } : {}),
      });
      const kept = [...entries].slice(-COUNT_LIMIT);
      await home.write(NAME, JSON.stringify({ layout: LAYOUT, models: Object.fromEntries(kept) }));
    });
  } catch {
    // What could not be kept is found out again next time.
  }
}

async function readEntries(home: Home): Promise<Map<string, Entry>> {
  try {
    const text = await home.read(NAME);
    const file = text === null ? {} : fieldsOf(JSON.parse(text));
    if (file["layout"] !== LAYOUT) return new Map();
    return new Map(Object.entries(fieldsOf(file["models"])).map(([key, value]) => [key, entryOf(value)]));
  } catch {
    return new Map();
  }
}

function entryOf(value: unknown): Entry {
  const fields = fieldsOf(value);
  const { server, toolCalls, template } = fields;
  const window = fields["window"] === null ? null : tokens(fields["window"]) ?? undefined;
  const refusedWindow = tokens(fields["refusedWindow"]);
  const [windowAt, toolCallsAt, templateAt, refusedAt] = ["windowAt", "toolCallsAt", "templateAt", "refusedAt"].map(
    (name) => timeOf(fields[name]),
  );
  const refused = membersOf(fields["refused"]).filter((name) => typeof name === "string");
  return {
    ...(window === undefined ? {} : { window }),
    ...(typeof server === "string" || server === null ? { server } : {}),
    ...(fields["told"] === undefined ? {} : { told: fields["told"] === null ? null : factsOf(fields["told"]) }),
    ...(refused.length === 0 || refusedAt === undefined ? {} : { refused, refusedAt }),
    ...(refusedWindow === null ? {} : { refusedWindow }),
    ...(windowAt === undefined ? {} : { windowAt }),
    ...(isToolCallFallback(toolCalls) ? { toolCalls } : {}),
    ...(toolCallsAt === undefined ? {} : { toolCallsAt }),
    ...(isToolCallFallback(template) ? { template } : {}),
    ...(templateAt === undefined ? {} : { templateAt }),
  };
}

function factsOf(value: unknown): ModelFacts {
  const { preservesReasoning, slots, samples } = fieldsOf(value);
  return {
    ...(typeof preservesReasoning === "boolean" ? { preservesReasoning } : {}),
    ...(typeof slots === "number" ? { slots } : {}),
    ...(samples === true ? { samples } : {}),
  };
}

function timeOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}
