/** Compaction: a summary takes the place of the older part of a session. */
import { highestLabel, type Label } from "../../boundary/policy/label.ts";
import { releaseIn, type SessionItem, type UserItem } from "../../session/item.ts";
import { bytesUpTo, estimateOf, reportCacheInvalidation, requestBytes, shapeOf, sideFields } from "../chat_request.ts";
import { type CompactPlan, compactRequest, planCompaction } from "./compact_plan.ts";
import { byteLength, headOf, tailOf } from "../../platform/text.ts";
import { todoText } from "../todos.ts";
import { LoopGuard } from "../loop_guard.ts";
import { limitsOf, SUMMARY_SHARE } from "./tokens.ts";
import { AgentcliError } from "../../errors.ts";
import { ProviderFailure } from "../../provider/failure.ts";
import type { SideModel } from "../server.ts";
import { addUsage } from "../turn_result.ts";
import { type Session } from "../session.ts";
import { labelOfWords, sessionLabel } from "../labels.ts";
import type { RunningTurn } from "../turn_options.ts";

/** Bytes of the longest summary. */
const SUMMARY_LIMIT = 16 * 1024;
/** Most tokens asked for a summary: a reasoning model thinks before it writes. */
const SUMMARY_TOKENS = 4096;
/** A summary is at most this share of what it stands for, else it is not taken. */
const SHORTER_SHARE = 0.7;
/** Share of a summary's bytes that the todo list may take. */
const TODO_SHARE = 0.5;

type CompactOptions =
  & Pick<RunningTurn, "signal" | "emit" | "chat" | "state">
  & { trigger: "auto" | "manual"; keep?: string | undefined; io: { clock: RunningTurn["io"]["clock"] } };

/**
 * Compacts the session; false when there is nothing worth it, or no summary is shorter than what it would replace. The
 * summary is written by the model of role `compact`, or by the session's own where that one may not see the content;
 * when neither gives one, a list of what was asked and called takes its place. The user's first and last words stay as
 * they are, like the todo list. Throws the abort reason, `policy_refused`, and `loop_detected` when again and again
 * nothing was called since the summary before that had not been called already.
 */
export async function compactSession(session: Session, options: CompactOptions): Promise<boolean> {
  const { context, items } = session;
  const plan = planCompaction(items, {
    keepBytes: limitsOf(session.model).budget * context.bytesPerToken * 0.3,
    // What is asked for by hand may be short.
    leastBytes: options.trigger === "auto" ? summaryBytes(session) : 0,
    sizeOf: context.sizeOf,
  });
  if (plan === null) return false;
  const [preTokens, bytesBefore] = [estimateOf(session), requestBytes(session)];
  await options.emit({ kind: "status", status: "compacting" });
  const summary = await summarize(plan, session, options);
  await options.emit({ kind: "status", status: null });
  if (summary === null) return false;
  (session.guard ??= new LoopGuard()).checkSummarized(plan.summarized);
  const changed = [...plan.head, summary, ...plan.kept];
  const same = changed.findIndex((item, at) => item !== items[at]);
  context.removed += items.length - changed.length;
  items.splice(0, items.length, ...changed);
  const postTokens = estimateOf(session);
  await options.emit({
    kind: "compacted",
    trigger: options.trigger,
    preTokens,
    postTokens,
    summary,
    replaced: plan.replaced,
  });
  await reportCacheInvalidation(session, options, {
    reason: "compacted",
    bytesKept: bytesUpTo(session, same),
    bytesBefore,
    callIds: [],
  });
  return true;
}

/**
 * The summary as the item that stands for the older part; null when it would not be shorter. It is as protected as
 * anything it was made from.
 */
async function summarize(plan: CompactPlan, session: Session, options: CompactOptions): Promise<UserItem | null> {
  const items = plan.summarized.map(withoutReleased);
  const { sizeOf } = session.context;
  const replaced = plan.summarized.reduce((bytes, item) => bytes + sizeOf(item), 0);
  const limit = Math.min(summaryBytes(session), Math.floor(replaced * SHORTER_SHARE));
  const label = highestLabel(items.map((item) => item.label));
  const text = await askForSummary(items, { session, options, label });
  const body = text === null || byteLength(text) >= replaced ? plainSummary(items, limit) : headOf(text, limit);
  const files = new Set(items.flatMap((item) => item.kind === "assistant" ? [] : item.files ?? []));
  const releasedTo = releaseIn(items);
  const todos = headOf(todoText(session.memory.todos), Math.floor(limit * TODO_SHARE));
  const summary: UserItem = {
    kind: "user",
    origin: "summary",
    text: `Summary of the session so far:\n${body}${todos}`,
    // A person says what is kept; and what is to be done may name what was read after the part that is summarized.
    label: await labelOfWords([body], session, todos === "" ? label : sessionLabel(session)),
    ...files.size === 0 ? {} : { files: [...files] },
    releasedTo,
  };
  return sizeOf(summary) < replaced ? summary : null;
}

/** Leaves out a prompt that the user released: it may go out again as it was said, but not in a summary. */
function withoutReleased(item: SessionItem): SessionItem {
  if (item.kind !== "user" || item.releasedTo === undefined || item.origin === "summary") return item;
  return { ...item, text: "[a prompt with protected content, which is left out]", images: [] };
}

function summaryBytes(session: Session): number {
  const { budget } = limitsOf(session.model);
  return Math.max(Math.min(Math.floor(budget * SUMMARY_SHARE * session.context.bytesPerToken), SUMMARY_LIMIT), 400);
}

async function askForSummary(
  items: readonly SessionItem[],
  scope: { session: Session; options: CompactOptions; label: Label },
): Promise<string | null> {
  const { session, options, label } = scope;
  const side = await session.server.compactModel();
  if (side !== null && (side.local || label === "open") && !session.context.isRefused) {
    try {
      return await summaryOf(items, { model: side, session, options });
    } catch (error) {
      // What may not go there stays with the session's own model, which has seen it.
      if (!(error instanceof AgentcliError) || error.code !== "policy_refused") throw error;
      session.context.isRefused = true;
    }
  }
  return await summaryOf(items, { model: ownModel(session, options), session, options });
}

async function summaryOf(
  items: readonly SessionItem[],
  { model, session, options }: { model: SideModel; session: Session; options: CompactOptions },
): Promise<string | null> {
  const reserve = Math.min(model.maxTokens ?? SUMMARY_TOKENS, SUMMARY_TOKENS, Math.floor(model.contextWindow / 4));
  // A server that finds even this too long counts more tokens than was thought possible: again with half.
  for (const share of [1, 0.5]) {
    const request = compactRequest(items, {
      model: model.id,
      window: model.contextWindow,
      maxTokens: reserve,
      bytesPerToken: Math.min(session.context.bytesPerToken, 2) * share,
      params: model.params,
      keep: options.keep,
    });
    if (request === null) return null;
    // The session's own model takes what the session found out.
    if (model.chat === options.chat) request.messages = shapeOf(session.context.toolProtocol).history(request.messages);
    const response = await chatOnce(model, request, options);
    if (response !== "context") return response;
  }
  return null;
}

/** One try: the summary, null when there is none, `context` when the request was too long. */
async function chatOnce(
  model: SideModel,
  request: Parameters<SideModel["chat"]>[0],
  { signal, emit, state, io }: CompactOptions,
): Promise<string | null | "context"> {
  const started = io.clock.monotonic();
  try {
    const response = await model.chat(request, {
      signal,
      onDelta: () => {},
      onRetry: (notice) => emit({ kind: "retry", notice }),
    });
    if (response.usage !== null) addUsage(state.usage, response.usage);
    const text = response.text.trim();
    return text === "" ? null : text;
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof ProviderFailure)) throw error;
    if (error.kind === "context") return "context";
    await emit({
      kind: "notice",
      text: `the summary failed (${error.message}); using a list of the earlier steps instead`,
    });
    return null;
  } finally {
    state.apiMs += io.clock.monotonic() - started;
  }
}

function ownModel(session: Session, options: CompactOptions): SideModel {
  const { model } = session;
  return {
    chat: options.chat,
    provider: model.provider,
    local: model.local,
    id: model.entry.id,
    contextWindow: model.contextWindow,
    maxTokens: model.entry.maxTokens,
    params: sideFields(session),
  };
}

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
