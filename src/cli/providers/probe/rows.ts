/** The rows of the table: check, result, and the figures behind it with units and runs. */
import type { Figure, Findings, Outcome, ProbeReport } from "../../../provider/probe/findings.ts";
import { LABELS } from "./labels.ts";

/** One row: what was checked, the result in a word or two, the figures. */
export type Row = readonly [check: string, result: string, figures: string];

type Describe = { [K in keyof Findings]: (found: Findings[K]) => Row[] };

const DESCRIBE: Describe = {
  reachable: ({ listMs, models, listed, server }) => [
    row(
      "reachable",
      "yes",
      models === null ? "no list of models" : `${milliseconds(listMs)} (1 run), ${listedText(models, listed)}`,
    ),
    row("server", server?.label ?? "unknown", server?.gateway ? "a gateway: passes requests on to other servers" : ""),
  ],
  chat: ({ firstTokenMs, totalMs, answeredAs }) => [
    row(
      "chat",
      "yes",
      `first token after ${time(firstTokenMs)}, end after ${time(totalMs)} (1 run)` +
        (answeredAs === null ? "" : `; answered as ${answeredAs}`),
    ),
  ],
  windowClaimed: ({ tokens, source }) => [
    tokens === null
      ? row("window claimed", "unknown", "the server does not say")
      : row("window claimed", `${count(tokens)}`, `tokens, as ${source} says`),
  ],
  windowProved: provedRows,
  promptCache: (
    { promptTokens, estimated, coldFirstTokenMs, warmFirstTokenMs, tokensPerSecond, cachedTokens, kept },
  ) => [
    row(
      "first token",
      time(coldFirstTokenMs.median),
      `new prompt of ${about(promptTokens, estimated)}, ${runs(coldFirstTokenMs)}`,
    ),
    row("  again", time(warmFirstTokenMs.median), `same beginning, ${runs(warmFirstTokenMs)}`),
    row(
      "prompt cache",
      kept,
      cachedTokens > 0 ? `${count(cachedTokens)} tokens from the cache, says the server` : "by the two times above",
    ),
    row("tokens in", ...rate(tokensPerSecond, estimated)),
  ],
  generation: ({ tokensPerSecond, estimated, streaming, pieces, spanMs }) => [
    row("tokens out", ...rate(tokensPerSecond, estimated)),
    row("streaming", streaming, `${pieces} ${pieces === 1 ? "piece" : "pieces"} over ${time(spanMs)}`),
  ],
  toolCall: (found) => [row(LABELS.toolCall, ...call(found))],
  parallelCalls: (found) => [row(LABELS.parallelCalls, ...call(found))],
  nestedArguments: (found) => [row(LABELS.nestedArguments, ...call(found))],
  toolResult: ({ used, how }) => [
    row(LABELS.toolResult, used ? "used" : "not used", how === "native" ? "" : "as text"),
  ],
  textToolCall: (found) => [row(LABELS.textToolCall, found.correct ? "yes" : call(found)[0], found.detail)],
  jsonSchema: ({ support, detail }) => [row(LABELS.jsonSchema, support, detail)],
  edit: (found) => [row(LABELS.edit, ...call(found))],
  stop: ({ stopped, nextFirstTokenMs, usualFirstTokenMs }) => [
    row(
      LABELS.stop,
      stopped ? "yes" : "no",
      `next reply after ${time(nextFirstTokenMs)} (1 run)` +
        (usualFirstTokenMs === null ? "" : `, usually ${time(usualFirstTokenMs)}`),
    ),
  ],
};

/** All rows, in the order of the labels, reasoning last. */
export function rowsOf(report: ProbeReport): Row[] {
  const names = Object.keys(LABELS) as (keyof Findings)[];
  return [...names.flatMap((name) => outcomeRows(name, report)), ...reasoningRows(report)];
}

function outcomeRows<K extends keyof Findings>(name: K, report: ProbeReport): Row[] {
  const outcome: Outcome<Findings[K]> = report.checks[name];
  switch (outcome.kind) {
    case "done":
      return DESCRIBE[name](outcome.found);
    case "failed":
      return [row(LABELS[name], "failed", `${outcome.error.message} [${outcome.error.code}]`)];
    case "skipped":
      return [row(LABELS[name], "-", `not measured: ${outcome.reason}`)];
  }
}

function reasoningRows({ replies, checks }: ProbeReport): Row[] {
  if (replies.count === 0) return [];
  const seen = replies.withReasoning > 0;
  const needed = checks.toolResult.kind === "done" ? checks.toolResult.found.reasoningNeeded : null;
  const more = needed === null ? "" : needed ? "; the server wants it back" : "; the server does not want it back";
  return [
    row(
      "reasoning",
      seen ? "seen" : "not seen",
      `in ${replies.withReasoning} of ${replies.count} replies${seen ? more : ""}`,
    ),
  ];
}

function provedRows({ proved, tooLong, repeatsShort, steps, ended }: Findings["windowProved"]): Row[] {
  const label = LABELS.windowProved;
  if (!repeatsShort) return [row(label, "unclear", "a marker is not repeated from a short prompt either")];
  const tried = `start repeated from ${steps.filter(({ outcome }) => outcome === "repeated").length} of ${
    runs({ runs: steps.length })
  }`;
  const bad = steps.findLast(({ outcome }) => outcome !== "repeated");
  const parts = [
    tried,
    ...(tooLong === null || bad === undefined
      ? []
      : [`${bad.outcome === "refused" ? "refused" : "its start lost"} at ${count(tooLong)}`]),
    ...(ended === null ? [] : [`ended: ${ended}`]),
  ];
  return [row(label, proved === null ? "none" : count(proved), `tokens; ${parts.join("; ")}`)];
}

function row(check: string, result: string, figures: string): Row {
  return [check, result, figures];
}

function call({ how, correct, detail }: { how: string; correct: boolean; detail: string }): [string, string] {
  if (correct) return [how === "native" ? "yes" : "as text", detail];
  return [how === "cut" ? "unclear" : how === "native" || how === "text" ? "wrong" : "no", detail];
}

function rate(figure: Figure | null, estimated: boolean): [string, string] {
  if (figure === null) return ["-", "too fast to measure"];
  const value = figure.median >= 100 ? count(Math.round(figure.median)) : figure.median.toFixed(1);
  return [`${value}/s`, `tokens a second, ${runs(figure)}${estimated ? ", tokens estimated" : ""}`];
}

function runs({ runs, median }: { runs: number; median?: number }): string {
  if (median === undefined) return `${runs} ${runs === 1 ? "prompt" : "prompts"}`;
  return runs === 1 ? "1 run" : `median of ${runs} runs`;
}

function about(tokens: number, estimated: boolean): string {
  return `${estimated ? "about " : ""}${count(tokens)} tokens`;
}

function listedText(models: number, listed: boolean | null): string {
  return `${count(models)} ${models === 1 ? "model" : "models"} listed${listed === false ? ", this one is not" : ""}`;
}

function count(number: number): string {
  return Math.round(number).toLocaleString("en-US");
}

function milliseconds(value: number): string {
  return `${count(value)} ms`;
}

/** `120 ms`, `1.2 s`, `41 s`. */
function time(value: number): string {
  if (value < 1000) return milliseconds(value);
  return `${(value / 1000).toFixed(value < 10_000 ? 1 : 0)} s`;
}
