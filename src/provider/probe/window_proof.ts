/** How long may a prompt be before its start is lost? A marker in the first line is to be repeated. */
import { AgentcliError } from "../../errors.ts";
import { ProviderFailure } from "../failure.ts";
import { fillerText, holdsMarker, newMarker, newSeed } from "./filler.ts";
import type { ProvedWindow, WindowStep } from "./findings.ts";
import { question, type Subject } from "./subject.ts";
import { firstSizes, nextSize, type Search } from "./window_search.ts";

/** Tokens of the prompt that any window has room for. */
const SHORT_PROMPT = 200;
/** Tokens that the words around the filler and the chat template take. */
const AROUND = 80;
/** Further prompts between the longest that was repeated and the shortest that was not. */
const BISECTIONS = 3;

/** What the proof starts from. */
export interface ProofOptions {
  /** Tokens; null when the server says nothing. */
  claimed: number | null;
  /** Tokens of the longest prompt. */
  maxPrompt: number;
  signal: AbortSignal;
}

/** One prompt, and the size the next should have where its outcome tells (0 otherwise). */
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
    subject.note(`(prompt of about ${size.toLocaleString("en-US")} tokens)`);
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
  const asked = {
    messages: question(
      `The code word of this text is ${marker}. Remember it.\n\n${filler}\n\n` +
        "Which code word stands in the first line of this message? Reply with the code word alone.",
    ),
    maxTokens: replyTokens(Math.min(options.claimed ?? options.maxPrompt, options.maxPrompt)),
  };
  try {
    const { reply } = await subject.ask(asked, options);
    const { tokens, estimated } = subject.promptTokens(asked, reply);
    if (holdsMarker(`${reply.text}\n${reply.reasoning}`, marker)) {
      subject.learn(asked, reply);
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
