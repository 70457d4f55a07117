/** How requests to one model are made beside their messages: sampling, reasoning, and the server's own fields. */
import { grouped } from "../../platform/number.ts";
import type { ModelEntry } from "../../config/types.ts";
import type { Backend, ModelFacts } from "../backends/backend.ts";
import { fieldsOf, isRecord } from "../../platform/record.ts";
import { type Family, familyOf, type Sampling } from "./families.ts";

/** One fact about a profile, for people. */
export interface ProfileRow {
  name: "sampling" | "reasoning" | "reasoning limit";
  value: string;
  /** Who says so. */
  why: string;
}

export interface RequestProfile {
  /** Fields of each request; `params:` of the configuration stands above them. */
  fields: Record<string, unknown>;
  keepsReasoning: boolean;
  /** Further fields of requests that are not the session's own: summaries. */
  sideFields: Record<string, unknown>;
  /** Fields with which the model answers without reasoning. */
  noThinking: Record<string, unknown>;
  /** Most tokens of reasoning of one response; null for no limit. */
  reasoningLimit: number | null;
  rows: ProfileRow[];
}

interface ProfileOptions {
  entry: ModelEntry;
  /** Of `--temperature`. */
  temperature: number | undefined;
  local: boolean;
  contextWindow: number;
  /** Null where it is not recognized. */
  backend: Backend | undefined;
  facts: ModelFacts;
}

const SAMPLING_FIELDS = ["temperature", "top_p", "top_k", "min_p", "presence_penalty", "frequency_penalty"] as const;
const MORE_SAMPLING_FIELDS = ["repeat_penalty", "repetition_penalty", "typical_p", "mirostat", "samplers"] as const;

/** Most tokens of reasoning, where the configuration names no limit: more is a loop more often than a thought. */
const REASONING_LIMIT = 4096;

/** Returns the profile of a model on its server. */
export function requestProfile(options: ProfileOptions): RequestProfile {
  const { entry, local, backend, facts } = options;
  const family = familyOf(entry.id);
  const own = local || (backend !== undefined && backend.gateway !== true);
  const sampling = samplingOf(options, { family, own });
  const reasoning = reasoningOf(options, family);
  const limit = limitOf(options, { family, own });
  const kwargs = backend?.templateKwargs === true ? reasoning.kwargs : {};
  return {
    fields: {
      ...backend?.requestFields,
      ...sampling.fields,
      ...limit.fields,
      ...(Object.keys(kwargs).length === 0 ? {} : { chat_template_kwargs: kwargs }),
    },
    sideFields: backend?.slotField === undefined || (facts.slots ?? 1) < 2 ? {} : { [backend.slotField]: 0 },
    keepsReasoning: reasoning.keeps,
    noThinking: { ...NO_THINKING, ...backend?.noThinking, ...family?.noThinking },
    reasoningLimit: limit.tokens,
    rows: [sampling.row, reasoning.row, limit.row],
  };
}

/** How much a model is told to reason. */
export const THINKING = ["on", "off", "low", "medium", "high"] as const;
export type Thinking = typeof THINKING[number];

/** Returns whether a word says how much to reason. */
export function isThinking(word: string): word is Thinking {
  return THINKING.some((known) => known === word);
}

/** Tokens of reasoning where a model knows no effort; 0 for no limit. */
export const EFFORT_TOKENS: Readonly<Record<Thinking, number | undefined>> = {
  ...{ on: undefined, off: undefined },
  ...{ low: 1024, medium: 4096, high: 0 },
};

/** The profile of a session that was told how much to reason, in the words that its model takes. */
export function withThinking(profile: RequestProfile, thinking: Thinking | undefined): RequestProfile {
  if (thinking === undefined) return profile;
  const { fields, noThinking } = profile;
  if (thinking === "off") return { ...profile, fields: mergedFields(fields, noThinking) };
  const switches = Object.entries(fieldsOf(noThinking["chat_template_kwargs"])).map(([name]) => [name, true] as const);
  const effort = thinking === "on" ? "medium" : thinking;
  return {
    ...profile,
    fields: mergedFields(fields, {
      ...switches.length === 0 ? {} : { chat_template_kwargs: Object.fromEntries(switches) },
      ...noThinking["reasoning_effort"] === undefined ? {} : { reasoning_effort: effort },
    }),
  };
}

/** For models whose family is not known: most templates that can reason know this name. */
const NO_THINKING = { chat_template_kwargs: { enable_thinking: false } };

/** A profile that adds nothing: for servers that are not known, and for tests. */
export function plainProfile(entry: Pick<ModelEntry, "reasoning">): RequestProfile {
  const keepsReasoning = entry.reasoning === "keep";
  return { fields: {}, sideFields: {}, keepsReasoning, noThinking: NO_THINKING, reasoningLimit: null, rows: [] };
}

/** The fields of a request: those of the profile under those of the configuration, template variables one by one. */
export function mergedFields(
  profile: Record<string, unknown>,
  configured: Record<string, unknown> = {},
): Record<string, unknown> {
  const [below, above] = [profile["chat_template_kwargs"], configured["chat_template_kwargs"]];
  const both = isRecord(below) && isRecord(above) ? { chat_template_kwargs: { ...below, ...above } } : {};
  return { ...profile, ...configured, ...both };
}

function samplingOf(
  { entry, temperature, backend, facts }: ProfileOptions,
  { family, own }: { family: Family | undefined; own: boolean },
): { fields: Record<string, unknown>; row: ProfileRow } {
  const given = [...SAMPLING_FIELDS, ...MORE_SAMPLING_FIELDS].filter((name) =>
    fieldsOf(entry.params)[name] !== undefined
  );
  const nothing = (value: string, why: string) => ({ fields: {}, row: { name: "sampling" as const, value, why } });
  if (temperature !== undefined) return nothing(`temperature ${temperature}`, "--temperature");
  if (given.length > 0) {
    const values = given.map((name) => `${name} ${JSON.stringify(fieldsOf(entry.params)[name])}`);
    return nothing(values.join(", "), "params in providers.yaml");
  }
  if (facts.samples === true) return nothing("server default", "server command line or model file");
  if (family?.sampling === undefined) return nothing("server default", "no published values for this model");
  if (!own) return nothing("server default", "left to the remote service");
  const fields = namedSampling(family.sampling, backend);
  const value = Object.entries(fields).map(([name, number]) => `${name} ${number}`).join(", ");
  return { fields, row: { name: "sampling", value, why: `${family.name}: ${family.source}` } };
}

/** The values under the names of the server; off is the default of all but those that say otherwise. */
function namedSampling(
  { temperature, topP, topK, minP, repeat }: Sampling,
  backend: Backend | undefined,
): Record<string, number> {
  const names = backend?.sampling ?? {};
  const fields: Record<string, number> = { temperature };
  if (topP !== undefined) fields["top_p"] = topP;
  for (const [name, value] of [[names.topK, topK], [names.minP, minP], [names.repeat, repeat]] as const) {
    if (name !== undefined && value !== undefined && (value !== 0 || names.zeros === true)) fields[name] = value;
  }
  return fields;
}

function reasoningOf(
  { entry, facts }: ProfileOptions,
  family: Family | undefined,
): { keeps: boolean; kwargs: Record<string, unknown>; row: ProfileRow } {
  const [keeps, why] = entry.reasoning !== undefined
    ? [entry.reasoning === "keep", "reasoning in providers.yaml"]
    : facts.preservesReasoning === true
    ? [true, "reported by the server: the chat template shows it"]
    : family?.keepsReasoning === true
    ? [true, `${family.name}: ${family.source}`]
    : [false, family?.name ?? "the default"];
  // One name for all templates, where the server knows what each calls it.
  const kwargs = facts.preservesReasoning === true ? { preserve_reasoning: true } : family?.keepSwitch ?? {};
  const value = keeps ? "sent back with the history" : "not sent back";
  return { keeps, kwargs: keeps ? kwargs : {}, row: { name: "reasoning", value, why } };
}

function limitOf(
  { entry, contextWindow, backend }: ProfileOptions,
  { family, own }: { family: Family | undefined; own: boolean },
): { tokens: number | null; fields: Record<string, unknown>; row: ProfileRow } {
  const none = (why: string) => ({
    tokens: null,
    fields: {},
    row: { name: "reasoning limit" as const, value: "none", why },
  });
  if (entry.maxReasoning === 0) return none("max_reasoning in providers.yaml");
  if (entry.maxReasoning === undefined && !own) return none("left to the remote service");
  const tokens = entry.maxReasoning ?? Math.max(Math.min(REASONING_LIMIT, Math.floor(contextWindow / 4)), 1);
  const cap = backend?.reasoningCap;
  // What does not reason has no need of a field that a server may refuse.
  const fields = cap === undefined || (cap.thinkersOnly === true && family?.noThinking === undefined)
    ? {}
    : cap.fields(tokens);
  const value = `${grouped(tokens)} tokens`;
  const by = Object.keys(fields).length > 0 ? "enforced by the server" : "then one retry without reasoning";
  const who = entry.maxReasoning === undefined ? "the default" : "max_reasoning in providers.yaml";
  return { tokens, fields, row: { name: "reasoning limit", value: `${value}, ${by}`, why: who } };
}
