/** The connection to a client: lines written to it, requests to it and its responses. */
import type { Output } from "../../platform/io.ts";
import type { ClientQuestion, ControlLine } from "../../protocol/schema.ts";
import type { ControlResponse } from "../../protocol/input.ts";
import type { AskPermission } from "../../agent/turn_options.ts";
import { isRecord, membersOf, textOf } from "../../platform/record.ts";
import { createOrderedWrite } from "../../rpc/lines.ts";
import { PendingRequests } from "../../rpc/pending.ts";

type ClientOutput = ReturnType<typeof createClientOutput>;

/**
 * Whole lines on `stdout`: whoever waits for them writes no faster than the client reads. After a failure every write
 * fails.
 */
export function createClientOutput(stdout: Pick<Output, "write">) {
  const write = createOrderedWrite((lines) => stdout.write(lines));
  return { write, control: (line: ControlLine) => write(JSON.stringify(line) + "\n") };
}

/** The response to a request, the client's error, or nothing because the client has ended its input. */
type ClientResponse = { response: Record<string, unknown> } | { error: string } | { gone: true };

export type ClientRequests = ReturnType<typeof createClientRequests>;

/** Questions to the client; none is open yet. */
export function createClientRequests(output: ClientOutput) {
  const open = new PendingRequests<string, ClientResponse>();
  let ended = false;
  return {
    /** Rejects with the signal's reason, and cancels the question at the client. */
    async ask(question: ClientQuestion, signal: AbortSignal): Promise<ClientResponse> {
      signal.throwIfAborted();
      if (ended) return { gone: true };
      const id = crypto.randomUUID();
      return await open.ask({
        id,
        send: () => output.control({ type: "control_request", request_id: id, request: question }),
        cancel: () => output.control({ type: "control_cancel_request", request_id: id }),
      }, signal);
    },
    /** Takes an answer; false if the question was never asked, or is already answered. */
    answer: (message: ControlResponse) => open.settle(message.id, message.outcome),
    /** No more answers will come: what is open and what follows is `gone`. */
    end(): void {
      ended = true;
      open.settleAll({ gone: true });
    },
  };
}

/** Returns the texts of a list; none for anything else. */
export function textsOf(value: unknown): string[] {
  return membersOf(value).filter((entry) => typeof entry === "string");
}

/** Asks the client; null when it has gone. An invalid answer denies. */
export function askClient(requests: ClientRequests): AskPermission {
  return async (question, signal) => {
    const answer = await requests.ask({
      subtype: "can_use_tool",
      tool_name: question.toolName,
      display_name: question.toolName,
      input: question.input,
      description: question.subject,
      tool_use_id: question.callId,
      decision_reason: question.reason,
    }, signal);
    if ("gone" in answer) return null;
    if ("error" in answer) {
      return {
        behavior: "deny",
        message: "Permission denied: the client could not decide. Continue without this call.",
      };
    }
    const { behavior, updatedInput, message, interrupt } = answer.response;
    if (behavior === "allow") return { behavior: "allow", ...isRecord(updatedInput) ? { input: updatedInput } : {} };
    return {
      behavior: "deny",
      message: textOf(message) ?? "The user denied this call.",
      ...interrupt === true ? { interrupt: true } : {},
    };
  };
}
