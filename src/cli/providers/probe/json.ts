/** The object of `providers probe --json`. Keys are stable; new ones may be added. */
import {
  type Findings,
  learnt,
  type Outcome,
  probeError,
  type ProbeReport,
  verdictOf,
} from "../../../provider/probe/findings.ts";
import type { Endpoint } from "../../../provider/types.ts";
import { LABELS } from "./labels.ts";
import type { Stored } from "./store.ts";

/** What was measured, and what became of it. */
export interface Told {
  endpoint: Endpoint;
  model: string;
  stored: Stored | null;
}

/**
 * - `provider`, `model`, `base_url`, `local`; `elapsed_ms`; `interrupted`.
 * - `error`: null when the model replied, else `{code, message, hint}`.
 * - `checks`: for each check `{status: "done", found}`, `{status: "failed", error}` or `{status: "skipped", reason}`.
 *   `found` has the fields of the finding; names end in their unit (`_ms`), tokens are whole tokens, a figure over
 *   several runs is `{median, runs}`, null stands for what could not be told.
 * - `replies`: `{count, with_reasoning}`.
 * - `learnt`: `{context_window?, tool_calls?, reasoning?}`, what `--write` stores.
 * - `verdict`: `{fit: true | false | null, text}`.
 * - `stored`: null without `--write`, else `{path, changed, fields: [{field, old, new}]}`.
 */
export function jsonReport(report: ProbeReport, told: Told): Record<string, unknown> {
  const { endpoint, model, stored } = told;
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
    checks: Object.fromEntries(names.map((name) => [snakeCase(name), outcomeJson(report.checks[name])])),
    replies: snakeKeys(report.replies),
    learnt: snakeKeys(learnt(report)),
    verdict: verdictOf(report),
    stored: stored === null ? null : { path: stored.path, changed: stored.changed, fields: stored.fields },
  };
}

function outcomeJson(outcome: Outcome<unknown>): Record<string, unknown> {
  switch (outcome.kind) {
    case "done":
      return { status: "done", found: snakeKeys(outcome.found) };
    case "failed":
      return { status: "failed", error: { code: outcome.error.code, message: outcome.error.message } };
    case "skipped":
      return { status: "skipped", reason: outcome.reason };
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** The same data with the names of JSON; times and rates are rounded to three digits behind the point. */
function snakeKeys(value: unknown): unknown {
  if (typeof value === "number") return Math.round(value * 1000) / 1000;
  if (Array.isArray(value)) return value.map(snakeKeys);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [snakeCase(name), snakeKeys(member)]));
}
