/** Recovers tool calls that a server left in the text of a reply. Source: specification of backends, section 8. */
import { loadRepair } from "../chat/arguments.ts";
import type { ToolSchema } from "../types.ts";
import { readBare } from "./bare.ts";
import { type CallContext, contextOf, type TextCall } from "./call.ts";
import { findMarked, type MarkedSpan } from "./marked.ts";

/** What a text came to. */
export interface Recovered {
  /** At least one, in the order of the text. */
  calls: TextCall[];
  /**
   * The text without the calls: its parts without the white space around them, parted by an empty line. Up to the first
   * call it is the text as it stands, so what was shown while streaming is the beginning of it.
   */
  rest: string;
  /** The form of the first call; `bare` for a message that is nothing but calls. */
  family: string;
}

/**
 * The calls in the text of a complete reply, or null when there are none that may run.
 *
 * A call counts when its tool is declared, every value of it is closed and it stands outside reasoning and quotations
 * and not in the middle of a sentence; a call without marks only when it is the whole message. What the model made up as
 * the result of a call is left out, with all that follows. After a call without an end nothing counts, since it may be
 * the inside of one of its values. Never throws; time grows with the length of the text.
 *
 * The caller makes sure that the request had tools, that the reply had no structured calls, and that it was not cut
 * (`finish` is not `length`).
 */
export function recoverCalls(text: string, tools: readonly ToolSchema[]): Recovered | null {
  return recover(text, contextOf(tools));
}

/** {@link recoverCalls}, where JSON that is closed but not quite JSON is mended like that of other calls. */
export async function recoverMended(text: string, tools: readonly ToolSchema[]): Promise<Recovered | null> {
  const context = contextOf(tools);
  const found = recover(text, context);
  return context.mended === 0 ? found : recover(text, contextOf(tools, await loadRepair()));
}

function recover(text: string, context: CallContext): Recovered | null {
  if (context.tools.size === 0 || !/[<{[]/.test(text)) return null;
  const bare = readBare(text, context);
  if (bare.kind === "calls") return { calls: bare.calls, rest: bare.rest, family: "bare" };
  if (bare.kind === "data") return null;
  const { spans, until } = findMarked(text, context);
  const found = spans.filter((span) => span.calls.length > 0);
  const [first] = found;
  if (first === undefined) return null;
  return {
    calls: found.flatMap((span) => span.calls),
    rest: textWithout(text.slice(0, until), found),
    family: first.form,
  };
}

function textWithout(text: string, spans: readonly MarkedSpan[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const { start, end } of [...spans, { start: text.length, end: text.length }]) {
    const part = text.slice(from, start);
    if (part.trim() !== "") parts.push(from === 0 ? part.trimEnd() : part.trim());
    from = end;
  }
  return parts.join("\n\n");
}
