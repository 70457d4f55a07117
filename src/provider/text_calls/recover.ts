/** Recovers tool calls that a server left in the text of a message. Source: specification of backends, section 8. */
import { loadRepair } from "../chat/arguments.ts";
import type { ToolSchema } from "../types.ts";
import { isBareFrom, readBare, SHOWS } from "./bare.ts";
import { readBlocks } from "./blocks.ts";
import { type CallContext, contextOf, declaredName, type TextCall } from "./call.ts";
import { findMarked, type MarkedSpan } from "./marked.ts";
import { skipThought } from "./quotation.ts";

/** The calls and the rest of a text. */
interface Recovered {
  /** At least one, in the order of the text. */
  calls: TextCall[];
  /**
   * The text without the calls: its parts without the white space around them, separated by an empty line. Up to the
   * first call it is the text as it stands, so what was shown while streaming is the beginning of it.
   */
  rest: string;
  /** The form of the first call; `bare` for a message that is nothing but calls. */
  family: string;
}

/**
 * The calls in the text of a complete reply, or null when there are none that may run.
 *
 * A call counts when its tool is declared, every value of it is closed and it stands outside reasoning and quotations
 * and not in the middle of a sentence; a call without marks only when it is the whole message. What the model made up
 * as the result of a call is left out, with all that follows. After a call without an end nothing counts, since it may
 * be the inside of one of its values. Never throws; time grows with the length of the text.
 *
 * The caller makes sure that the request had tools, that the reply had no structured calls, and that it was not cut
 * (`finish` is not `length`).
 */
export function recoverCalls(text: string, tools: readonly ToolSchema[]): Recovered | null {
  return recover(text, contextOf(tools));
}

/** {@link recoverCalls}, where JSON that is closed but not quite valid is repaired like that of other calls. */
export async function recoverMended(text: string, tools: readonly ToolSchema[]): Promise<Recovered | null> {
  const context = contextOf(tools);
  const found = recover(text, context);
  return context.mended === 0 ? found : recover(text, contextOf(tools, await loadRepair()));
}

/** The marked calls that a reply of nothing but reasoning ends with, or null. */
export function recoverThought(text: string, tools: readonly ToolSchema[]): Recovered | null {
  const { spans } = findMarked(text.replace(/(?<!\s)\s*<\/think(?:ing)?>\s*$/, ""), contextOf(tools));
  const first = spans.findIndex((span, index) =>
    span.position === "alone" && spans.slice(index).every(({ calls }) => calls.length > 0)
  );
  const last = spans.slice(first === -1 ? spans.length : first);
  if (last[0] === undefined || text.slice(last.at(-1)?.end).replace(/<\/think(?:ing)?>/, "").trim() !== "") return null;
  return {
    calls: last.flatMap(({ calls }) => calls),
    rest: textWithout(text.slice(0, last.at(-1)?.end), last),
    family: last[0].form,
  };
}

function recover(text: string, context: CallContext): Recovered | null {
  if (context.tools.size === 0 || !/[<{[(]/.test(text)) return null;
  const bare = readBare(text, context);
  if (bare.kind === "calls") return { calls: bare.calls, rest: bare.rest, family: "bare" };
  if (bare.kind === "data") return null;
  const { spans, until } = findMarked(text, context);
  const found = spans.filter((span) => span.calls.length > 0);
  const [first] = found;
  if (first === undefined) {
    // The blocks stay in the text: they were shown while they came.
    const calls = readBlocks(text, skipThought(text), context);
    return calls.length === 0 ? null : { calls, rest: text, family: "search_replace" };
  }
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

export interface UnparsedCall {
  /** The declared tool that is named in it; null when it names none. */
  name: string | null;
  /** The message ends with it: it is not part of an explanation. */
  ends: boolean;
}

/** Characters after the beginning of a call in which its tool is named. */
const NAME_WITHIN = 400;
/** Characters between a mark that is not known and the name of a tool. */
const NAME_BEHIND = 60;

/**
 * Lines with nothing but a tool's name that are looked at, and the characters after one in which its arguments stand.
 */
const MOST_OPENERS = 8;
const ARGUMENTS_WITHIN = 4000;

/** Looks like a mark around a call, of an unknown form. */
const MARK =
  /<[|｜/]?[\w:|｜▁.-]{0,40}(?:tool|func|call|invoke|action|plugin)[\w:|｜▁.-]{0,40}[^<>\n]{0,80}>|<[|｜][\w:▁.-]{1,40}[|｜]>|\[[A-Z_]{4,32}\]/g;

/** The call in a text in which none was found that may run, or null. */
export function unparsedCall(text: string, tools: readonly ToolSchema[]): UnparsedCall | null {
  const context = contextOf(tools);
  if (tools.length === 0 || readBare(text, context).kind === "data") return null;
  const { spans, broken, hidden } = findMarked(text, context);
  const ends = /[>}\])`]\s*$/.test(text);
  if (broken !== null) {
    const name = nameIn(text.slice(broken, broken + NAME_WITHIN), context);
    return { name, ends: name !== null };
  }
  const refused = spans.find((span) => span.position !== "quoted");
  if (refused !== undefined) {
    const name = nameIn(text.slice(refused.start, Math.min(refused.end, refused.start + NAME_WITHIN)), context);
    return name === null && !ends ? null : { name, ends };
  }
  const unknown = ends ? nameOfUnknown(withoutHidden(text, hidden), context) ?? nameOfLast(text, context) : null;
  if (unknown !== null) return { name: unknown, ends };
  const shown = nameOfOnlyFence(text, context) ?? nameWithArguments(withoutHidden(text, hidden), context);
  return shown === null ? null : { name: shown, ends: false };
}

/** The first declared name that stands in `text` as a word. */
function nameIn(text: string, { tools }: CallContext): string | null {
  const names = [...tools.keys()].map((name) => RegExp.escape(name)).join("|");
  return new RegExp(`(?<![\\w-])(?:${names})(?![\\w-])`).exec(text)?.[0] ?? null;
}

/** The tool of a call in a form that is not known: after a mark, in a tag, or as a line of code. */
function nameOfUnknown(text: string, context: CallContext): string | null {
  for (const mark of text.matchAll(MARK)) {
    const behind = mark.index + mark[0].length;
    const name = nameIn(mark[0], context) ?? nameIn(text.slice(behind, behind + NAME_BEHIND), context);
    if (name !== null) return name;
  }
  const line = text.trimEnd().split("\n").at(-1)?.trim() ?? "";
  const closed = /<\/([A-Za-z_][\w.-]{0,127})>$/.exec(text.trimEnd())?.[1];
  const tag = closed !== undefined && text.includes(`<${closed}>`) ? closed : undefined;
  const code = /^([A-Za-z_][\w.-]{0,127})\(.*\)$/.exec(line)?.[1];
  const action = /(?:^|\n)\*{0,2}Action\*{0,2}:\*{0,2}\s*`?([A-Za-z_][\w.-]{0,127})/.exec(text)?.[1];
  return [tag, code, action].map((name) => name === undefined ? null : declaredName(name, context))
    .find((name) => name !== null) ?? null;
}

/** The tool of calls that end a message and were not taken: an object after words, or calls in a fence. */
function nameOfLast(text: string, context: CallContext): string | null {
  for (const start of [...text.matchAll(/(?<=\n)[ \t]*[{[]/g)].slice(0, 8)) {
    if (isBareFrom(text, start.index, context)) return nameIn(text.slice(start.index), context);
  }
  const [, before = "", content] = /^([^]*?)```[\w-]*\n((?:(?!```)[^])*)\n```\s*$/.exec(text) ?? [];
  if (content === undefined || SHOWS.test(before)) return null;
  const isCall = isBareFrom(content, 0, context) ||
    findMarked(content, context).spans.some((span) => span.calls.length > 0);
  return isCall ? nameIn(content, context) : null;
}

/** The tool of a call in the only fence of a message, with words after it that do not say that it is shown. */
function nameOfOnlyFence(text: string, context: CallContext): string | null {
  const [, before = "", content, behind = ""] =
    /^([^`]*)```(?:json|tool_calls?|tool_code)?\n([^`]*)\n[ \t]*```([^`]*)$/.exec(text) ?? [];
  if (content === undefined || SHOWS.test(before) || SHOWS.test(behind)) return null;
  return isBareFrom(content, 0, context) ? nameIn(content, context) : null;
}

/** The tool that a line names, with its required arguments on the lines after it: YAML, or a list of them. */
function nameWithArguments(text: string, { tools }: CallContext): string | null {
  for (const [name, schema] of tools) {
    const required: unknown[] = Array.isArray(schema.required) ? schema.required : [];
    if (required.length === 0) continue;
    const openers = new RegExp(
      String.raw`^[ \t*\`"#-]*(?:(?:tool|function|name|action|call)\w*[\`"*]*[ \t]*[:=][ \t*\`"]*)?${
        RegExp.escape(name)
      }[\`"*:]*[ \t]*\r?$`,
      "gm",
    );
    const keys = required.map((key) =>
      new RegExp(String.raw`^[ \t*\`"-]*${RegExp.escape(String(key))}[\`"*]*[ \t]*[:=]`, "m")
    );
    for (const { index, 0: { length } } of text.matchAll(openers).take(MOST_OPENERS)) {
      const behind = text.slice(index + length, index + length + ARGUMENTS_WITHIN);
      if (keys.every((key) => key.test(behind))) return name;
    }
  }
  return null;
}

/** A text with spaces in place of reasoning and quotations. */
function withoutHidden(text: string, hidden: readonly (readonly [from: number, to: number])[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const [start, end] of hidden) {
    if (end <= from) continue;
    parts.push(text.slice(from, Math.max(start, from)), " ".repeat(end - Math.max(start, from)));
    from = end;
  }
  return parts.join("") + text.slice(from);
}
