/** Describes one kind of model server: a file for each kind beside this one, all of them in `backends.ts`. */
import type { ReceivedHeaders } from "../http/headers.ts";
import type { JsonResponse } from "../http/fetch_json.ts";
import { fieldsOf, membersOf, tokens } from "../../platform/record.ts";
import type { ModelList } from "./model_list.ts";
import type { TemplateNeeds } from "./model_metadata.ts";

/**
 * A kind of model server. Everything but how it is detected is left out where the server says nothing, or needs
 * nothing. Facts are those of the wire reference, §2 to §4 and §9, unless a file says otherwise.
 */
export interface Backend {
  /** As it is stored and compared: `llama.cpp`. */
  id: string;
  /** For people. */
  label: string;
  ports: readonly number[];
  /** Passes requests on to servers elsewhere: not local, whatever its address. */
  gateway?: true;

  // How it is detected: by the first of these that holds.
  /** `owned_by` of its models, lower case. */
  owners?: readonly string[];
  /** Anything else in its list, a refusal or the headers. */
  shows?(facts: Facts): boolean;
  /** Asked where neither says. */
  probe?: Probe;

  /** Checks the key where its list of models may be open to everybody: a path from the origin. */
  guardedPath?: string;
  /** Reads the window in force, never the trained maximum: in its list of models, or elsewhere. */
  window?: "list" | ((inquiry: Inquiry, models: readonly string[]) => Promise<Windows>);
  /** Windows in its list are those that models were trained with. */
  listsTrainedWindows?: true;
  /**
   * Makes it load a model, where only then the window is reported; `onLoading` is called before. Returns whether it
   * says that it did; false if there is nothing to load.
   */
  loadModel?(inquiry: Inquiry, model: string, onLoading: () => void): Promise<boolean>;
  /** Returns how to give a model a window of a number of tokens, as an imperative. */
  widen?(model: string, tokens: number): string;

  /** How to make it keep its prompt cache, as an imperative: from other clients, and where it has to go back in it. */
  keepCache?: { evicted: string; rewound?: string };

  /** Returns whether a model supports image input; null where it is not reported. Loads nothing. */
  vision?(inquiry: Inquiry, model: string): Promise<boolean | null>;
  /** Returns the form of tool calls that its chat template needs; null where it is not reported. Loads nothing. */
  templateNeeds?(inquiry: Inquiry, model: string): Promise<TemplateNeeds | null>;
  /** Returns what it says of a model besides its window; null where it says nothing. Loads nothing. */
  facts?(inquiry: Inquiry, model: string): Promise<ModelFacts | null>;
  /** Returns what it says of its models for people who choose one, by id. Loads nothing. */
  traits?(inquiry: Inquiry): Promise<ReadonlyMap<unknown, ModelTraits>>;
  /** Its names of sampling fields besides temperature and top_p; `zeros`: off is not its default, and is sent. */
  sampling?: { topK?: string; minP?: string; repeat?: string; zeros?: true };
  /** It hands `chat_template_kwargs` to the chat template. */
  templateKwargs?: true;
  /** Its fields for an answer without reasoning, where the template has no variable for it. */
  noThinking?: Record<string, unknown>;
  /** Its field for the number of a slot, where requests side by side have a cache each. */
  slotField?: string;
  requestFields?: Record<string, unknown>;
  /**
   * The fields with which it ends reasoning by itself; `thinkersOnly`: it refuses them for models that do not reason.
   */
  reasoningCap?: { fields(tokens: number): Record<string, unknown>; thinkersOnly?: true };
  /** Returns how to make it parse tool calls itself, as an imperative; `parser` is vLLM's name of one, if known. */
  readCalls?(parser: string | undefined): string;

  /**
   * Returns where a model runs, from what only this server reports; `here` too where the answers prove that another
   * server gave them, null where there were none. Asked of every local address: detection may be fooled, this must
   * not.
   */
  locality?(fetch: LocalityFetch, model: string): Promise<ModelLocality | null>;
  /** Returns what else it says of where its models run: for people, it decides nothing. */
  remark?(inquiry: Inquiry, run: RunForJson): Promise<Remark | null>;
  /** One name for all that mean the same model. */
  modelName?(id: string): string;

  /** Its words for errors, as parts of regular expressions without regard to letter case. */
  errors?: Partial<Record<QuirkKind, readonly string[]>>;
  /** The command that fetches a model, for an error that says it is not there. */
  fetchModel?: { when: RegExp; command(model: string): string };
}

/** Facts that a server reports about a model besides its window; unreported ones are absent. */
export interface ModelFacts {
  /** The chat template can show the reasoning of all turns (`preserve_reasoning`). */
  preservesReasoning?: boolean;
  /** Requests that are worked on side by side, each with a cache of its own. */
  slots?: number;
  /** Whoever started it, or the model's file, says how to sample. */
  samples?: true;
}

/** Facts that people choose a model by; unreported ones are absent. */
interface ModelTraits {
  /** Of its file. */
  bytes?: number;
  /** As it is usually written: `Q4_K_M`. */
  quantization?: string;
  isLoaded?: boolean;
  tools?: boolean;
  vision?: boolean;
}

/** Returns traits without those that an answer does not hold. */
export function traitsOf(reported: { [Name in keyof ModelTraits]?: unknown }): ModelTraits {
  const { bytes, quantization, isLoaded, tools, vision } = reported;
  return {
    ...typeof bytes === "number" && bytes > 0 ? { bytes } : {},
    ...typeof quantization === "string" && quantization !== "" ? { quantization: quantization.slice(0, 20) } : {},
    ...typeof isLoaded === "boolean" ? { isLoaded } : {},
    ...typeof tools === "boolean" ? { tools } : {},
    ...typeof vision === "boolean" ? { vision } : {},
  };
}

/** The kinds of errors for which servers have words of their own. */
export type QuirkKind =
  | "context"
  | "cloud_disabled"
  | "no_tools"
  | "no_images"
  | "tool_parse"
  | "loading"
  | "model"
  | "request"
  | "template";

/** Facts about a server before any special request. */
export interface Facts {
  /** Of the base URL; the default of the scheme where none is written. */
  port: number;
  headers: ReceivedHeaders;
  /** `owned_by` of the list, lower case. */
  owners: ReadonlySet<string>;
  /** Entries of the list as they came, at most 100. */
  entries: readonly Record<string, unknown>[];
  /** The list's answer, or that of the refusal. */
  body: unknown;
  /** The status of a refused list, else null. */
  refused: number | null;
  text: string;
}

/** An endpoint of the server's own, open without a key, that never makes it load a model. */
export interface Probe {
  /** From the origin. */
  path: string;
  /** Returns whether the facts speak for this server although its usual port does not. */
  suspected?(facts: Facts): boolean;
  /** Returns whether the answer proves it. Never by the status: LM Studio answers unknown paths with 200. */
  proves(answer: { json: unknown; text: string }): boolean;
}

export interface Recognized {
  /** `ollama`, `llama.cpp`, `lmstudio`, `vllm`, …: the id of a backend. */
  server: string;
  /** For people. */
  label: string;
  /** It passes requests on to servers elsewhere, whatever its address. */
  gateway: boolean;
}

/** A server that is asked; the same is not asked twice. */
export interface Inquiry {
  list: ModelList | null;
  /**
   * Returns the server, or null when nothing proves one. Its list, its headers, or its refusal decide where they can;
   * else one or two endpoints of the likely servers are requested, without the key, none of which loads a model.
   * Unreachable, slow and unreadable answers are no proof and no error; only the signal's reason is thrown.
   */
  recognize(): Promise<Recognized | null>;
  fetchList(): Promise<ModelList | null>;
  /** Fetches JSON at `path` of the origin, or of the base URL; undefined on failure. With a body it is a POST. */
  get(path: string, more?: { atBase?: boolean; body?: string }): Promise<unknown>;
}

/** Runs a program of the server's maker; undefined where it is not installed, fails, or prints no JSON. */
export type RunForJson = (program: string, words: readonly string[]) => Promise<unknown>;

export interface Remark {
  /** A clause for messages. */
  text: string;
  /** The advice; with it the remark is a warning. */
  hint?: string;
}

export interface ContextWindow {
  tokens: number;
  /** The path of the answer that says so, for messages. */
  source: string;
}

export type Windows = Map<string, ContextWindow>;

export type ModelLocality =
  /** `doubt` is for people: something odd that decides nothing. */
  | { kind: "here"; doubt?: string }
  /** `reason` is a clause for messages: "gpt-oss:120b-cloud is a cloud model". `inDoubt`: the server did not say. */
  | { kind: "remote"; reason: string; inDoubt?: true };

/** Asks from the origin. Null for no answer, which a failure of the server is too. */
export type LocalityFetch = (path: string, more?: { body?: string }) => Promise<JsonResponse | null>;

/** The models whose window is a plausible number of tokens. */
export function windowsOf(
  models: readonly string[],
  windowOf: (model: string) => unknown,
  { source }: { source: string },
): Windows {
  const windows: Windows = new Map();
  for (const model of models) {
    const count = tokens(windowOf(model));
    if (count !== null) windows.set(model, { tokens: count, source });
  }
  return windows;
}

/** The records of a list in an answer; none where there is no such list. */
export function rowsIn(answer: unknown, name: string): Record<string, unknown>[] {
  return membersOf(fieldsOf(answer)[name]).map(fieldsOf);
}

/** `value` where it is a boolean, else null. */
export function booleanOf(value: unknown): boolean | null {
  return typeof value === "boolean" ? value : null;
}

/** Returns whether a list has one of the words; null where there is no list. */
export function listsAny(value: unknown, words: readonly string[]): boolean | null {
  return Array.isArray(value) ? words.some((word) => value.includes(word)) : null;
}

/** The `server` header. */
export function serverHeader(facts: Facts): string {
  return facts.headers.get("server") ?? "";
}

/** A test for a header whose name begins with `prefix`. */
export function hasHeader(prefix: string): (facts: Facts) => boolean {
  return (facts) => [...facts.headers.keys()].some((name) => name.startsWith(prefix));
}

/** Returns whether the list has entries and all of them pass. */
export function everyEntry(facts: Facts, test: (entry: Record<string, unknown>) => boolean): boolean {
  return facts.entries.length > 0 && facts.entries.every(test);
}
