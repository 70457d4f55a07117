/** How a chat begins: with the model that is configured, or with one that is chosen now. */
import { asAgentcliError } from "../../errors.ts";
import type { Context } from "../verb.ts";
import type { ChatSession } from "./chat_session.ts";
import type { ChatView } from "./view.ts";

/**
 * Prepares the session. Where no model is configured and there is somebody to ask, one is chosen first; the chat is left
 * when none is. Throws what `prepare` throws.
 */
export async function beginChat(
  chat: ChatSession,
  { view, context, canAsk }: { view: ChatView; context: Context; canAsk: boolean },
): Promise<void> {
  try {
    await view.during("connecting", chat.ready());
  } catch (error) {
    const { code } = asAgentcliError(error);
    if (!canAsk || (code !== "no_provider" && code !== "no_model")) throw error;
    const { chooseFirstModel } = await import("./first_start.ts");
    const selector = await chooseFirstModel(view, context);
    if (selector === null) return view.leave();
    await view.during("connecting", chat.setModel(selector));
  }
}
