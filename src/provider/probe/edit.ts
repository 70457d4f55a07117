/** Does the model turn an instruction into an edit that can be applied to the letter? */
import { type CallCheck, judgeCalls } from "./calls.ts";
import type { CallFinding } from "./findings.ts";
import { CALL_TOKENS } from "./native_calls.ts";
import { EDIT } from "./sample_tools.ts";
import { question, type Subject } from "./subject.ts";
import { withProtocol } from "./text_call.ts";

const FILE = `def area(width, height):
    total = width * height
    return total


def border(width, height):
    total = 2 * (width + height)
    return total
`;
const EXPECTED = FILE.replace(
  "2 * (width + height)\n    return total",
  "2 * (width + height)\n    return round(total)",
);
const PROMPT = `The file shapes.py holds:\n\n${FILE}\n` +
  "Make the function border return round(total) instead of total, and change nothing else. Use the tool Edit once: " +
  "old_string is text of the file, exactly as it stands there, that occurs once; new_string takes its place.";

/** Asks for one edit, with native calls or with calls in text. What counts is the file that the edit would give. */
export async function checkEdit(
  subject: Subject,
  options: { how: "native" | "text"; signal: AbortSignal },
): Promise<CallFinding> {
  const { how, signal } = options;
  const asked = how === "native"
    ? { messages: question(PROMPT), tools: [EDIT], maxTokens: CALL_TOKENS }
    : { messages: withProtocol([EDIT], PROMPT), maxTokens: CALL_TOKENS };
  const { reply } = await subject.ask(asked, { signal });
  return judgeCalls(reply, { tools: [EDIT], check: checkEditCall });
}

/** What is wrong with the edit; null when it gives the file that was asked for. */
export const checkEditCall: CallCheck = (calls) => {
  const [call] = calls;
  if (call?.name !== "Edit" || calls.length !== 1) return "not one call of the tool";
  const { file_path, old_string, new_string } = call.input;
  if (typeof file_path !== "string" || typeof old_string !== "string" || typeof new_string !== "string") {
    return "arguments are missing";
  }
  if (!file_path.endsWith("shapes.py")) return "another file is named";
  const places = old_string === "" ? 0 : FILE.split(old_string).length - 1;
  if (places === 0) return "old_string is not in the file";
  if (places > 1) return `old_string stands ${places} times in the file`;
  return FILE.replace(old_string, () => new_string) === EXPECTED ? null : "the edited file is not what was asked for";
};
