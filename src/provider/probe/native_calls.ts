/** Does the server take tools, and does the model call them as the protocol says? */
import { ProviderFailure } from "../failure.ts";
import type { ChatReply, ToolSchema } from "../types.ts";
import { type CallCheck, checkEvent, judgeCalls, weatherOf } from "./calls.ts";
import type { CallFinding, NoTools } from "./findings.ts";
import { EVENT, WEATHER } from "./sample_tools.ts";
import { question, type Subject } from "./subject.ts";

/** Tokens of a reply with calls: room for a model that reasons first. */
export const CALL_TOKENS = 1024;
/** What the single call is asked for with; its result is sent back later. */
export const WEATHER_QUESTION = "What is the weather in Paris? Use the tool.";

/** A finding with the reply it comes from; without one where the server takes no tools. */
export interface Called {
  found: CallFinding | NoTools;
  reply: ChatReply | null;
}

interface Wanted {
  prompt: string;
  tools: ToolSchema[];
  check: CallCheck;
}

const SINGLE: Wanted = { prompt: WEATHER_QUESTION, tools: [WEATHER], check: weatherOf("Paris") };
const PARALLEL: Wanted = {
  prompt: "What is the weather in Paris and in Oslo? Call the tool once for each city, both calls in the same reply.",
  tools: [WEATHER],
  check: weatherOf("Paris", "Oslo"),
};
const NESTED: Wanted = {
  prompt: "Create an event with the title Review, in Oslo, room 12, with the guests Ada and Grace. Use the tool.",
  tools: [EVENT],
  check: checkEvent,
};

async function call(subject: Subject, wanted: Wanted, signal: AbortSignal): Promise<Called> {
  const { prompt, tools, check } = wanted;
  try {
    const asked = { messages: question(prompt), tools, maxTokens: CALL_TOKENS };
    const { reply } = await subject.ask(asked, { signal });
    return { found: judgeCalls(reply, { tools, check }), reply };
  } catch (error) {
    if (!refusesTools(error)) throw error;
    return {
      found: { how: "refused", correct: false, detail: "the server takes no tools with this model" },
      reply: null,
    };
  }
}

/** Every other part of the request was taken without tools before, so a refusal of the request is one of the tools. */
function refusesTools(error: unknown): boolean {
  if (!(error instanceof ProviderFailure)) return false;
  return error.kind === "no_tools" || error.kind === "template" ||
    (error.kind === "request" && (error.facts.status ?? 0) >= 400);
}

/** One call of one tool. */
export async function singleCall(subject: Subject, signal: AbortSignal): Promise<Called> {
  return await call(subject, SINGLE, signal);
}

/** Two calls in one reply. */
export async function parallelCalls(subject: Subject, signal: AbortSignal): Promise<CallFinding | NoTools> {
  return (await call(subject, PARALLEL, signal)).found;
}

/** Objects and lists as arguments. */
export async function nestedArguments(subject: Subject, signal: AbortSignal): Promise<CallFinding | NoTools> {
  return (await call(subject, NESTED, signal)).found;
}
