/** How fast does the model write, and does its text arrive while it writes? */
import { figureOf, MEASURABLE, repeated } from "./figure.ts";
import type { Generation } from "./findings.ts";
import { question, type Subject, type TimedReply } from "./subject.ts";

/** Tokens of one measured reply. */
const REPLY_TOKENS = 128;
/** Characters of a token, where the server does not count. */
const CHARACTERS_PER_TOKEN = 4;
/** One write of a server arrives in a few reads, as the buffers grow: only more than these are a stream. */
const READS_OF_ONE_WRITE = 4;
/** A reply of fewer tokens is too short to tell by. */
const SHORT_REPLY = 20;

/** Asks for a text of a known kind and length, up to three times. */
export async function measureGeneration(subject: Subject, signal: AbortSignal): Promise<Generation> {
  const asked = {
    messages: question("Count from 1 to 100, the numbers separated by commas."),
    maxTokens: REPLY_TOKENS,
  };
  const runs = await repeated(subject.clock, () => subject.ask(asked, { signal }));
  const rates = runs.map(rateOf).filter((rate) => rate !== null);
  const most = runs.reduce((best, run) => run.pieces > best.pieces ? run : best);
  const verdicts = runs.map(streamingOf);
  const [first] = runs;
  return {
    tokensPerSecond: figureOf(rates),
    estimated: runs.some(({ reply }) => !isCounted(reply.usage?.completionTokens)),
    firstTokenMs: figureOf(runs.map(({ firstMs }) => firstMs)) ?? { median: first.firstMs, runs: 1 },
    streaming: verdicts.includes("yes") ? "yes" : verdicts.includes("no") ? "no" : "unclear",
    pieces: most.pieces,
    spanMs: most.lastMs - most.firstMs,
  };
}

function isCounted(tokens: number | undefined): boolean {
  return tokens !== undefined && tokens > 0;
}

/** Tokens of a reply: as the server counted, else from its length. */
function tokensOf({ reply }: Pick<TimedReply, "reply">): number {
  const counted = reply.usage?.completionTokens;
  if (counted !== undefined && counted > 0) return counted;
  return Math.ceil((reply.text.length + reply.reasoning.length) / CHARACTERS_PER_TOKEN);
}

/** Tokens a second from the first token on, or over the whole time where the reply came in one piece. */
export function rateOf(run: TimedReply): number | null {
  const tokens = tokensOf(run);
  const streamed = streamingOf(run) === "yes";
  const time = streamed ? run.lastMs - run.firstMs : run.endMs;
  if (time < MEASURABLE || tokens < 2) return null;
  return (streamed ? tokens - 1 : tokens) / time * 1000;
}

/** Whether a reply arrived over time: in more reads than one write makes. */
export function streamingOf(run: Pick<TimedReply, "reply" | "pieces">): Generation["streaming"] {
  const tokens = tokensOf(run);
  if (run.pieces > READS_OF_ONE_WRITE || (run.pieces > 1 && run.pieces >= tokens / 2)) return "yes";
  return tokens < SHORT_REPLY ? "unclear" : "no";
}
