/**
 * A client on standard input and output: its messages are turns, one after the other; its requests are answered at
 * once, also while a turn runs. Source: specification, stream-json §2–4.
 */
import { AgentcliError, asAgentcliError } from "../../errors.ts";
import { OutputClosed } from "../../platform/io.ts";
import { textOf } from "../../platform/record.ts";
import { type ControlRequest, type InputMessage, readInputLine } from "../../protocol/input.ts";
import { readLines } from "../../rpc/lines.ts";
import { checkStoreOptions } from "../../runtime/host.ts";
import { listenForInterrupt } from "../../runtime/interrupt.ts";
import { givenServers } from "../run/run.ts";
import type { RunOptions } from "../run/command.ts";
import type { Context } from "../command.ts";
import { type ClientOutput, type ClientRequests, createClientOutput, createClientRequests } from "./client.ts";
import { type ClientModel, clientModels } from "./client_models.ts";
import { ClientSession } from "./client_session.ts";
import type { QueuedMessage } from "../../runtime/prompts.ts";
import { PERMISSION_MODES, type PermissionMode } from "../../config/types.ts";

interface Conversation {
  options: RunOptions;
  context: Context;
  output: ClientOutput;
  requests: ClientRequests;
  session: ClientSession;
  /** The turn that runs. */
  running: { current: AbortController | null };
}

/**
 * Serves one client until its input ends and every turn is done, a signal comes, or it has gone. Gives the exit code: of
 * a signal, else of the last turn where that failed by itself, else 0. Throws `usage` when the first line is no JSON.
 */
export async function converse(options: RunOptions, context: Context): Promise<number> {
  checkConversation(options);
  const { io } = context;
  const output = createClientOutput(io.stdout);
  const requests = createClientRequests(output);
  const given = await givenServers(options, context);
  const session = new ClientSession(options, context, { output, requests, given });
  const conversation: Conversation = {
    options,
    context,
    output,
    requests,
    session,
    running: { current: null },
  };
  const interrupt = listenForInterrupt(io, undefined);
  try {
    const failed = Promise.withResolvers<never>();
    readInput(conversation).catch(failed.reject).finally(() => {
      session.queue.end();
      requests.end();
    });
    return await Promise.race([takeTurns(conversation, interrupt.signal), failed.promise, interrupt.forced]);
  } catch (error) {
    // A client that has gone ends the work that was for it.
    conversation.running.current?.abort(error instanceof OutputClosed ? interrupted() : error);
    throw error;
  } finally {
    interrupt.end();
    await session.close();
  }
}

function checkConversation(options: RunOptions): void {
  if (options.outputFormat !== undefined && options.outputFormat !== "stream-json") {
    throw new AgentcliError("usage", "--input-format stream-json needs --output-format stream-json");
  }
  checkStoreOptions(options);
}

function interrupted(): AgentcliError {
  return new AgentcliError("interrupted", "the turn was interrupted");
}

async function takeTurns(conversation: Conversation, signal: AbortSignal): Promise<number> {
  const { session } = conversation;
  const stopped = Promise.withResolvers<null>();
  if (signal.aborted) stopped.resolve(null);
  signal.addEventListener("abort", () => stopped.resolve(null), { once: true });
  let code = 0;
  for (;;) {
    const turn = await Promise.race([session.queue.next(), stopped.promise]);
    if (turn === null) break;
    code = await takeTurn(turn, conversation, signal);
    if (signal.aborted) break;
  }
  if (!signal.aborted) return code;
  // Each message gets its one result, also those whose turn never came.
  for (const turn of session.queue.drain()) await session.turn(turn, signal);
  return asAgentcliError(signal.reason).exitCode;
}

async function takeTurn(turn: QueuedMessage, conversation: Conversation, signal: AbortSignal): Promise<number> {
  const { session, running } = conversation;
  const controller = new AbortController();
  running.current = controller;
  try {
    return await session.turn(turn, AbortSignal.any([signal, controller.signal]));
  } finally {
    running.current = null;
  }
}

async function readInput(conversation: Conversation): Promise<void> {
  const { io } = conversation.context;
  let first = true;
  const take = async (line: string | null) => {
    const message: InputMessage = line === null
      ? { kind: "broken", problem: "the line is too long", isJson: true }
      : readInputLine(line);
    if (first && message.kind === "broken" && !message.isJson) {
      throw new AgentcliError("usage", "standard input is not stream-json: its first line is not JSON", {
        hint: "send one JSON object per line, or omit --input-format",
      });
    }
    first &&= line?.trim() === "";
    await takeMessage(message, { conversation, size: line?.length ?? 0 });
  };
  for await (const line of readLines(() => io.stdin.read())) await take(line);
}

async function takeMessage(
  message: InputMessage,
  { conversation, size }: { conversation: Conversation; size: number },
): Promise<void> {
  const { session, requests, context } = conversation;
  switch (message.kind) {
    case "user":
      return await session.steer(message, size);
    case "control_request":
      return await takeRequest(message, conversation);
    case "control_response":
      // One to a question that was never asked, or is answered, means nothing.
      return void requests.answer(message);
    case "broken":
      return await context.io.stderr.write(`agentcli: a line of standard input is ignored: ${message.problem}\n`);
    case "cancel":
    case "ignored":
      return;
  }
}

async function takeRequest(request: ControlRequest, conversation: Conversation): Promise<void> {
  const answer = await answerRequest(request, targetOf(conversation));
  await conversation.output.control({
    type: "control_response",
    response: "response" in answer ? { subtype: "success", request_id: request.id, response: answer.response } : {
      subtype: "error",
      request_id: request.id,
      error: answer.error,
      ...answer.code === undefined ? {} : { error_code: answer.code },
    },
  });
}

function targetOf({ session, running, context }: Conversation): RequestTarget {
  return {
    initialize: (fields) => session.initialize(fields),
    interrupt() {
      running.current?.abort(interrupted());
      return session.queue.waiting.flatMap(({ id }) => id === undefined ? [] : [id]);
    },
    setModel: (name) => session.setModel(name),
    setMode: (mode) => session.setMode(mode),
    servers: () => session.servers(),
    models: () => clientModels(context.io),
  };
}

export interface RequestTarget {
  initialize(fields: Record<string, unknown>): void;
  /** Ends the running turn. Gives the ids of messages that still wait. */
  interrupt(): string[];
  setModel(name: string | undefined): Promise<void>;
  setMode(mode: PermissionMode): void;
  servers(): { name: string; status: string }[];
  models(): Promise<ClientModel[]>;
}

/** An answer: fields of a success, or an error. */
export type RequestAnswer = { response: Record<string, unknown> } | { error: string; code?: string };

/** Does what is asked; never throws but for bugs. */
async function answerRequest(request: ControlRequest, target: RequestTarget): Promise<RequestAnswer> {
  try {
    return await perform(request, target);
  } catch (error) {
    const { message, code } = asAgentcliError(error);
    return { error: message, code };
  }
}

async function perform({ subtype, fields }: ControlRequest, target: RequestTarget): Promise<RequestAnswer> {
  switch (subtype) {
    case "initialize":
      target.initialize(fields);
      return {
        response: {
          commands: [],
          agents: [],
          output_style: "default",
          available_output_styles: ["default"],
          models: await target.models(),
          account: {},
        },
      };
    case "interrupt":
      return { response: { still_queued: target.interrupt() } };
    case "set_model":
      await target.setModel(textOf(fields.model) ?? undefined);
      return { response: {} };
    case "set_permission_mode": {
      const mode = PERMISSION_MODES.find((known) => known === fields.mode);
      if (mode === undefined) {
        return { error: `unknown mode; the modes are: ${PERMISSION_MODES.join(", ")}`, code: "usage" };
      }
      target.setMode(mode);
      return { response: { mode } };
    }
    case "mcp_status":
      return { response: { mcpServers: target.servers() } };
    case "list_models":
      return { response: { models: await target.models() } };
    case "mcp_message":
      // Servers of the client tell of changes this way; tools are fixed for a session.
      return { response: {} };
    default:
      return {
        error: `Unsupported control request subtype: ${subtype.slice(0, 100)}`,
        code: "unsupported_request",
      };
  }
}
