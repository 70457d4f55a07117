/** How a chat begins: with the model that is configured, or with one that is chosen now. */
import { AgentcliError, asAgentcliError } from "../../errors.ts";
import type { Context } from "../command.ts";
import type { AgentSession } from "../../runtime/agent_session.ts";
import type { ChatView } from "./view.ts";

/**
 * Prepares the session. Where no model is configured and there is somebody to ask, one is chosen first; the chat is left
 * when none is. Throws what `prepare` throws, and the signal's reason.
 */
export async function beginChat(
  chat: AgentSession,
  { view, context, canAsk, signal }: { view: ChatView; context: Context; canAsk: boolean; signal: AbortSignal },
): Promise<void> {
  try {
    await view.during("connecting", chat.ready());
  } catch (error) {
    const { code } = asAgentcliError(error);
    if (!canAsk) throw error;
    if (code !== "no_provider" && code !== "no_model") throw withWayOut(error);
    const { chooseFirstModel } = await import("./first_start.ts");
    const selector = await chooseFirstModel({ view, context, signal });
    if (selector === null) return view.leave();
    await view.during("connecting", chat.setModel(selector));
  }
}

/** What another model of this chat would not suffer from. */
const OF_THE_MODEL: ReadonlySet<string> = new Set([
  "unknown_provider",
  "unknown_model",
  "unknown_role",
  "provider_unreachable",
  "key_missing",
  "key_store_unusable",
]);

function withWayOut(error: unknown): unknown {
  const { code, message, hint } = asAgentcliError(error);
  if (!OF_THE_MODEL.has(code)) return error;
  const here = "for this chat: /model chooses another one, /model demo needs no server";
  return new AgentcliError(code, message, { hint: hint === undefined ? here : `${hint}; ${here}`, cause: error });
}
