/**
 * Caches model metadata across sessions, in `cache/servers.json` of the home: a run does not request again what
 * the one before found out. Everything in it is a hint; a file that cannot be read or written only costs
 * time.
 */
import type { Home } from "../../platform/home.ts";
import { fieldsOf, membersOf, parseJson, tokens } from "../../platform/record.ts";
import type { ModelFacts } from "./backend.ts";

const NAME = "cache/servers.json";
/** Incremented when the shape changes: an older file is then not read. */
const LAYOUT = 1;
/** A server may be started again with another window at any time: half an hour. Milliseconds. */
const WINDOW_AGE = 30 * 60 * 1000;
/** Tool calling of a server changes with its version: a week. Milliseconds. */
const TOOLS_AGE = 7 * 24 * 60 * 60 * 1000;
/** Models kept; those learned first are dropped first. */
const COUNT_LIMIT = 200;

const FALLBACKS = ["single", "text", "no_system"] as const;

/**
 * The form in which calls have to be sent to a server that does not take several in one message (`single`), none
 * (`text`), or neither them nor a system message (`no_system`).
 */
export type ToolCallFallback = typeof FALLBACKS[number];

/** The form in which calls have to be sent to the model; `native`: as they are. */
export type TemplateNeeds = ToolCallFallback | "native";

/** Returns whether a value is one of them. */
export function isToolCallFallback(value: unknown): value is ToolCallFallback {
  return FALLBACKS.some((name) => name === value);
}

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
  /** The same, from longer ago: for a server that reports nothing by itself. */
  formerWindow?: number;
  /** Id of its backend; null: not recognized. */
  server?: string | null;
  /** Further facts that the server reports; null for none. */
  facts?: ModelFacts | null;
  refused?: readonly string[];
  /** By refusals. */
  toolCalls?: ToolCallFallback;
  /** From what the server reported of its chat template. */
  template?: ToolCallFallback;
}

/** Parts that are stored with the time at which they were learned, in milliseconds since 1970. */
const STAMPED = ["window", "toolCalls", "refused", "template"] as const;

/**
 * How long each stored part is valid, from the time of which part, and how it is read: undefined for anything invalid.
 */
const PARTS: Readonly<
  Record<
    Exclude<keyof ModelMetadata, "formerWindow">,
    { learned: typeof STAMPED[number]; age: number; read(value: unknown): unknown }
  >
> = {
  window: { learned: "window", age: WINDOW_AGE, read: (value) => value === null ? null : tokens(value) ?? undefined },
  server: {
    learned: "window",
    age: WINDOW_AGE,
    read: (value) => typeof value === "string" || value === null ? value : undefined,
  },
  facts: { learned: "window", age: WINDOW_AGE, read: factsOf },
  refusedWindow: { learned: "window", age: WINDOW_AGE, read: (value) => tokens(value) ?? undefined },
  refused: { learned: "refused", age: TOOLS_AGE, read: namesOf },
  toolCalls: { learned: "toolCalls", age: TOOLS_AGE, read: fallbackOf },
  template: { learned: "template", age: TOOLS_AGE, read: fallbackOf },
};

function namesOf(value: unknown): string[] | undefined {
  const names = membersOf(value).filter((name) => typeof name === "string");
  return names.length === 0 ? undefined : names;
}

function fallbackOf(value: unknown): ToolCallFallback | undefined {
  return isToolCallFallback(value) ? value : undefined;
}

function factsOf(value: unknown): ModelFacts | null | undefined {
  if (value === null || value === undefined) return value;
  const { preservesReasoning, slots, samples } = fieldsOf(value);
  return {
    ...(typeof preservesReasoning === "boolean" ? { preservesReasoning } : {}),
    ...(typeof slots === "number" ? { slots } : {}),
    ...(samples === true ? { samples } : {}),
  };
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
  const entry = fieldsOf((await readEntries(home)).get(keyOf(address)));
  // A time ahead of the clock is not to be trusted.
  const isFresh = (at: unknown, age: number) => typeof at === "number" && at <= now && now - at < age;
  const known = Object.entries(PARTS).flatMap(([name, { learned, age, read }]) => {
    const value = isFresh(entry[`${learned}At`], age) ? read(entry[name]) : undefined;
    return value === undefined ? [] : [[name, value]];
  });
  const formerWindow = tokens(entry["refusedWindow"]);
  const isFormer = !isFresh(entry["windowAt"], WINDOW_AGE) && isFresh(entry["windowAt"], TOOLS_AGE);
  return { ...Object.fromEntries(known), ...(isFormer && formerWindow !== null ? { formerWindow } : {}) };
}

/** Adds to what is known of a model; undefined with the key present forgets a part. Never throws. */
export async function storeModelMetadata(
  home: Home,
  address: ModelAddress,
  { facts, now }: { facts: ModelMetadata; now: number },
): Promise<void> {
  try {
    await home.locked(NAME, async () => {
      const entries = await readEntries(home);
      const key = keyOf(address);
      const before = fieldsOf(entries.get(key));
      const times = STAMPED.filter((name) => name in facts).map((name) => [`${name}At`, now]);
      // Put at the end, so that the order is that of learning.
      entries.delete(key);
      entries.set(key, {
        ...before,
        // What was found after a refusal replaces it.
        ...("window" in facts ? { refusedWindow: undefined } : {}),
        ...facts,
        ...Object.fromEntries(times),
      });
      const kept = [...entries].slice(-COUNT_LIMIT);
      await home.write(NAME, JSON.stringify({ layout: LAYOUT, models: Object.fromEntries(kept) }));
    });
  } catch {
    // What could not be stored is found again next time.
  }
}

async function readEntries(home: Home): Promise<Map<string, unknown>> {
  const file = fieldsOf(parseJson(await home.read(NAME).catch(() => null) ?? ""));
  return new Map(file["layout"] === LAYOUT ? Object.entries(fieldsOf(file["models"])) : []);
}
