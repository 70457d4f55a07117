/** Measures the window, and what happens at its end. */
import { grouped } from "../../platform/number.ts";
import { AgentcliError } from "../../errors.ts";
import { findWindows, inquire } from "../backends/inquiry.ts";
import { listModels, type ModelList } from "../backends/model_list.ts";
import { ProviderFailure } from "../failure.ts";
import { orNull } from "../http/fetch_json.ts";
import type { ClaimedWindow, ProvedWindow, Reachability, WindowStep } from "./findings.ts";
import { type Subject, userMessage } from "./subject.ts";

const WORDS = ("river stone window garden paper bridge market summer yellow kitchen morning letter silver forest " +
  "harbour music number island winter button pencil travel orange picture village record circle engine basket " +
  "corner feather candle").split(" ");
const LINE = 12;

/** The same seed gives the same text; texts of different seeds differ from the first words on. Plain ASCII. */
export function fillerText(bytes: number, seed: number): string {
  const lines: string[] = [];
  let state = seed >>> 0;
  let length = 0;
  while (length < bytes) {
    const words: string[] = [];
    for (let word = 0; word < LINE; word++) {
      // Numerical Recipes' generator: the result has to be reproducible, not random.
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      words.push(WORDS[state >>> 27] ?? "river");
    }
    const line = `${words.join(" ")}.\n`;
    lines.push(line);
    length += line.length;
  }
  return lines.join("").slice(0, Math.max(0, Math.round(bytes)));
}

/** A number for {@link fillerText} that no earlier prompt had. */
export function newSeed(): number {
  return crypto.getRandomValues(new Uint32Array(1))[0] ?? 1;
}

/** Something that cannot be guessed and is easy to repeat: a word of the list, and digits. */
export function newMarker(): string {
  const [word = 0, digits = 0] = crypto.getRandomValues(new Uint32Array(2));
  return `${WORDS[word % WORDS.length]}-${100_000 + digits % 900_000}`;
}

/** Returns whether `text` holds the marker, however its parts are joined. */
export function holdsMarker(text: string, marker: string): boolean {
  const [word = "", digits = ""] = marker.split("-");
  return new RegExp(`${word}[^a-z0-9]{0,5}${digits}`, "i").test(text);
}

/** Milliseconds for each of the small questions. */
const SMALL_TIMEOUT = 10_000;

export interface Reached {
  found: Reachability;
  list: ModelList | null;
}

/**
 * Asks for the list and recognizes the server. A server that answers without giving a list is reachable all the same;
 * throws when nothing answers (`provider_unreachable`, `provider_timeout`) and when the key is refused (`auth_failed`).
 */
export async function reach(subject: Subject, signal: AbortSignal): Promise<Reached> {
  const { client, endpoint, clock, model } = subject;
  const limits = { timeoutMs: SMALL_TIMEOUT, signal };
  const started = clock.monotonic();
  const list = await listModels(client, endpoint, limits).catch((error) => {
    const answered = error instanceof AgentcliError &&
      ["provider_error", "provider_busy", "invalid_reply"].includes(error.code);
    if (answered && !signal.aborted) return null;
    throw error;
  });
  const listMs = clock.monotonic() - started;
  const server = await inquire(client, endpoint, { answer: list, limits }).recognize();
  const listed = list === null ? null : list.models.some(({ id }) => id === model);
  return { found: { listMs, models: list?.models.length ?? null, listed, server }, list };
}

/** Asks after the first reply: what loads models on demand knows their window, and routers their state, only then. */
export async function claimedWindow(
  { client, endpoint, model }: Subject,
  reached: Reached | null,
  { signal }: { signal: AbortSignal },
): Promise<ClaimedWindow> {
  const limits = { timeoutMs: SMALL_TIMEOUT, signal };
  const before = reached?.list ?? null;
  const list = before === null ? null : await orNull(listModels(client, endpoint, limits), signal) ?? before;
  const server = reached?.found.server?.server ?? null;
  const window = (await findWindows(inquire(client, endpoint, { answer: list, limits }), server, [model])).get(model);
  return { tokens: window?.tokens ?? null, source: window?.source ?? null };
}

/** Known bounds, in tokens. */
export interface Search {
  /** The longest prompt whose start came back. */
  passed: number;
  /** The shortest whose start did not; null when there was none. */
  failed: number | null;
  /** The step that the last outcome suggests; 0 for none. */
  guess: number;
}

/** Shares of the claimed window. The last leaves room for the reply and for a count that is a little off. */
const SHARES = [0.25, 0.5, 0.9];
/** A smaller gap, in tokens and as a share of the larger size, is not worth a prompt. */
const GAP = { tokens: 256, share: 0.05 };

/** The sizes that are tried first, growing, none above `maxPrompt`. Without a claim `maxPrompt` takes its place. */
export function firstSizes(claimed: number | null, maxPrompt: number): number[] {
  const wanted = claimed === null
    ? [maxPrompt * 0.25, maxPrompt * 0.5, maxPrompt]
    : SHARES.map((share) => Math.min(claimed * share, maxPrompt));
  return [...new Set(wanted.map((size) => Math.floor(size)))];
}

/** The next size between what passed and what failed: the guess if it is between them, else the middle; null to end. */
export function nextSize({ passed, failed, guess }: Search): number | null {
  if (failed === null || failed - passed <= Math.max(GAP.tokens, failed * GAP.share)) return null;
  const size = Math.floor(guess > passed && guess < failed ? guess : (passed + failed) / 2);
  return size > passed && size < failed ? size : null;
}

/** Tokens of the prompt that any window has room for. */
const SHORT_PROMPT = 200;
/** Tokens that the words around the filler and the chat template take. */
const AROUND = 80;
/** Further prompts between the longest that was repeated and the shortest that was not. */
const BISECTIONS = 3;

interface ProofOptions {
  /** Tokens; null when the server does not say. */
  claimed: number | null;
  /** Tokens of the longest prompt. */
  maxPrompt: number;
  signal: AbortSignal;
}

/** One prompt, and the size that the next should have, if its outcome says (0 otherwise). */
interface Tried {
  step: WindowStep;
  guess: number;
  /** The window that a refusal named. */
  named: number | null;
}

/**
 * Sends prompts of growing length: a short one, then a quarter, half and nine tenths of the claimed window, and up to
 * three between the last that was repeated and the first that was not. What was found before a failure, the time limit
 * or an interrupt is kept; when there is nothing to keep, the failure is thrown.
 */
export async function proveWindow(subject: Subject, options: ProofOptions): Promise<ProvedWindow> {
  const found: ProvedWindow = {
    proved: null,
    tooLong: null,
    named: null,
    repeatsShort: false,
    steps: [],
    ended: null,
  };
  try {
    found.repeatsShort = (await attempt(subject, SHORT_PROMPT, options)).step.outcome === "repeated";
    if (found.repeatsShort) await search(subject, { options, found });
  } catch (error) {
    if (!(error instanceof AgentcliError) || found.steps.length === 0) throw error;
    found.ended = error.message;
  }
  return found;
}

async function search(subject: Subject, given: { options: ProofOptions; found: ProvedWindow }): Promise<void> {
  const { options, found } = given;
  const state: Search = { passed: SHORT_PROMPT, failed: null, guess: 0 };
  const take = async (size: number) => {
    subject.note(`(prompt of about ${grouped(size)} tokens)`);
    const { step, guess, named } = await attempt(subject, size, options);
    found.steps.push(step);
    found.named = named ?? found.named;
    if (step.outcome === "repeated") {
      state.passed = size;
      found.proved = step.tokens;
    } else {
      state.failed = size;
      found.tooLong = step.tokens;
    }
    state.guess = guess;
  };
  for (const size of firstSizes(options.claimed, options.maxPrompt)) {
    await take(size);
    if (state.failed !== null) break;
  }
  for (let step = 0; step < BISECTIONS; step++) {
    const size = nextSize(state);
    if (size === null) return;
    await take(size);
  }
}

async function attempt(subject: Subject, size: number, options: ProofOptions): Promise<Tried> {
  const marker = newMarker();
  const filler = fillerText((size - AROUND) * subject.bytesPerToken, newSeed());
  const request = {
    messages: userMessage(
      `The code word of this text is ${marker}. Remember it.\n\n${filler}\n\n` +
        "Which code word stands in the first line of this message? Reply with the code word alone.",
    ),
    maxTokens: replyTokens(Math.min(options.claimed ?? options.maxPrompt, options.maxPrompt)),
  };
  try {
    const { reply } = await subject.send(request, options);
    const { tokens, estimated } = subject.promptTokens(request, reply);
    if (holdsMarker(`${reply.text}\n${reply.reasoning}`, marker)) {
      subject.calibrate(request, reply);
      return { step: { tokens, outcome: "repeated" }, guess: 0, named: null };
    }
    // A count far below the size is what the server kept.
    const guess = !estimated && tokens < size * 0.8 ? tokens * 0.9 : 0;
    return { step: { tokens: size, outcome: "lost" }, guess, named: null };
  } catch (error) {
    // LM Studio overflows into an empty reply.
    if (!(error instanceof ProviderFailure) || (error.kind !== "context" && error.kind !== "empty")) throw error;
    const named = error.facts.contextWindow ?? null;
    return { step: { tokens: error.facts.promptTokens ?? size, outcome: "refused" }, guess: (named ?? 0) * 0.9, named };
  }
}

/** Room for a model that reasons first, and little enough to fit beside nine tenths of a small window. */
function replyTokens(window: number): number {
  return Math.min(256, Math.max(48, Math.round(window * 0.06)));
}
