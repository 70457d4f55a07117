/** The checks of replies: the first, how fast they come, what the prompt cache keeps, schemas, and breaking off. */
import { AgentcliError } from "../../errors.ts";
import type { Clock } from "../../platform/io.ts";
import { ProviderFailure } from "../failure.ts";
import { isRecord, parseJson } from "../../platform/record.ts";
import type { ChatResponse } from "../types.ts";
import { fillerText, newSeed } from "./window_checks.ts";
import type { Figure, FirstReply, Generation, JsonSchemaFinding, PromptCache, StopFinding } from "./findings.ts";
import { type Subject, type TimedReply, userMessage } from "./subject.ts";

/** Runs of a measurement that is quick. */
const RUNS = 3;
/** Milliseconds; a rate over a shorter time is mostly noise. */
const MEASURABLE = 5;
/** Milliseconds after which no further run of the same measurement begins. */
const ENOUGH = 15_000;

/** The median, and how many there were; null of none. */
export function figureOf(values: readonly number[]): Figure | null {
  const sorted = values.toSorted((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half];
  if (upper === undefined) return null;
  const median = sorted.length % 2 === 1 ? upper : (upper + (sorted[half - 1] ?? upper)) / 2;
  return { median, runs: sorted.length };
}

/** Repeats `run` three times, or fewer when slow. A failure ends it: the first is thrown, later ones are not. */
export async function repeated<T>(clock: Clock, run: () => Promise<T>): Promise<[T, ...T[]]> {
  const started = clock.monotonic();
  const results: [T, ...T[]] = [await run()];
  while (results.length < RUNS && clock.monotonic() - started < ENOUGH) {
    try {
      results.push(await run());
    } catch (error) {
      if (!(error instanceof AgentcliError)) throw error;
      break;
    }
  }
  return results;
}

/** Asks for a greeting. Throws what the request throws, and `empty_reply` for a reply with nothing in it. */
export async function firstReply(subject: Subject, signal: AbortSignal): Promise<FirstReply> {
  const request = { messages: userMessage("Say hello in one short sentence."), maxTokens: 256 };
  const { reply, firstMs, endMs } = await subject.send(request, { signal });
  if (reply.text.trim() === "" && reply.reasoning === "" && reply.calls.length === 0) {
    throw new AgentcliError("empty_reply", `${subject.endpoint.provider} sent an empty reply to a greeting`, {
      hint: "look at the server's log: the model or its chat template may be broken",
    });
  }
  const other = reply.model !== null && reply.model !== subject.model ? reply.model : null;
  return { firstTokenMs: firstMs, totalMs: endMs, answeredAs: other };
}

/** Tokens of one measured reply. */
const REPLY_TOKENS = 128;
/** Characters of a token, where the server does not count. */
const CHARACTERS_PER_TOKEN = 4;
/** One write of a server arrives in a few reads, as the buffers grow: only more than these are a stream. */
const READS_OF_ONE_WRITE = 4;
/** A reply of fewer tokens is too short to measure. */
const SHORT_REPLY = 20;

/** Asks for a text of a known kind and length, up to three times. */
export async function measureGeneration(subject: Subject, signal: AbortSignal): Promise<Generation> {
  const request = {
    messages: userMessage("Count from 1 to 100, the numbers separated by commas."),
    maxTokens: REPLY_TOKENS,
  };
  const runs = await repeated(subject.clock, () => subject.send(request, { signal }));
  const rates = runs.map(rateOf).filter((rate) => rate !== null);
  const most = runs.reduce((best, run) => run.pieces > best.pieces ? run : best);
  const verdicts = runs.map(streamingOf);
  const [first] = runs;
  return {
    tokensPerSecond: figureOf(rates),
    estimated: runs.some(({ reply }) => (reply.usage?.completionTokens ?? 0) === 0),
    firstTokenMs: figureOf(runs.map(({ firstMs }) => firstMs)) ?? { median: first.firstMs, runs: 1 },
    streaming: verdicts.includes("yes") ? "yes" : verdicts.includes("no") ? "no" : "unclear",
    pieces: most.pieces,
    spanMs: most.lastMs - most.firstMs,
  };
}

/** Tokens of a reply: as the server counted, else from its length. */
function tokensOf({ reply }: Pick<TimedReply, "reply">): number {
  const counted = reply.usage?.completionTokens ?? 0;
  return counted > 0 ? counted : Math.ceil((reply.text.length + reply.reasoning.length) / CHARACTERS_PER_TOKEN);
}

/** Tokens a second from the first token on, or over the whole time where the reply came in one piece. */
export function rateOf(run: TimedReply): number | null {
  const tokens = tokensOf(run);
  const streamed = streamingOf(run) === "yes";
  const time = streamed ? run.lastMs - run.firstMs : run.endMs;
  if (time < MEASURABLE || tokens < 2) return null;
  return (streamed ? tokens - 1 : tokens) / time * 1000;
}

/** Returns whether a reply arrived over time: in more reads than one write makes. */
export function streamingOf(run: Pick<TimedReply, "reply" | "pieces">): Generation["streaming"] {
  const tokens = tokensOf(run);
  if (run.pieces > READS_OF_ONE_WRITE || (run.pieces > 1 && run.pieces >= tokens / 2)) return "yes";
  return tokens < SHORT_REPLY ? "unclear" : "no";
}

/** Tokens of the prompt, where the window has room for them. */
const PROMPT_TOKENS = 1000;
/** Milliseconds that must be saved before time alone shows a cache. */
const TELLING = 50;

/** Sends new prompts and, after each, one that begins the same. `window` is what the server claims, in tokens. */
export async function measurePromptCache(
  subject: Subject,
  options: { window: number | null; signal: AbortSignal },
): Promise<PromptCache> {
  const { signal } = options;
  const tokens = Math.min(PROMPT_TOKENS, Math.floor((options.window ?? PROMPT_TOKENS * 4) / 4));
  const pairs = await repeated(subject.clock, async () => {
    const text = fillerText(tokens * subject.bytesPerToken, newSeed());
    const request = (last: string) => ({ messages: userMessage(`${text}\n\n${last}`), maxTokens: 16 });
    const first = request("Say yes.");
    const { reply, firstMs: coldMs } = await subject.send(first, { signal });
    subject.calibrate(first, reply);
    const warm = await subject.send(request("Say no."), { signal });
    const cachedTokens = warm.reply.usage?.cachedTokens ?? 0;
    return { coldMs, warmMs: warm.firstMs, cachedTokens, ...subject.promptTokens(first, reply) };
  });
  const [first] = pairs;
  const cold = figureOf(pairs.map(({ coldMs }) => coldMs)) ?? { median: first.coldMs, runs: 1 };
  const warm = figureOf(pairs.map(({ warmMs }) => warmMs)) ?? { median: first.warmMs, runs: 1 };
  const cachedTokens = Math.max(...pairs.map((pair) => pair.cachedTokens));
  const times = { coldMs: cold.median, warmMs: warm.median };
  return {
    promptTokens: first.tokens,
    estimated: first.estimated,
    coldFirstTokenMs: cold,
    warmFirstTokenMs: warm,
    tokensPerSecond: figureOf(
      pairs.filter(({ coldMs }) => coldMs >= MEASURABLE).map((pair) => pair.tokens / pair.coldMs * 1000),
    ),
    cachedTokens,
    kept: cacheKept({ ...times, cachedShare: cachedTokens / first.tokens }),
  };
}

/** Reads the state of the server's cache from the times and from the counts it reports. */
export function cacheKept(
  seen: { coldMs: number; warmMs: number; cachedShare: number },
): PromptCache["kept"] {
  if (seen.cachedShare >= 0.5) return "yes";
  if (seen.coldMs - seen.warmMs >= TELLING && seen.warmMs <= seen.coldMs * 0.6) return "yes";
  return seen.coldMs < TELLING * 2 ? "unclear" : "no";
}

const SCHEMA = {
  type: "object",
  properties: { capital: { type: "string" }, letters: { type: "integer" } },
  required: ["capital", "letters"],
  additionalProperties: false,
};
const FIELD = "response_format";

/** Asks under a schema. A server that names the field in its refusal does not take it. */
export async function checkJsonSchema(subject: Subject, signal: AbortSignal): Promise<JsonSchemaFinding> {
  try {
    const { reply, retries } = await subject.send({
      messages: userMessage("What is the capital of Norway, and how many letters has its name?"),
      maxTokens: 512,
      params: { [FIELD]: { type: "json_schema", json_schema: { name: "capital", schema: SCHEMA } } },
    }, { signal });
    if (retries.some((reason) => reason.endsWith(`without ${FIELD}`))) return refused();
    return checkSchemaReply(reply);
  } catch (error) {
    if (error instanceof ProviderFailure && error.kind === "request" && [400, 422].includes(error.facts.status ?? 0)) {
      return refused();
    }
    throw error;
  }
}

/** Checks a reply under the schema. A cut one proves nothing, unless it began with words. */
export function checkSchemaReply({ text, finish }: Pick<ChatResponse, "text" | "finish">): JsonSchemaFinding {
  const problem = schemaProblem(text);
  if (problem === null) return { support: "yes", detail: "" };
  // llama-server holds a small model to the schema, which then writes one string up to the limit.
  const couldFit = finish === "length" && /^\s*(?:\{|$)/.test(text);
  return couldFit
    ? { support: "unclear", detail: "no end before the token limit" }
    : { support: "ignored", detail: problem };
}

function refused(): JsonSchemaFinding {
  return { support: "refused", detail: `the server does not take ${FIELD}` };
}

/** Returns how a text violates the schema; null when it does not. */
export function schemaProblem(text: string): string | null {
  const value = parseJson(text);
  if (value === undefined) return "the reply is no JSON";
  if (!isRecord(value)) return "the reply is no object";
  const fits = typeof value["capital"] === "string" && Number.isInteger(value["letters"]) &&
    Object.keys(value).length === 2;
  return fits ? null : "the reply has other fields than the schema";
}

/** Tokens that a server would go on writing. */
const LONG_REPLY = 2048;
/** The next reply may take this much longer than usual: a server needs a moment to notice. */
const ALLOWED = { times: 3, plusMs: 1000 };

/**
 * Breaks a long reply off at its first piece and asks for a short one. `usualMs` is the time to the first token of a
 * short prompt; null where it is not known. Servers that write several replies at once are recognized by their speed
 * alone.
 */
export async function checkStop(
  subject: Subject,
  options: { usualMs: number | null; signal: AbortSignal },
): Promise<StopFinding> {
  const { usualMs, signal } = options;
  await breakOff(subject, signal);
  const request = { messages: userMessage("Say yes."), maxTokens: 16 };
  const { firstMs } = await subject.send(request, { signal });
  const stopped = firstMs <= ALLOWED.plusMs + ALLOWED.times * (usualMs ?? 0);
  return { nextFirstTokenMs: firstMs, usualFirstTokenMs: usualMs, stopped };
}

async function breakOff(subject: Subject, signal: AbortSignal): Promise<void> {
  const leaving = new AbortController();
  const left = new AgentcliError("interrupted", "broken off on purpose");
  try {
    await subject.send({
      messages: userMessage("Count from 1 to 1000, each number in words on a line of its own. Do not leave any out."),
      maxTokens: LONG_REPLY,
    }, { signal: AbortSignal.any([signal, leaving.signal]), onPiece: () => leaving.abort(left) });
  } catch (error) {
    if (signal.aborted || error !== left) throw error;
  }
}
