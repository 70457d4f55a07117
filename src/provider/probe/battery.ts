/**
 * Every check in a fixed order, each bounded in time: a failing one does not end the others. What is quick and what
 * decides whether the model can work comes first, long prompts last. Source: specification of the engine, "Probe".
 */
import { AgentcliError } from "../../errors.ts";
import { inTime } from "../../platform/time_limit.ts";
import {
  type Called,
  checkEdit,
  checkToolRound,
  nativeCalls,
  type SentHistory,
  textToolCall,
  useToolResult,
  WANTED,
} from "./call_checks.ts";
import { type Checks, type Findings, type Outcome, type ProbeReport, workingCalls } from "./findings.ts";
import { checkJsonSchema, checkStop, firstReply, measureGeneration, measurePromptCache } from "./reply_checks.ts";
import { Subject, type SubjectOptions } from "./subject.ts";
import { claimedWindow, proveWindow, reach, type Reached } from "./window_checks.ts";

export interface BatteryOptions extends SubjectOptions {
  /** For everything, in milliseconds. */
  timeoutMs: number;
  /** Tokens of the longest prompt. */
  maxPrompt: number;
  /** How a session sends what was said before. */
  history: SentHistory;
  /** Ends the battery; findings are kept. */
  signal: AbortSignal;
  onCheck?(name: keyof Findings): void | Promise<void>;
}

/** No check but those that need it may take more than this share of the time, so that one cannot take all. */
const SHARE = 0.25;

/** Runs the battery. Failures are part of the report; nothing is thrown but errors of the program itself. */
export async function runBattery(options: BatteryOptions): Promise<ProbeReport> {
  const { clock, signal } = options;
  const subject = new Subject(options);
  const run = new Run(options);
  let reached: Reached | null = null;
  await run.check("reachable", {}, async (limit) => (reached = await reach(subject, limit)).found);
  if (run.failed("reachable") === null) {
    // The first reply may wait for the model to be loaded: it may take all the time there is.
    await run.check("chat", { whole: true }, (limit) => firstReply(subject, limit));
  }
  if (run.found("chat") !== null) await measure(subject, { run, reached, options });
  return {
    checks: run.checks(),
    replies: { count: subject.replies, withReasoning: subject.withReasoning },
    elapsedMs: clock.monotonic() - run.started,
    interrupted: signal.aborted,
  };
}

async function measure(
  subject: Subject,
  given: { run: Run; reached: Reached | null; options: BatteryOptions },
): Promise<void> {
  const { run, reached, options } = given;
  await run.check("windowClaimed", {}, (signal) => claimedWindow(subject, reached, { signal }));
  const window = run.found("windowClaimed")?.tokens ?? null;
  await run.check("generation", {}, (limit) => measureGeneration(subject, limit));
  await run.check("promptCache", {}, (signal) => measurePromptCache(subject, { window, signal }));
  await measureCalls(subject, { run, options });
  await run.check("jsonSchema", {}, (limit) => checkJsonSchema(subject, limit));
  const generation = run.found("generation");
  if (generation?.streaming === "no") run.skip("stop", "replies come in one piece");
  const usualMs = generation?.firstTokenMs.median ?? null;
  await run.check("stop", {}, (signal) => checkStop(subject, { usualMs, signal }));
  const { maxPrompt } = options;
  await run.check(
    "windowProved",
    { whole: true },
    (signal) => proveWindow(subject, { claimed: window, maxPrompt, signal }),
  );
}

async function measureCalls(
  subject: Subject,
  { run, options: { history } }: { run: Run; options: BatteryOptions },
): Promise<void> {
  let called: Called | null = null;
  await run.check("toolCall", {}, async (limit) => (called = await nativeCalls(subject, WANTED.toolCall, limit)).found);
  for (const name of ["parallelCalls", "nestedArguments"] as const) {
    if (run.found("toolCall")?.how === "refused") run.skip(name, "the server does not support tool calling");
    await run.check(name, {}, async (limit) => (await nativeCalls(subject, WANTED[name], limit)).found);
  }
  await run.check("textToolCall", {}, (limit) => textToolCall(subject, limit));
  const window = run.found("windowClaimed")?.tokens ?? null;
  const how = workingCalls(run.found("toolCall"), run.found("textToolCall"));
  if (how === null) {
    for (const name of ["toolResult", "toolRoundCache", "edit"] as const) run.skip(name, "no way to call tools worked");
    return;
  }
  const reply = (called as Called | null)?.reply ?? null;
  await run.check("toolResult", {}, (signal) => useToolResult(subject, { how, reply }, { signal }));
  await run.check("toolRoundCache", {}, (signal) => checkToolRound(subject, { how, history, window, signal }));
  await run.check("edit", {}, (signal) => checkEdit(subject, { how, signal }));
}

/** The checks of one run, and the time they may take. */
class Run {
  readonly started: number;
  readonly #options: BatteryOptions;
  readonly #outcomes: Partial<Checks> = {};

  constructor(options: BatteryOptions) {
    this.#options = options;
    this.started = options.clock.monotonic();
  }

  /** Runs a check unless it was skipped, the time is up, or the run was interrupted. */
  async check<K extends keyof Findings>(
    name: K,
    limit: { whole?: boolean },
    work: (signal: AbortSignal) => Promise<Findings[K]>,
  ): Promise<void> {
    if (this.#outcomes[name] !== undefined) return;
    this.#outcomes[name] = await this.#outcome(name, limit, work) as Checks[K];
  }

  async #outcome<K extends keyof Findings>(
    name: K,
    limit: { whole?: boolean },
    work: (signal: AbortSignal) => Promise<Findings[K]>,
  ): Promise<Outcome<Findings[K]>> {
    const { clock, signal, timeoutMs, onCheck, endpoint: { provider } } = this.#options;
    const left = timeoutMs - (clock.monotonic() - this.started);
    if (signal.aborted) return { kind: "skipped", reason: "interrupted" };
    if (left <= 0) return { kind: "skipped", reason: "the time was up" };
    await onCheck?.(name);
    const milliseconds = limit.whole ? left : Math.min(left, timeoutMs * SHARE);
    try {
      const late = new AgentcliError("timeout", `${provider} was not done after ${Math.round(milliseconds / 1000)} s`, {
        hint: "raise --timeout",
      });
      return { kind: "done", found: await inTime(milliseconds, { clock, signal, late }, work) };
    } catch (error) {
      if (signal.aborted) return { kind: "skipped", reason: "interrupted" };
      if (error instanceof AgentcliError) return { kind: "failed", error };
      throw error;
    }
  }

  /** Marks a check that makes no sense here. */
  skip(name: keyof Findings, reason: string): void {
    this.#outcomes[name] ??= { kind: "skipped", reason };
  }

  found<K extends keyof Findings>(name: K): Findings[K] | null {
    const outcome: Outcome<Findings[K]> | undefined = this.#outcomes[name];
    return outcome?.kind === "done" ? outcome.found : null;
  }

  failed(name: keyof Findings): AgentcliError | null {
    const outcome = this.#outcomes[name];
    return outcome?.kind === "failed" ? outcome.error : null;
  }

  /** All of them; those that never began say why. */
  checks(): Checks {
    const reason = this.#options.signal.aborted ? "interrupted" : "no reply came";
    const all = CHECKS.map((name) => [name, this.#outcomes[name] ?? { kind: "skipped", reason }]);
    return Object.fromEntries(all) as Checks;
  }
}

/** In the order in which they are reported. */
const CHECKS: readonly (keyof Findings)[] = [
  ...["reachable", "chat", "windowClaimed", "windowProved", "promptCache", "generation"] as const,
  ...["toolCall", "parallelCalls", "nestedArguments", "toolResult", "toolRoundCache", "textToolCall"] as const,
  ...["jsonSchema", "edit", "stop"] as const,
];
