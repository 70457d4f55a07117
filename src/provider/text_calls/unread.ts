/**
 * Calls that were meant, most likely, and cannot be run: a form that is not known, an object without its end, a call
 * amid a sentence. What is found here is never run; the model is asked once to send it again.
 */
import type { ToolSchema } from "../types.ts";
import { isBareFrom, readBare, SHOWS } from "./bare.ts";
import { type CallContext, contextOf } from "./call.ts";
import { findMarked } from "./marked.ts";

/** A call that was not read. */
export interface UnreadCall {
  /** The declared tool that is named in it; null when it names none. */
  name: string | null;
  /** The message ends with it: it is no part of what is explained. */
  ends: boolean;
}

/** Characters behind the beginning of a call in which its tool is named. */
const NAME_WITHIN = 400;
/** Characters between a mark that is not known and the name of a tool. */
const NAME_BEHIND = 60;

/** What looks like a mark around a call, of a form that is not known. */
const MARK =
  /<[|｜/]?[\w:|｜▁.-]{0,40}(?:tool|func|call|invoke|action|plugin)[\w:|｜▁.-]{0,40}[^<>\n]{0,80}>|<[|｜][\w:▁.-]{1,40}[|｜]>|\[[A-Z_]{4,32}\]/g;

/** The call in a text in which none was found that may run, or null. */
export function unreadCall(text: string, tools: readonly ToolSchema[]): UnreadCall | null {
  const context = contextOf(tools);
  if (tools.length === 0 || readBare(text, context).kind === "data") return null;
  const { spans, broken, hidden } = findMarked(text, context);
  const ends = /[>}\])`]\s*$/.test(text);
  if (broken !== null) {
    const name = nameIn(text.slice(broken, broken + NAME_WITHIN), context);
    return { name, ends: name !== null };
  }
  const refused = spans.find((span) => span.standing !== "quoted");
  if (refused !== undefined) {
    const name = nameIn(text.slice(refused.start, Math.min(refused.end, refused.start + NAME_WITHIN)), context);
    return name === null && !ends ? null : { name, ends };
  }
  if (!ends) return null;
  const name = nameOfUnknown(withoutHidden(text, hidden), context) ?? nameOfLast(text, context);
  return name === null ? null : { name, ends };
}

/** The first declared name that stands in `text` as a word. */
function nameIn(text: string, { tools }: CallContext): string | null {
  const names = [...tools.keys()].map((name) => RegExp.escape(name)).join("|");
  return new RegExp(`(?<![\\w-])(?:${names})(?![\\w-])`).exec(text)?.[0] ?? null;
}

/** The tool of a call in a form that is not known: behind a mark, in a tag, or as a line of code. */
function nameOfUnknown(text: string, context: CallContext): string | null {
  for (const mark of text.matchAll(MARK)) {
    const behind = mark.index + mark[0].length;
    const name = nameIn(mark[0], context) ?? nameIn(text.slice(behind, behind + NAME_BEHIND), context);
    if (name !== null) return name;
  }
  const line = text.trimEnd().split("\n").at(-1)?.trim() ?? "";
  const tag = /<([A-Za-z_][\w.-]{0,127})>[^]*<\/\1>\s*$/.exec(text)?.[1];
  const code = /^([A-Za-z_][\w.-]{0,127})\(.*\)$/.exec(line)?.[1];
  const action = /(?:^|\n)\*{0,2}Action:\*{0,2}\s*`?([A-Za-z_][\w.-]{0,127})/.exec(text)?.[1];
  return [tag, code, action].find((name) => name !== undefined && context.tools.has(name)) ?? null;
}

/** The tool of calls that end a message and were not taken: an object behind words, or calls in a fence. */
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

/** A text with spaces for what is thought or quoted. */
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
