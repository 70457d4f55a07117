/** The report of a probe: a table that fits the terminal and the verdict, or one JSON object. */
import { counted, grouped } from "../../../platform/number.ts";
import {
  type Figure,
  type Findings,
  learnt,
  type Outcome,
  probeError,
  type ProbeReport,
  verdictOf,
} from "../../../provider/probe/findings.ts";
import type { ProfileRow } from "../../../provider/profiles/profile.ts";
import type { Endpoint } from "../../../provider/types.ts";
import { clean } from "../../../terminal/clean.ts";
import { plainText, span } from "../../../terminal/style.ts";
import { displayWidth, fit, table } from "../../../terminal/table.ts";
import { wrap } from "../../../terminal/wrap.ts";
import { snakeKeys } from "../../result.ts";
import type { Stored } from "./run.ts";

/** Cells between two columns of a table. */
const GAP = 2;
/** Narrower than this, in cells, figures are cut instead of wrapped. */
const NARROWEST = 20;
/** Cells of a result; what servers call themselves may be longer. */
const RESULT_WIDTH = 16;

/** Heading, table and verdict; `width` in cells. Everything from outside is cleaned. */
export function reportText(
  report: ProbeReport,
  subject: { endpoint: Endpoint; model: string; width: number; profile: readonly ProfileRow[] },
): string {
  const { endpoint, model, width } = subject;
  const rows = [...rowsOf(report), ...subject.profile.map(profileRow)].map((
    [check, result, figures],
  ): [string, string, string] => [
    check,
    fit(clean(result), RESULT_WIDTH),
    clean(figures),
  ]);
  const all: [string, string, string][] = [["CHECK", "RESULT", "FIGURES"], ...rows];
  const columnWidth = (column: 0 | 1) => Math.max(...all.map((row) => displayWidth(row[column])));
  const room = Math.max(NARROWEST, width - columnWidth(0) - columnWidth(1) - 2 * GAP);
  const lines = all.flatMap(([check, result, figures]) =>
    wrap([span(figures)], { width: room }).map((
      line,
      at,
    ) => [...at === 0 ? [check, result] : ["", ""], plainText(line)])
  );
  const place = endpoint.local ? "local" : "remote";
  const heading = [`${endpoint.provider}:${clean(model)}`, `${clean(endpoint.baseUrl)} (${place})`];
  const seconds = (report.elapsedMs / 1000).toFixed(report.elapsedMs < 10_000 ? 1 : 0);
  return `${heading.map((line) => fit(line, width)).join("\n")}\n\n` +
    `${table(lines, { width })}\n` +
    `fit for agent turns: ${verdictOf(report).text}\n` +
    `${report.interrupted ? "interrupted" : "measured"} after ${seconds} s, ${report.replies.count} replies\n`;
}

/** Returns the lines about `--write`, old → new. */
export function storedLines({ provider, model, path, changed, fields }: Stored): string[] {
  const shown = (value: string | number | null) =>
    value === null ? "(not set)" : typeof value === "number" ? `${grouped(value)} tokens` : value;
  const changes = fields.filter((field) => field.old !== field.new);
  return [
    "",
    ...changes.map((field) => `${field.field}: ${shown(field.old)} → ${shown(field.new)}`),
    changed ? `wrote ${provider}:${clean(model)} in ${clean(path)}` : `nothing to change in ${clean(path)}`,
  ];
}

/** In the order of the table. */
export const LABELS: Readonly<Record<keyof Findings, string>> = {
  reachable: "reachable",
  chat: "chat",
  windowClaimed: "window claimed",
  windowProved: "window proved",
  promptCache: "prompt cache",
  generation: "writing",
  toolCall: "tool call",
  parallelCalls: "parallel calls",
  nestedArguments: "nested arguments",
  toolResult: "tool result",
  toolRoundCache: "cache in a turn",
  textToolCall: "tool call as text",
  jsonSchema: "JSON schema",
  edit: "edit",
  stop: "stop on abort",
};

/** One row: what was checked, the result in a word or two, the figures. */
type Row = readonly [check: string, result: string, figures: string];

type Describe = { [K in keyof Findings]: (found: Findings[K]) => Row[] };

const DESCRIBE: Describe = {
  reachable: ({ listMs, models, listed, server }) => [
    [
      LABELS.reachable,
      "yes",
      models === null ? "no list of models" : `${milliseconds(listMs)} (1 run), ${listedText(models, listed)}`,
    ],
    ["server", server?.label ?? "unknown", server?.gateway ? "a gateway: passes requests on to other servers" : ""],
  ],
  chat({ firstTokenMs, totalMs, answeredAs }) {
    const other = answeredAs === null ? "" : `; answered as ${answeredAs}`;
    return [[
      LABELS.chat,
      "yes",
      `first token after ${time(firstTokenMs)}, end after ${time(totalMs)} (1 run)${other}`,
    ]];
  },
  windowClaimed: ({ tokens, source }) => [
    tokens === null
      ? [LABELS.windowClaimed, "unknown", "the server does not say"]
      : [LABELS.windowClaimed, `${grouped(tokens)}`, `tokens, as ${source} says`],
  ],
  windowProved: provedRows,
  promptCache(found) {
    const { coldFirstTokenMs: cold, warmFirstTokenMs: warm, cachedTokens, estimated } = found;
    const note = cachedTokens > 0
      ? `${grouped(cachedTokens)} tokens from the cache, says the server`
      : "by the two times above";
    return [
      ["first token", time(cold.median), `new prompt of ${about(found.promptTokens, estimated)}, ${runs(cold)}`],
      ["  again", time(warm.median), `same beginning, ${runs(warm)}`],
      [LABELS.promptCache, found.kept, note],
      ["tokens in", ...rate(found.tokensPerSecond, estimated)],
    ];
  },
  generation: ({ tokensPerSecond, estimated, streaming, pieces, spanMs }) => [
    ["tokens out", ...rate(tokensPerSecond, estimated)],
    ["streaming", streaming, `${counted(pieces, "piece")} over ${time(spanMs)}`],
  ],
  toolCall: (found) => [[LABELS.toolCall, ...call(found)]],
  parallelCalls: (found) => [[LABELS.parallelCalls, ...call(found)]],
  nestedArguments: (found) => [[LABELS.nestedArguments, ...call(found)]],
  toolResult: ({ used, how }) => [
    [LABELS.toolResult, used ? "used" : "not used", how === "native" ? "" : "as text"],
  ],
  textToolCall: (found) => [[LABELS.textToolCall, found.correct ? "yes" : call(found)[0], found.detail]],
  jsonSchema: ({ support, detail }) => [[LABELS.jsonSchema, support, detail]],
  toolRoundCache({ promptTokens, rereadTokens, kept }) {
    const note = rereadTokens === null
      ? "the server does not tell what it takes from its prompt cache"
      : `prompt cache ${kept === "yes" ? "kept" : "lost"} across a tool round: ${grouped(rereadTokens)} of ` +
        `${grouped(promptTokens)} tokens read again`;
    return [[LABELS.toolRoundCache, kept, note]];
  },
  edit: (found) => [[LABELS.edit, ...call(found)]],
  stop({ stopped, nextFirstTokenMs, usualFirstTokenMs }) {
    const usual = usualFirstTokenMs === null ? "" : `, usually ${time(usualFirstTokenMs)}`;
    return [[LABELS.stop, stopped ? "yes" : "no", `next reply after ${time(nextFirstTokenMs)} (1 run)${usual}`]];
  },
};

/** All rows, in the order of the labels, reasoning last. */
function rowsOf(report: ProbeReport): Row[] {
  const names = Object.keys(LABELS) as (keyof Findings)[];
  return [...names.flatMap((name) => outcomeRows(name, report)), ...reasoningRows(report)];
}

function outcomeRows<K extends keyof Findings>(name: K, report: ProbeReport): Row[] {
  const outcome: Outcome<Findings[K]> = report.checks[name];
  switch (outcome.kind) {
    case "done":
      return DESCRIBE[name](outcome.found);
    case "failed":
      return [[LABELS[name], "failed", `${outcome.error.message} [${outcome.error.code}]`]];
    case "skipped":
      return [[LABELS[name], "-", `not measured: ${outcome.reason}`]];
  }
}

function reasoningRows({ replies, checks }: ProbeReport): Row[] {
  if (replies.count === 0) return [];
  const seen = replies.withReasoning > 0;
  const needed = checks.toolResult.kind === "done" ? checks.toolResult.found.reasoningNeeded : null;
  const more = needed === null ? "" : needed ? "; the server wants it back" : "; the server does not want it back";
  const figures = `in ${replies.withReasoning} of ${replies.count} replies${seen ? more : ""}`;
  return [["reasoning", seen ? "seen" : "not seen", figures]];
}

function provedRows({ proved, tooLong, repeatsShort, steps, ended }: Findings["windowProved"]): Row[] {
  const label = LABELS.windowProved;
  if (!repeatsShort) return [[label, "unclear", "a marker is not repeated from a short prompt either"]];
  const repeated = steps.filter(({ outcome }) => outcome === "repeated").length;
  const bad = steps.findLast(({ outcome }) => outcome !== "repeated");
  const parts = [
    `start repeated from ${repeated} of ${counted(steps.length, "prompt")}`,
    ...(tooLong === null || bad === undefined
      ? []
      : [`${bad.outcome === "refused" ? "refused" : "its start lost"} at ${grouped(tooLong)}`]),
    ...(ended === null ? [] : [`ended: ${ended}`]),
  ];
  return [[label, proved === null ? "none" : grouped(proved), `tokens; ${parts.join("; ")}`]];
}

/** How a session would ask; the battery itself asks as it always does. */
function profileRow({ name, value, why }: ProfileRow): Row {
  return [name === "reasoning" ? "reasoning sent" : name, "in sessions", `${value} (${why})`];
}

function call({ how, correct, detail }: { how: string; correct: boolean; detail: string }): [string, string] {
  if (correct) return [how === "native" ? "yes" : "as text", detail];
  return [how === "cut" ? "unclear" : how === "native" || how === "text" ? "wrong" : "no", detail];
}

function rate(figure: Figure | null, estimated: boolean): [string, string] {
  if (figure === null) return ["-", "too fast to measure"];
  const value = figure.median >= 100 ? grouped(figure.median) : figure.median.toFixed(1);
  return [`${value}/s`, `tokens a second, ${runs(figure)}${estimated ? ", tokens estimated" : ""}`];
}

function runs({ runs }: Figure): string {
  return runs === 1 ? "1 run" : `median of ${runs} runs`;
}

function about(tokens: number, estimated: boolean): string {
  return `${estimated ? "about " : ""}${grouped(tokens)} tokens`;
}

function listedText(models: number, listed: boolean | null): string {
  return `${grouped(models)} ${models === 1 ? "model" : "models"} listed${listed === false ? ", this one is not" : ""}`;
}

function milliseconds(value: number): string {
  return `${grouped(value)} ms`;
}

/** `120 ms`, `1.2 s`, `41 s`. */
function time(value: number): string {
  if (value < 1000) return milliseconds(value);
  return `${(value / 1000).toFixed(value < 10_000 ? 1 : 0)} s`;
}

/** The subject of a report, and the result of storing it. */
interface Subject {
  endpoint: Endpoint;
  model: string;
  profile: readonly ProfileRow[];
  stored: Stored | null;
}

/**
 * - `provider`, `model`, `base_url`, `local`; `elapsed_ms`; `interrupted`.
 * - `error`: null when the model replied, else `{code, message, hint}`.
 * - `checks`: for each check `{status: "done", found}`, `{status: "failed", error}` or `{status: "skipped", reason}`.
 *   `found` has the fields of the finding; names end in their unit (`_ms`), tokens are whole tokens, a figure over
 *   several runs is `{median, runs}`, null stands for what could not be measured.
 * - `replies`: `{count, with_reasoning}`.
 * - `learnt`: `{context_window?, tool_calls?, reasoning?}`, what `--write` stores.
 * - `profile`: how a session would ask, `{sampling | reasoning | reasoning_limit: {value, why}}`.
 * - `verdict`: `{fit: true | false | null, text}`.
 * - `stored`: null without `--write`, else `{path, changed, fields: [{field, old, new}]}`.
 */
export function jsonReport(report: ProbeReport, subject: Subject): Record<string, unknown> {
  const { endpoint, model, stored } = subject;
  const error = probeError(report);
  const names = Object.keys(LABELS) as (keyof Findings)[];
  return {
    provider: endpoint.provider,
    model,
    base_url: endpoint.baseUrl,
    local: endpoint.local,
    elapsed_ms: Math.round(report.elapsedMs),
    interrupted: report.interrupted,
    error: error === null ? null : { code: error.code, message: error.message, hint: error.hint ?? null },
    checks: snakeKeys(Object.fromEntries(names.map((name) => [name, outcomeJson(report.checks[name])]))),
    replies: snakeKeys(report.replies),
    learnt: snakeKeys(learnt(report)),
    profile: Object.fromEntries(
      subject.profile.map(({ name, value, why }) => [name.replace(" ", "_"), { value, why }]),
    ),
    verdict: verdictOf(report),
    stored: stored === null ? null : { path: stored.path, changed: stored.changed, fields: stored.fields },
  };
}

function outcomeJson(outcome: Outcome<unknown>): Record<string, unknown> {
  switch (outcome.kind) {
    case "done":
      return { status: "done", found: outcome.found };
    case "failed":
      return { status: "failed", error: { code: outcome.error.code, message: outcome.error.message } };
    case "skipped":
      return { status: "skipped", reason: outcome.reason };
  }
}
