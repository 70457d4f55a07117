/**
 * Input of a person to a session besides prompts: its name, rules for always, a command to run. Loaded with the first.
 */
import type { ContentScanner } from "../agent/content_scanner.ts";
import { labelOfTexts, labelOfWords } from "../agent/labels.ts";
import { resultRoom, type Session } from "../agent/session.ts";
import { runTool } from "../agent/tool_call.ts";
import { highestLabel } from "../boundary/policy/label.ts";
import { addProjectRules } from "../config/project_file.ts";
import { AgentcliError, asAgentcliError } from "../errors.ts";
import { openHome } from "../platform/home.ts";
import type { TurnListener } from "../protocol/turn_event.ts";
import { bashTool as tool } from "../tools/bash/tool.ts";
import type { Host } from "./host.ts";

/** Longest name, in characters. */
const LONGEST = 100;

/**
 * Returns the text in one line, as a name that may be stored. Throws `usage` if it is too long, and `policy_refused` if
 * it holds protected content.
 */
export async function titleOf(text: string, scanner: ContentScanner | undefined): Promise<string> {
  const title = text.replace(/[\p{Cc}\s]+/gu, " ").trim();
  if (title.length > LONGEST) {
    throw new AgentcliError("usage", `the name has ${title.length} characters; a session's has at most ${LONGEST}`);
  }
  if (await scanner?.checkWrite(title, "the name") != null) {
    throw new AgentcliError("policy_refused", "the name holds protected content, which is not stored", {
      hint: "choose another name",
    });
  }
  return title;
}

/** Stores rules for the project of a session; returns whether they are stored, and warns if not. */
export async function storeRules(
  rules: readonly string[],
  { session, host }: { session: Session; host: Host },
): Promise<boolean> {
  try {
    await addProjectRules(await openHome(host.io), {
      root: session.workspace.root,
      rules,
      mayHoldProtected: async (text) => await labelOfWords([text], session) !== "open",
    });
    return true;
  } catch (error) {
    await host.warn(`the rule was not written: ${asAgentcliError(error).message}`);
    return false;
  }
}

/** Names the call in events: no call of the model is named so. */
const CALL_ID = "typed";

/**
 * Runs a command and, with `isForModel`, puts it with its output after what was said. No rule is asked: the
 * person wants it. What it prints is treated as what the model runs: from the sandbox where paths are protected, looked
 * through, and labeled. Throws `policy_refused` where it may not go to this model; then the session has nothing of it.
 */
export async function runUserCommand(
  command: string,
  session: Session,
  { io, signal, emit, isForModel }: { io: Host["io"]; signal: AbortSignal; emit: TurnListener; isForModel: boolean },
): Promise<void> {
  const options = { io, signal, emit, ask: () => Promise.resolve(null), resultBytes: resultRoom(session, 1) };
  await emit({ kind: "tool_start", callId: CALL_ID, toolName: tool.name, subject: command });
  const result = await runTool(tool, { input: { command }, callId: CALL_ID, session }, options);
  await session.commandWatch?.turnEnd();
  const { content, isError, details } = result;
  const text = `[The user ran this command: ${command}]\n${content}`;
  const files = session.workspace.takeUsed();
  const label = highestLabel([result.label, await labelOfTexts([text, ...files], "the command", session)]);
  if (isForModel) session.items.push({ kind: "user", origin: "note", text, label, files });
  const item = { kind: "tool_result", callId: CALL_ID, name: tool.name, content, isError, label } as const;
  await emit({ kind: "tool_result", item, details });
}
