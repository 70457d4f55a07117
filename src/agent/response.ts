/**
 * Gets one response of the model: makes room, sends the request, takes the response over; retries by what a failure
 * shows.
 */
import { grouped } from "../platform/number.ts";
import type { AgentcliError } from "../errors.ts";
import { type FailureKind, ProviderFailure } from "../provider/failure.ts";
import type { ChatDelta, ChatResponse } from "../provider/types.ts";
import { type AssistantItem, callId, showsImages, type ToolCall } from "../session/item.ts";
import { asksForShape, estimateOf, recordRequest, requestOf, type SentRequest } from "./chat_request.ts";
import type { Holdback } from "../provider/text_calls/holdback.ts";
import { limitsOf } from "./context/tokens.ts";
import { stringsOf } from "../platform/record.ts";
import { addUsage } from "./turn_result.ts";
import { isWindowKnown, nextPosition, type Session } from "./session.ts";
import { labelOfWords } from "./labels.ts";
import type { ShapeTrial } from "./shape_trial.ts";
import type { RunningTurn } from "./turn_options.ts";
import { providerLabel } from "../config/base_url.ts";

/** Failures that images may be the reason of; a refused request is one where it was the first to show them. */
const IMAGE_FAILURES: ReadonlySet<FailureKind> = new Set(["no_images", "bad_image", "template", "request"]);

/** How often room is made for one response: without a number from the server, the first guess may be too high. */
const REFUSAL_LIMIT = 3;

/** A response as its turn takes it from there. */
export interface TurnResponse {
  item: AssistantItem;
  stopReason: "end_turn" | "tool_use" | "max_tokens";
  /** It ended for tool calls and has none: its server lost them. */
  isCallLost: boolean;
  /** Calls that were above the limit of one response. */
  droppedCalls: number;
}

/** Asks for the next response and puts it into the session. Throws what the client throws, and `context_overflow`. */
export async function nextResponse(session: Session, turn: RunningTurn): Promise<TurnResponse> {
  turn.state.responses++;
  if (session.items.some(showsImages)) await (await import("./context/vision.ts")).dropUnseenImages(session, turn);
  if (session.context.answered && session.model.windowSource === "assumed") {
    await (await import("./context/calibrate.ts")).takeReportedWindow(session);
  }
  if (estimateOf(session) <= limitsOf(session.model).threshold) session.context.full = 0;
  else await (await import("./context/fit_context.ts")).fitContext(session, turn);
  return await askUntilTaken(session, turn);
}

async function askUntilTaken(session: Session, turn: RunningTurn): Promise<TurnResponse> {
  /** The shapes that the request is tried in, once the server could not take the first. */
  let trial: ShapeTrial | null = null;
  let refusals = 0;
  try {
    for (;;) {
      const sent = recordRequest(session);
      try {
        const response = await ask(session, { sent, trial }, turn);
        // A model that accepted one image accepts more.
        if (session.context.vision === null && session.items.some(showsImages)) session.context.vision = true;
        return response;
      } catch (error) {
        turn.signal.throwIfAborted();
        const failure = error instanceof ProviderFailure ? error : null;
        if (failure !== null && asksForShape(failure.kind)) {
          trial ??= new (await import("./shape_trial.ts")).ShapeTrial(session);
          if (await trial.next(failure, turn)) continue;
        }
        if (failure !== null && IMAGE_FAILURES.has(failure.kind) && session.items.some(showsImages)) {
          const { recordImageRefusal } = await import("./context/vision.ts");
          if (await recordImageRefusal(session, turn, failure)) continue;
        }
        if (failure === null || !isOverflow(failure, session)) throw error;
        // A response costs more than a refusal, so it is tried again only once.
        refusals += failure.facts.dropped ? REFUSAL_LIMIT : 1;
        if (refusals > REFUSAL_LIMIT) throw error;
        if (failure.facts.dropped) {
          // The response is void: it answered a part of the prompt only.
          const notice = { attempt: 1, maxRetries: 1, delayMs: 0, status: null, reason: failure.message } as const;
          await turn.emit({ kind: "retry", notice: { kind: failure.kind, ...notice, restart: true } });
        }
        await (await import("./context/calibrate.ts")).recordOverflow(session, { failure, sent }, turn);
        await turn.emit({ kind: "notice", text: "the context window of the server is full: shortening the session" });
        const { makeRoom } = await import("./context/fit_context.ts");
        if (!await makeRoom(session, turn)) throw await overflow(session, failure);
      }
    }
  } finally {
    trial?.end();
  }
}

/**
 * The name that llama-server gives itself in the header `server`. The list of backends is loaded elsewhere, not for
 * every turn.
 */
const LLAMA_SERVER = "llama.cpp";

/** Returns whether to ask now, at the beginning of a response, what the server's chat template drops. */
function mayDropCalls({ context, model, schemas }: Session, server: string): boolean {
  return server === LLAMA_SERVER && context.templateNeeds === undefined && schemas.length > 0 &&
    model.entry.toolCalls !== "text";
}

/** LM Studio can answer a prompt that is too long with an empty stream (wire reference, §3.3). */
function isOverflow(failure: ProviderFailure, session: Session): boolean {
  if (failure.kind === "context") return true;
  return failure.kind === "empty" && estimateOf(session) > limitsOf(session.model).threshold;
}

/**
 * Returns the error for a prompt that is too long: with the server's own numbers if it named them, otherwise with ours.
 */
async function overflow(session: Session, failure: ProviderFailure): Promise<AgentcliError> {
  const { contextWindow, promptTokens } = failure.facts;
  const estimate = estimateOf(session);
  const named = contextWindow !== undefined && promptTokens !== undefined;
  if (failure.kind !== "context" || named || !isWindowKnown(session.model)) return failure;
  if (estimate <= session.model.contextWindow) return failure;
  const { tooLong } = await import("./context/fit_context.ts");
  return tooLong(estimate, session.model.contextWindow);
}

async function ask(
  session: Session,
  { sent, trial }: { sent: SentRequest; trial: ShapeTrial | null },
  turn: RunningTurn,
): Promise<TurnResponse> {
  const request = requestOf(session);
  const started = turn.io.clock.monotonic();
  const arriving = new ArrivingResponse(session, turn);
  await arriving.begin();
  let response: ChatResponse;
  try {
    response = await turn.chat(request, {
      signal: turn.signal,
      onSent() {
        void turn.emit({ kind: "sent" });
        void arriving.loadHoldback();
        void loadReaders();
      },
      async onResponse(server) {
        arriving.server = server;
        if (mayDropCalls(session, server)) await (await import("./shape_trial.ts")).checkTemplate(session);
      },
      onDelta: (delta) => arriving.take(delta),
      async onRetry(notice) {
        await turn.emit({ kind: "retry", notice });
        if (notice.restart) await arriving.begin();
      },
    });
  } catch (error) {
    await arriving.showRest();
    if (turn.signal.aborted) await keepInterrupted(session, arriving);
    throw error;
  } finally {
    turn.state.apiMs += turn.io.clock.monotonic() - started;
  }
  turn.signal.throwIfAborted();
  const [{ recoverTextCalls }, { calibrate }] = await loadReaders();
  const recovered = await recoverTextCalls(response, session.schemas);
  const dropped = await calibrate(session, { usage: response.usage, sent }, turn);
  if (dropped !== null) throw dropped;
  if (recovered === null) await arriving.showRest();
  await trial?.keep(turn);
  const model = await answeringModel(session, { named: response.model, server: arriving.server }, turn);
  return await takeResponse(session, { arrived: response, recovered, id: arriving.messageId, model }, turn);
}

/** Loads what reads a response, while the server works on it. */
function loadReaders() {
  return Promise.all([import("./text_calls.ts"), import("./context/calibrate.ts")]);
}

/** Shows a response while it arrives; a restart begins it again. */
class ArrivingResponse {
  messageId = "";
  /** All of it so far, also what is not shown yet. */
  text = "";
  /** The name that the server gives itself. */
  server = "";
  readonly #session: Session;
  readonly #turn: RunningTurn;
  #holdback: Holdback | null = null;
  #isUnjudged: boolean | undefined;

  constructor(session: Session, turn: RunningTurn) {
    this.#session = session;
    this.#turn = turn;
  }

  begin(): void | Promise<void> {
    this.messageId = `msg_${crypto.randomUUID().replaceAll("-", "")}`;
    this.text = "";
    this.#holdback = null;
    const position = nextPosition(this.#session);
    return this.#turn.emit({ kind: "request", messageId: this.messageId, turn: this.#turn.state.responses, position });
  }

  /** A call written as text is not the answer: what may become a call is held back until the response is complete. */
  async loadHoldback(): Promise<Holdback> {
    const { createHoldback } = await import("../provider/text_calls/holdback.ts");
    return this.#holdback ??= createHoldback(this.#session.schemas.length > 0);
  }

  take(delta: ChatDelta): void | Promise<void> {
    const { messageId } = this;
    if (delta.kind === "tool_call") {
      const isUnjudged = this.#isUnjudged ??= this.#session.scanner?.mayFind() ?? false;
      return this.#turn.emit({ kind: "delta", messageId, delta, isUnjudged });
    }
    if (delta.kind !== "text") return this.#turn.emit({ kind: "delta", messageId, delta });
    this.text += delta.text;
    if (this.#holdback !== null) return this.#show(this.#holdback.push(delta.text));
    return this.loadHoldback().then((holdback) => this.#show(holdback.push(delta.text)));
  }

  /** Shows what was held back. */
  showRest(): void | Promise<void> {
    return this.#show(this.#holdback?.end() ?? "");
  }

  #show(text: string): void | Promise<void> {
    if (text === "") return;
    return this.#turn.emit({ kind: "delta", messageId: this.messageId, delta: { kind: "text", text } });
  }
}

/**
 * Returns the name under which a server answered, or the requested one: what a server says can hold what its model was
 * told. Says once that a server which accepts any name for the model that it has answers with another one.
 */
async function answeringModel(
  session: Session,
  { named, server }: { named: string | null; server: string },
  { emit }: RunningTurn,
): Promise<string> {
  const { model: { provider, entry: { id } }, context: { said } } = session;
  if (named === null || named === id) return id;
  const shown = await labelOfWords([named], session) === "open" ? named : id;
  if (server !== LLAMA_SERVER || plainName(named) === plainName(id) || said.has("other_model")) return shown;
  said.add("other_model");
  await emit({
    kind: "notice",
    text: `${providerLabel(provider)} answers with ${shown === named ? named : "another model"}, not with ${id}: ` +
      "a llama-server with one model takes any name; use the server's name for it in providers.yaml",
  });
  return shown;
}

/** A model's name without the directory and the extension of its file. */
function plainName(name: string): string {
  return name.toLowerCase().replace(/^.*[\\/]/, "").replace(/\.gguf$/, "");
}

async function takeResponse(
  session: Session,
  { arrived, recovered, id, model }: {
    arrived: ChatResponse;
    recovered: { response: ChatResponse; family: string } | null;
    id: string;
    model: string;
  },
  { state, emit }: RunningTurn,
): Promise<TurnResponse> {
  const response = recovered?.response ?? arrived;
  const position = nextPosition(session);
  const { text } = response;
  const calls = response.calls.map(({ name, input, problem }, index): ToolCall => {
    return { id: callId(position, index), name, input, problem };
  });
  const last = calls.at(-1);
  if (response.finish === "length" && last !== undefined) {
    const { writeInParts } = await import("./cut_write.ts");
    last.problem = await writeInParts(response, session, { state }) ?? last.problem;
  }
  // A remote model does not get its reasoning back: what is not kept of it need not end the turn.
  const isKept = session.model.local || await labelOfWords([response.reasoning], session) === "open";
  const reasoning = isKept ? response.reasoning : "";
  // Scanned once, when all of it is here, and before any of it is stored or sent. Clients are shown calls as they
  // arrived, which can be more than what was read of them.
  const raw = arrived.calls.map((call) => call.raw);
  const label = await labelOfWords([text, reasoning, ...stringsOf(calls), ...raw], session);
  const item: AssistantItem = { kind: "assistant", id, text, reasoning, calls, label };
  session.items.push(item);
  const stopReason = response.finish === "length" ? "max_tokens" : calls.length > 0 ? "tool_use" : "end_turn";
  state.answer = response.text;
  state.stopReason = stopReason;
  if (response.usage !== null) addUsage(state.usage, response.usage);
  await emit({ kind: "response", item, model, usage: response.usage, stopReason });
  if (recovered !== null) {
    await emit({ kind: "recovered", family: recovered.family, toolNames: calls.map(({ name }) => name) });
  }
  const { droppedCalls = 0, finish } = response;
  const notify = (text: string) => emit({ kind: "notice", text });
  if (droppedCalls > 0) {
    await notify(
      `the response has too many tool calls: ran the first ${grouped(calls.length)}, dropped ${droppedCalls}`,
    );
  }
  if (finish === "content_filter") await notify("the server's content filter ended the response: it may be incomplete");
  if (finish === "length") {
    await notify(`the response was cut at the limit of ${session.model.maxTokens} tokens (or the context was full)`);
  }
  return { item, stopReason, isCallLost: finish === "tool_calls" && calls.length === 0, droppedCalls };
}

/**
 * Keeps the part of a response that was shown before the user interrupted it, marked as such, so that they can refer to
 * it. Nothing is kept of a response that broke off by itself.
 */
async function keepInterrupted(session: Session, { messageId, text }: ArrivingResponse): Promise<void> {
  if (text === "") return;
  const label = await labelOfWords([text], session);
  const whole = `${text}\n\n[interrupted]`;
  session.items.push({ kind: "assistant", id: messageId, text: whole, reasoning: "", calls: [], label });
}
