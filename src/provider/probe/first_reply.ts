/** Does a short question get a reply? The server may load the model for it, so its time says little of later ones. */
import { AgentcliError } from "../../errors.ts";
import type { FirstReply } from "./findings.ts";
import { question, type Subject } from "./subject.ts";

/** Asks for a greeting. Throws what the request throws, and `empty_reply` for a reply with nothing in it. */
export async function firstReply(subject: Subject, signal: AbortSignal): Promise<FirstReply> {
  const asked = { messages: question("Say hello in one short sentence."), maxTokens: 256 };
  const { reply, firstMs, endMs } = await subject.ask(asked, { signal });
  if (reply.text.trim() === "" && reply.reasoning === "" && reply.calls.length === 0) {
    throw new AgentcliError("empty_reply", `${subject.endpoint.provider} sent an empty reply to a greeting`, {
      hint: "look at the server's log: the model or its chat template may be broken",
    });
  }
  const other = reply.model !== null && reply.model !== subject.model ? reply.model : null;
  return { firstTokenMs: firstMs, totalMs: endMs, answeredAs: other };
}
