/**
 * What the chat template of a llama-server drops without a word: asked when its first reply of a session begins, which
 * costs no request a wait, and where a model that was still loading is there by then.
 */
import { ProviderFailure } from "../provider/failure.ts";
import type { Session } from "./session.ts";
import { safest } from "./tool_protocol.ts";

/**
 * Asks for what the template needs, once a session. Throws what another shape of the request helps against, where the
 * model was asked without its tools or without a part of the history.
 */
export async function checkTemplate(session: Session): Promise<void> {
  const { context, model, server, items } = session;
  const needs = context.templateNeeds = await server.templateNeeds();
  if (needs === null || safest([needs, context.toolProtocol]) === context.toolProtocol) return;
  const subject = `the chat template of ${model.entry.id} on ${model.provider}`;
  if (needs === "text") {
    // Whoever configures calls as such knows the template, but not that a message can hold too many of them.
    if (model.entry.toolCalls !== undefined) return;
    throw new ProviderFailure("provider_error", `${subject} leaves tools out`, { kind: "no_tools" });
  }
  if (items.some((item) => item.kind === "assistant" && item.calls.length > 1)) {
    throw new ProviderFailure("provider_error", `${subject} shows one call a message`, { kind: "template" });
  }
  // Nothing was left out yet, and what comes is sent in a way that leaves nothing out.
  context.toolProtocol = needs;
}
