/** A command that the person types: run as the model's are, in their view of the project. Loaded with the first. */
import { runTool } from "../agent/tool_call.ts";
import { resultRoom, type Session } from "../agent/session.ts";
import { labelOfText } from "../agent/labels.ts";
import { highestLabel } from "../boundary/policy/label.ts";
import type { TurnListener } from "../protocol/turn_event.ts";
import { bashTool as tool } from "../tools/bash/tool.ts";
import type { Host } from "./host.ts";

/** Names the call in events: no call of the model is named so. */
const CALL_ID = "typed";

/**
 * Runs a command and, where the model `isTold`, puts it with its output behind what was said. No rule is asked: it is the
 * person who wants it. What it prints is treated as what the model runs: from the sandbox where paths are protected, looked
 * through, and labeled. Throws `policy_refused` where it may not go to this model; then the session has nothing of it.
 */
export async function runUserCommand(
  command: string,
  session: Session,
  { io, signal, emit, isTold }: { io: Host["io"]; signal: AbortSignal; emit: TurnListener; isTold: boolean },
): Promise<void> {
  const options = { io, signal, emit, ask: () => Promise.resolve(null), resultBytes: resultRoom(session, 1) };
  await emit({ kind: "tool_start", callId: CALL_ID, toolName: tool.name, subject: command });
  const result = await runTool(tool, { input: { command }, callId: CALL_ID, session, options });
  await session.commandWatch?.turnEnd();
  const { content, isError, details } = result;
  const text = `[The user ran this command: ${command}]\n${content}`;
  const files = session.workspace.takeUsed();
  const label = highestLabel([result.label, await labelOfText(text, "the command", session)]);
  if (isTold) session.items.push({ kind: "user", origin: "note", text, label, files });
  const item = { kind: "tool_result", callId: CALL_ID, name: tool.name, content, isError, label } as const;
  await emit({ kind: "tool_result", item, details });
}
