/** A key from the person or program in front of us: from a hidden prompt, or from standard input. Never from an argument. */
import { checkedKey } from "../../config/key.ts";
import { AgentcliError } from "../../errors.ts";
import type { Io } from "../../platform/io.ts";
import { askHidden } from "../../terminal/hidden_line.ts";

/** Bytes of standard input; keys have a few hundred at most. */
const INPUT_LIMIT = 64 * 1024;

/** The key for `provider`, trimmed. Throws `usage` for none, or for one that a header cannot carry. */
export async function readKey(io: Io, provider: string): Promise<string> {
  const text = io.stdin.isTerminal ? await askHidden(io, `Key for ${provider}: `) : await readAll(io.stdin);
  if (text === null || text.trim() === "") {
    throw new AgentcliError("usage", "no key was given", {
      hint: `type it when asked, or give it on standard input: … | agentcli providers set-key ${provider}`,
    });
  }
  const { key, problem } = checkedKey("literal", text);
  if (key !== undefined) return key;
  throw new AgentcliError("usage", problem ?? "this cannot be a key", {
    hint: "a key is one line of printable ASCII characters",
  });
}

async function readAll(stdin: Io["stdin"]): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for (let bytes = await stdin.read(); bytes !== null; bytes = await stdin.read()) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > INPUT_LIMIT) throw new AgentcliError("usage", "standard input is too long for a key");
  }
  return text + decoder.decode();
}
