/** Compaction: a summary takes the place of the older part of a session. */
import { admit } from "../boundary/policy/gate.ts";
import { highestLabel, type Label } from "../boundary/policy/label.ts";
import { AgentcliError } from "../errors.ts";
import type { SessionItem, UserItem } from "../session/item.ts";
import { baseBytes, bytesUpTo, estimateOf, requestBytes } from "./chat_request.ts";
import { planCompaction } from "./compact_plan.ts";
import { compactRequest } from "./compact_request.ts";
import { headOf, tailOf } from "./cut_text.ts";
import { limitsOf } from "./limits.ts";
import { tellBreak } from "./prefix_break.ts";
import { ProviderFailure } from "../provider/failure.ts";
import type { SideModel } from "./server.ts";
import type { Session } from "./session.ts";
import type { RunningTurn } from "./turn_options.ts";

/** Share of the budget that a summary may take. */
const SUMMARY_SHARE = 0.2;
/** Bytes of the longest summary. */
const SUMMARY_LIMIT = 16 * 1024;
/** Most tokens asked for a summary: a reasoning model thinks before it writes. */
const SUMMARY_TOKENS = 4096;
/** A compaction that leaves more than this share of the tokens is no progress. */
const PROGRESS_SHARE = 0.9;
/** Neither is one that comes again after fewer replies than this. */
const PROGRESS_REPLIES = 2;

/** What a compaction needs of a turn. */
export type CompactOptions =
  & Pick<RunningTurn, "signal" | "emit" | "model" | "count">
  & { trigger: "auto" | "manual"; io: { clock: RunningTurn["io"]["clock"] } };

/**
 * Compacts the session; false when there is nothing worth it. The summary is written by the model of role `compact`,
 * or by the session's own where that one may not see the content; when neither gives one, a list of what was asked and
 * called stands in. Throws the abort reason, `policy_refused`, and `context_overflow` at the second compaction in a
 * row that made no progress.
 */
export async function compactSession(session: Session, options: CompactOptions): Promise<boolean> {
  const { context } = session;
  const plan = planCompaction(session.items, {
    keepBytes: limitsOf(session.model).budget * context.bytesPerToken * 0.3,
    sizeOf: context.sizeOf,
  });
  if (plan === null) return false;
  const [preTokens, bytesBefore] = [estimateOf(session), requestBytes(session)];
  await options.emit({ kind: "status", status: "compacting" });
  const summary = await summarise(plan.summarised, session, options);
  await options.emit({ kind: "status", status: null });
  const before = session.items.length;
  session.items.splice(0, before, summary, ...plan.kept);
  context.removed += before - session.items.length;
  const postTokens = estimateOf(session);
  countProgress(session, { preTokens, postTokens });
  await options.emit({
    kind: "compacted",
    trigger: options.trigger,
    preTokens,
    postTokens,
    summary,
    replaced: plan.replaced,
  });
  await tellBreak(session, options, {
    reason: "compacted",
    bytesKept: baseBytes(session),
    bytesBefore,
    callIds: [],
  });
  if (context.compactions.fruitless >= 2) throw noProgress(session);
  return true;
}

function countProgress(session: Session, tokens: { preTokens: number; postTokens: number }): void {
  const { compactions } = session.context;
  const again = compactions.count > 0 && compactions.repliesSince < PROGRESS_REPLIES;
  const fruitless = again || tokens.postTokens > tokens.preTokens * PROGRESS_SHARE;
  compactions.fruitless = fruitless ? compactions.fruitless + 1 : 0;
  compactions.count++;
  compactions.repliesSince = 0;
}

function noProgress(session: Session): AgentcliError {
  const { contextWindow } = session.model;
  const fixed = Math.ceil(bytesUpTo(session, 0) / session.context.bytesPerToken);
  return new AgentcliError(
    "context_overflow",
    `the session was summarised twice in a row and still fills the window of ${contextWindow} tokens ` +
      `(${fixed} of them are the system prompt and the tools)`,
    { hint: "give the model a larger window on the server, or ask for less at once" },
  );
}

/** The summary as the item that stands for the older part. It is as protected as anything it was made from. */
async function summarise(items: readonly SessionItem[], session: Session, options: CompactOptions): Promise<UserItem> {
  const label = highestLabel(items.map((item) => item.label));
  const limit = summaryBytes(session);
  const text = await askForSummary(items, { session, options, label });
  const body = text === null ? plainSummary(items, limit) : headOf(text, limit);
  return { kind: "user", origin: "summary", text: `Summary of the session so far:\n${body}`, label };
}

function summaryBytes(session: Session): number {
  const { budget } = limitsOf(session.model);
  return Math.max(Math.min(Math.floor(budget * SUMMARY_SHARE * session.context.bytesPerToken), SUMMARY_LIMIT), 400);
}

async function askForSummary(
  items: readonly SessionItem[],
  given: { session: Session; options: CompactOptions; label: Label },
): Promise<string | null> {
  const { session, options, label } = given;
  const model = await compactModelFor(session, { options, label });
  admit({ kind: "provider", name: model.provider, local: model.local }, items);
  const reserve = Math.min(model.maxTokens ?? SUMMARY_TOKENS, SUMMARY_TOKENS, Math.floor(model.contextWindow / 4));
  // A server that finds even this too long counts more tokens than was thought possible: once more with half.
  for (const share of [1, 0.5]) {
    const request = compactRequest(items, {
      model: model.id,
      window: model.contextWindow,
      maxTokens: reserve,
      bytesPerToken: Math.min(session.context.bytesPerToken, 2) * share,
      params: model.params,
    });
    if (request === null) return null;
    if (!model.local) await session.scanner?.checkRequest(request, { provider: model.provider });
    const reply = await askOnce(model, request, options);
    if (reply !== "context") return reply;
  }
  return null;
}

/** One try: the summary, null when there is none, `context` when the request was too long. */
async function askOnce(
  model: SideModel,
  request: Parameters<SideModel["ask"]>[0],
  { signal, emit, count, io }: CompactOptions,
): Promise<string | null | "context"> {
  const started = io.clock.monotonic();
  try {
    const reply = await model.ask(request, {
      signal,
      onDelta: () => {},
      onRetry: (notice) => void emit({ kind: "retry", notice }),
    });
    if (reply.usage !== null) {
      count.usage.promptTokens += reply.usage.promptTokens;
      count.usage.completionTokens += reply.usage.completionTokens;
      count.usage.cachedTokens += reply.usage.cachedTokens;
    }
    const text = reply.text.trim();
    return text === "" ? null : text;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ProviderFailure)) throw error;
    if (error.kind === "context") return "context";
    await emit({ kind: "notice", text: `no summary could be had (${error.message}); going on with a plain record` });
    return null;
  } finally {
    count.apiMs += io.clock.monotonic() - started;
  }
}

/** The model of the role, unless the content may not go to it: then the session's own, which has seen it. */
async function compactModelFor(
  session: Session,
  { options, label }: { options: CompactOptions; label: Label },
): Promise<SideModel> {
  const side = await session.server.compactModel();
  if (side !== null && (side.local || label === "open")) return side;
  const { model } = session;
  return {
    ask: options.model,
    provider: model.provider,
    local: model.local,
    id: model.entry.id,
    contextWindow: model.contextWindow,
    maxTokens: model.entry.maxTokens,
    params: model.entry.params,
  };
}

/** Without a model: what was asked, which calls were made, and the last words. */
function plainSummary(items: readonly SessionItem[], limit: number): string {
  const lines: string[] = [];
  for (const item of items) {
    if (item.kind === "user") lines.push(item.origin === "summary" ? item.text : `The user asked: ${item.text}`);
    if (item.kind !== "assistant") continue;
    if (item.text.trim() !== "") lines.push(`You said: ${headOf(item.text, 300)}`);
    for (const call of item.calls) {
      lines.push(`You called ${call.name} ${headOf(JSON.stringify(call.input ?? {}), 160)}`);
    }
  }
  const text = lines.join("\n");
  const head = headOf(text, limit);
  if (head === text) return text;
  const half = Math.floor(limit / 2) - 4;
  return `${headOf(text, half)}\n...\n${tailOf(text, half)}`;
}
