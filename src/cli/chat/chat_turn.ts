/** What a chat adds to its session: images that a line names, and the modes that one key goes through. */
import type { AskPermission } from "../../agent/permission_question.ts";
import type { Workspace } from "../../boundary/workspace/workspace.ts";
import type { TurnListener, TurnResult } from "../../protocol/turn_event.ts";
import type { AgentSession } from "../../runtime/agent_session.ts";
import type { TypedPrompt } from "./typed_line.ts";

/** How a turn of the chat is watched. */
export interface ChatTurn {
  signal: AbortSignal;
  emit: TurnListener;
  ask: AskPermission;
  notice(text: string): void;
}

/** Runs one turn with the images that its words name. Throws as {@link AgentSession.prompt} does. */
export async function chatTurn(
  chat: AgentSession,
  { text, label, from }: TypedPrompt,
  { signal, emit, ask, notice }: ChatTurn,
): Promise<TurnResult> {
  const { session } = await chat.ready();
  signal.throwIfAborted();
  const files = from === null ? await mentioned(text, session.workspace, notice) : [];
  return await chat.prompt({ text, label, files }, { signal, onEvent: emit, ask });
}

async function mentioned(text: string, workspace: Workspace, notice: (text: string) => void): Promise<string[]> {
  if (!/\.(?:png|jpe?g|webp|gif)/i.test(text)) return [];
  const { mentionedImages } = await import("./mentioned_images.ts");
  const { files, problems } = await mentionedImages(text, workspace);
  for (const problem of problems) notice(problem);
  if (files.length > 0) notice(`attached: ${files.join(", ")}`);
  return files;
}

/** The modes that a key goes through; what asks for nothing is chosen by name alone. */
const CYCLED_MODES = ["default", "acceptEdits", "plan"] as const;

/** Takes the next of the modes that one key goes through. */
export function nextMode(chat: AgentSession): void {
  const at = CYCLED_MODES.findIndex((mode) => mode === chat.mode);
  chat.setMode(CYCLED_MODES[(at + 1) % CYCLED_MODES.length] ?? "default");
}
