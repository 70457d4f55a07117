/** The client as the one who is asked whether a call may run (`--permission-prompt-tool stdio`). */
import type { AskPermission } from "../../agent/permission_question.ts";
import type { Questions } from "./questions.ts";
import { isRecord, textOf } from "./fields.ts";

/** Asks the client; null when it has gone. An answer that is no answer denies. */
export function askClient(questions: Questions): AskPermission {
  return async (question, signal) => {
    const answer = await questions.ask({
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
      return { behaviour: "deny", message: "Permission denied: the client could not decide. Go on without this call." };
    }
    const { behavior, updatedInput, message, interrupt } = answer.response;
    if (behavior === "allow") return { behaviour: "allow", ...isRecord(updatedInput) ? { input: updatedInput } : {} };
    return {
      behaviour: "deny",
      message: textOf(message) ?? "The user denied this call.",
      ...interrupt === true ? { interrupt: true } : {},
    };
  };
}
