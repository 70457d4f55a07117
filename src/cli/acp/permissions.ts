/** Asks the client whether a call may run: once, for the session, or always in the project. */
import { type AskPermission, deniedByPerson, type PermissionQuestion } from "../../agent/turn_options.ts";
import type { Workspace } from "../../boundary/workspace/workspace.ts";
import { fieldsOf } from "../../platform/record.ts";
import { RpcError } from "../../rpc/message.ts";
import { RpcClosed, type RpcPeer } from "../../rpc/peer.ts";
import type { AgentSession } from "../../runtime/agent_session.ts";
import { offers } from "../chat/questions/asked.ts";
import { changeOf } from "../chat/questions/preview.ts";
import { fenced } from "../../platform/text.ts";
import { kindOf, textContent, titleOf } from "./tool_calls.ts";
import type { ToolCallContent } from "./wire.ts";

const ASK = "session/request_permission";

/** Asks through `peer`. A client that has gone gives no answer; one that cannot answer denies. */
export function askClient(
  agent: AgentSession,
  { peer, sessionId }: { peer: RpcPeer; sessionId: string },
): AskPermission {
  return async (question, signal) => {
    const { opened } = agent;
    if (opened === null) return null;
    const { workspace, policy } = opened.session;
    const { rules } = offers(question, policy.allow);
    const { toolName, callId: toolCallId, subject, input } = question;
    const title = titleOf(toolName, subject);
    const content = await contentOf(question, workspace);
    const toolCall = { toolCallId, title, kind: kindOf(toolName), status: "pending", rawInput: input, content };
    let outcome: Record<string, unknown>;
    try {
      const answer = await peer.request(ASK, { sessionId, toolCall, options: optionsOf(rules) }, signal);
      outcome = fieldsOf(fieldsOf(answer).outcome);
    } catch (error) {
      if (error instanceof RpcClosed) return null;
      if (error instanceof RpcError) return deniedByPerson("");
      throw error;
    }
    switch (outcome.optionId) {
      case "once":
        return { behavior: "allow" };
      case "session":
        for (const rule of rules) await agent.allow(rule);
        return { behavior: "allow" };
      case "project":
        await agent.allowAlways(rules);
        return { behavior: "allow" };
      default:
        return deniedByPerson("");
    }
  };
}

/** Names in each option what it would cover: a rule that nobody has read is no permission. */
function optionsOf(rules: readonly string[]) {
  const named = rules.join(", ");
  return [
    { optionId: "once", name: "Allow once", kind: "allow_once" },
    ...rules.length === 0 ? [] : [
      { optionId: "session", name: `Allow in this session: ${named}`, kind: "allow_always" },
      { optionId: "project", name: `Always allow in this project: ${named}`, kind: "allow_always" },
    ],
    { optionId: "deny", name: "Deny", kind: "reject_once" },
  ];
}

/**
 * The command, or the change as a diff. The content of a protected file is not sent: what the call says of it is
 * enough.
 */
async function contentOf(question: PermissionQuestion, workspace: Workspace): Promise<ToolCallContent[]> {
  const change = await changeOf(question, workspace);
  if (change === null || change.label !== "open") return [textContent(fenced(question.subject))];
  const { path, before: oldText, after: newText } = change;
  return [{ type: "diff", path, oldText, newText }];
}
