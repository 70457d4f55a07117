/**
 * The one row that says what is being waited for, from Enter to the end of the turn. Pure: the times are given.
 * Counters change once a second, whatever arrives in between: a fast model causes no more traffic than a slow one.
 */
import { clean } from "../../../terminal/clean.ts";
import { displayWidth, fit } from "../../../terminal/table.ts";
import { tokensText } from "../../run/text_output.ts";

/** The current activity. Times are monotonic milliseconds. */
export type Phase =
  /** Work besides the model, with its name. */
  | { kind: "work"; label: string }
  /** The server reads the prompt: its size and its new part, in tokens; null where that is unknown. */
  | { kind: "prompt"; tokens: number | null; fresh: number | null; progress: Progress | null }
  | { kind: "thinking"; words: string }
  /** `what`: the tool whose call is written. */
  | { kind: "writing"; bytes: number; what: string | null }
  | { kind: "running"; what: string }
  /** The next attempt is made at `until`. */
  | { kind: "retry"; reason: string; until: number; attempts: string }
  | { kind: "loading"; reason: string }
  | { kind: "answer" };

/** Tokens of the prompt that a server says it has read; `cached` of them it had from before. */
interface Progress {
  processed: number;
  total: number;
  cached: number;
}

export interface Activity {
  phase: Phase;
  since: number;
  /** When data came last. */
  heard: number;
}

/** Tokens a second, as measured before; null before any. */
export interface Rates {
  prefill: number | null;
}

/** Bytes of a token, where a server does not count. */
export const BYTES_PER_TOKEN = 4;
/** A stream that is silent for this long is reported. Milliseconds. */
const SILENT_MS = 3000;
/** Younger progress says nothing about the speed. Milliseconds. */
const SOON_MS = 300;

const STOPS = "Esc stops";

/** A time as people write it: 9s, 3m 20s. */
export function secondsText(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  return seconds < 60 ? `${seconds}s` : `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
}

/** Tokens a second, as people write it. */
export function rateText(rate: number): string {
  return `${rate < 10 ? rate.toFixed(1) : Math.round(rate)} t/s`;
}

/** Returns the row's text. */
export function activityText({ phase, since, heard }: Activity, { now, rates }: { now: number; rates: Rates }): string {
  const elapsed = secondsText(now - since);
  const isStream = phase.kind === "thinking" || phase.kind === "writing";
  if (isStream && now - heard >= SILENT_MS) return joined(`no data for ${secondsText(now - heard)}`, STOPS);
  switch (phase.kind) {
    case "work":
      return `${phase.label} ${elapsed}`;
    case "prompt":
      return promptText(phase, { spent: now - since, rates });
    case "thinking":
      return `thinking ${elapsed}${phase.words === "" ? "" : `: ${phase.words}`}`;
    case "writing": {
      const tokens = phase.bytes / BYTES_PER_TOKEN;
      const seconds = (now - since) / 1000;
      const what = phase.what === null ? "writing" : `writing a call of ${clean(phase.what)}`;
      return joined(
        `${what} ${elapsed}`,
        `${tokensText(tokens)} ${Math.round(tokens) === 1 ? "token" : "tokens"}`,
        seconds < 1 ? "" : rateText(tokens / seconds),
      );
    }
    case "running":
      return joined(`running ${phase.what} ${elapsed}`, STOPS);
    case "retry":
      return joined(phase.reason, `again in ${secondsText(phase.until - now + 999)}${phase.attempts}`, STOPS);
    case "loading":
      return joined(`${phase.reason} ${elapsed}`, STOPS);
    case "answer":
      return `waiting for your answer ${elapsed}`;
  }
}

function promptText(
  { tokens, fresh, progress }: Phase & { kind: "prompt" },
  { spent, rates }: { spent: number; rates: Rates },
): string {
  const sign = "processing prompt";
  if (progress !== null) {
    const { processed, total, cached } = progress;
    const rate = spent < SOON_MS ? null : (processed - cached) / (spent / 1000);
    const left = rate === null || rate <= 0 ? "" : `~${Math.ceil((total - processed) / rate)}s left`;
    const read = `${tokensText(processed)}/${tokensText(total)}`;
    const kept = cached > 0 ? `${tokensText(cached)} of ${tokensText(total)} cached` : "";
    return joined(`${sign} ${read}`, kept, rate === null || rate <= 0 ? "" : rateText(rate), left, STOPS);
  }
  if (tokens === null) return joined(`${sign} ${secondsText(spent)}`, STOPS);
  const rate = rates.prefill;
  const isDue = rate !== null && fresh !== null && (spent / 1000) * rate < fresh;
  if (!isDue) return joined(`${sign} ${tokensText(tokens)}`, secondsText(spent), STOPS);
  const read = (spent / 1000) * rate;
  const left = `~${Math.ceil((fresh - read) / rate)}s left`;
  return joined(`${sign} ~${tokensText(tokens - fresh + read)}/${tokensText(tokens)}`, rateText(rate), left, STOPS);
}

/** Returns what it costs that the server has to process these tokens again. */
export function costText(tokens: number, rate: number | null): string {
  const time = rate === null || tokens / rate < 1 ? "" : `, ~${secondsText((tokens / rate) * 1000)}`;
  return `the server has to process about ${tokensText(tokens)} tokens again${time}`;
}

/** Returns the last row of a turn: how long it took, and what it cost. */
export function doneText(
  { durationMs, usage, rate }: {
    durationMs: number;
    usage: { promptTokens: number; completionTokens: number; cachedTokens: number };
    rate: number | null;
  },
): string {
  const { promptTokens, completionTokens, cachedTokens } = usage;
  const cached = cachedTokens > 0 ? ` (${tokensText(cachedTokens)} cached)` : "";
  const counted = promptTokens > 0 || completionTokens > 0;
  return joined(
    `done in ${secondsText(durationMs)}`,
    counted ? `${tokensText(promptTokens)} in${cached}` : "",
    counted ? `${tokensText(completionTokens)} out` : "",
    rate === null ? "" : rateText(rate),
  );
}

/** The row in a width: details are dropped first, then words; its seconds and how to stop it stay. */
export function fitActivity(text: string, width: number): string {
  const parts = text.split(GAP);
  while (parts.length > 2 && displayWidth(parts.join(GAP)) > width) parts.splice(-2, 1);
  const [, words = "", seconds = ""] = /^(.*)( \d[\dms ]*s)$/.exec(parts[0] ?? "") ?? [];
  const rest = [seconds, ...parts.slice(1).map((part) => GAP + part)].join("");
  const room = width - displayWidth(rest);
  return words !== "" && room >= LEAST_WORDS ? fit(words, room) + rest : fit(parts.join(GAP), width);
}

/** The name of the activity is not cut below this. */
const LEAST_WORDS = 8;

/** Between the parts of a line. */
export const GAP = " · ";

/** Returns the first parts of a line, as many as fit. */
export function firstParts(parts: readonly string[], width: number): string {
  const fitting = parts.filter((_, at) => displayWidth(parts.slice(0, at + 1).join(GAP)) <= width);
  return fit((fitting.length === 0 ? parts.slice(0, 1) : fitting).join(GAP), width);
}

function joined(...parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join(GAP);
}
