/** How fast is a prompt read, and does the server keep what it has read? */
import { fillerText, newSeed } from "./filler.ts";
import { figureOf, MEASURABLE, repeated } from "./figure.ts";
import type { PromptCache } from "./findings.ts";
import { question, type Subject } from "./subject.ts";

/** Tokens of the prompt, where the window has room for them. */
const PROMPT_TOKENS = 1000;
/** Milliseconds that must be saved before time alone shows a cache. */
const TELLING = 50;

/** One pair: a prompt that is new, and then one with the same beginning. */
interface Pair {
  coldMs: number;
  warmMs: number;
  promptTokens: number;
  estimated: boolean;
  cachedTokens: number;
}

/** Sends new prompts and, after each, one that begins the same. `window` is what the server claims, in tokens. */
export async function measurePromptCache(
  subject: Subject,
  options: { window: number | null; signal: AbortSignal },
): Promise<PromptCache> {
  const { signal } = options;
  const tokens = Math.min(PROMPT_TOKENS, Math.floor((options.window ?? PROMPT_TOKENS * 4) / 4));
  const pairs = await repeated(subject.clock, async (): Promise<Pair> => {
    const text = fillerText(tokens * subject.bytesPerToken, newSeed());
    const asked = (last: string) => ({ messages: question(`${text}\n\n${last}`), maxTokens: 16 });
    const first = asked("Say yes.");
    const cold = await subject.ask(first, { signal });
    subject.learn(first, cold.reply);
    const warm = await subject.ask(asked("Say no."), { signal });
    const { tokens: promptTokens, estimated } = subject.promptTokens(first, cold.reply);
    return {
      coldMs: cold.firstMs,
      warmMs: warm.firstMs,
      promptTokens,
      estimated,
      cachedTokens: warm.reply.usage?.cachedTokens ?? 0,
    };
  });
  const [first] = pairs;
  const cold = figureOf(pairs.map(({ coldMs }) => coldMs)) ?? { median: first.coldMs, runs: 1 };
  const warm = figureOf(pairs.map(({ warmMs }) => warmMs)) ?? { median: first.warmMs, runs: 1 };
  const cachedTokens = Math.max(...pairs.map((pair) => pair.cachedTokens));
  const times = { coldMs: cold.median, warmMs: warm.median };
  return {
    promptTokens: first.promptTokens,
    estimated: first.estimated,
    coldFirstTokenMs: cold,
    warmFirstTokenMs: warm,
    tokensPerSecond: figureOf(
      pairs.filter(({ coldMs }) => coldMs >= MEASURABLE).map((pair) => pair.promptTokens / pair.coldMs * 1000),
    ),
    cachedTokens,
    kept: cacheKept({ ...times, cachedShare: cachedTokens / first.promptTokens }),
  };
}

/** What the times, and the server's own word, say of its cache. */
export function cacheKept(
  seen: { coldMs: number; warmMs: number; cachedShare: number },
): PromptCache["kept"] {
  if (seen.cachedShare >= 0.5) return "yes";
  if (seen.coldMs - seen.warmMs >= TELLING && seen.warmMs <= seen.coldMs * 0.6) return "yes";
  return seen.coldMs < TELLING * 2 ? "unclear" : "no";
}
