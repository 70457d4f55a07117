/** What a chat adds to its session: images that a line names, and the modes that one key goes through. */
import type { Workspace } from "../../boundary/workspace/workspace.ts";
import type { AgentSession, PromptInput } from "../../runtime/agent_session.ts";
import type { TypedPrompt } from "./typed_line.ts";

/** Returns what was typed as a prompt, with the images that its words name. Throws what opening the session throws. */
export async function promptOf(
  { text, label, from }: TypedPrompt,
  chat: AgentSession,
  notice: (text: string) => void,
): Promise<PromptInput> {
  const { session } = await chat.ready();
  const files = from === null ? await mentioned(text, session.workspace, notice) : [];
  return { text, label, files };
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
