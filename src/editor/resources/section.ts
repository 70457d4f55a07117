/** A marked section of a markdown file that others write too: what is between the marks is ours, the rest is not. */
import { orProblem, TextProblem } from "../limits.ts";

/** The first and the last line of a section, and its name. */
export interface SectionMarks {
  name: string;
  begin: string;
  end: string;
}

/** Returns the marks of a section of ours. */
export function ownMarks(name: string): SectionMarks {
  return { name, begin: `<!-- agentcli:begin ${name} -->`, end: `<!-- agentcli:end ${name} -->` };
}

/** A part of a text that is ours, while others write the rest. */
export interface TextPart {
  start: number;
  end: number;
}

/** Returns the text with the part set to lines: in its place, or after everything with an empty line between. */
export function setPart(text: string, place: TextPart | null, { content }: { content: string }): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const part = content.replaceAll("\n", newline);
  if (place !== null) return text.slice(0, place.start) + part + text.slice(place.end);
  if (text.replace(/^\ufeff/, "") === "") return text + part + newline;
  // One empty line, even where there are some already: so the removal knows how much to remove.
  return text + (text.endsWith("\n") ? newline : newline + newline) + part + newline;
}

/** Returns the text without the part and the empty line before it. */
export function cutPart(text: string, { start, end }: TextPart): string {
  return text.slice(0, start).replace(/(\r?\n)\r?\n$/, "$1") + text.slice(end).replace(/^\r?\n/, "");
}

function placeOf(text: string, { name, begin, end }: SectionMarks): TextPart | null {
  const [first, last] = [text.indexOf(begin), text.indexOf(end)];
  if (first < 0 && last < 0) return null;
  if (first < 0 || last < first || text.includes(begin, first + 1) || text.includes(end, last + 1)) {
    throw new TextProblem(`the marks of the section "${name}" are not one pair`);
  }
  return { start: first, end: last + end.length };
}

/** Returns the content of a section with plain line ends; null when the file has none. Throws {@link TextProblem}. */
export function readSection(text: string, marks: SectionMarks): string | null {
  const place = placeOf(text, marks);
  if (place === null) return null;
  const { begin, end } = marks;
  const inner = text.slice(place.start + begin.length, place.end - end.length);
  return inner.replaceAll("\r\n", "\n").replace(/^\n/, "").replace(/\n$/, "");
}

/** Returns the text with the section set. Throws {@link TextProblem}. */
export function writeSection(text: string, marks: SectionMarks, { content }: { content: string }): string {
  return setPart(text, placeOf(text, marks), { content: `${marks.begin}\n${content}\n${marks.end}` });
}

/** Returns the text without the section. Throws {@link TextProblem}. */
export function removeSection(text: string, marks: SectionMarks): string {
  const place = placeOf(text, marks);
  return place === null ? text : cutPart(text, place);
}

/** Returns the words of a comment of one line, lower case; null for any other line. */
function commentWords(line: string): string[] | null {
  const inner = /^<!--(.*)-->$/.exec(line.trim())?.[1];
  return inner === undefined ? null : inner.toLowerCase().split(/[\s:_/-]+/).filter((word) => word !== "");
}

const BEGIN = /^(?:begin|start)$/;
const END = /^(?:end|stop)$/;

/**
 * Returns the sections that a text is divided into by comments, those of other installers too: a line that says "begin"
 * or "start", and a later one that says "end" or "stop" and names nothing new.
 */
export function sectionsIn(text: string): SectionMarks[] {
  const lines = text.split(/\r?\n/);
  const comments = lines.map(commentWords);
  const ends = [...comments.keys()].filter((at) => comments[at]?.some((word) => END.test(word)));
  const found: SectionMarks[] = [];
  for (let at = 0; at < lines.length; at++) {
    const words = comments[at];
    if (!words?.some((word) => BEGIN.test(word))) continue;
    const names = words.filter((word) => !BEGIN.test(word));
    const end = ends.find((index) => index > at && namedBy(comments[index]).every((word) => names.includes(word)));
    if (end === undefined) continue;
    const last = namedBy(comments[end]);
    const own = /^<!-- agentcli:begin ([^\s>]+) -->$/.exec((lines[at] ?? "").trim())?.[1];
    const name = own ?? (last.join("-").replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") || "section");
    found.push({ name, begin: (lines[at] ?? "").trim(), end: (lines[end] ?? "").trim() });
    at = end;
  }
  return found;
}

function namedBy(end: readonly string[] | null = null): string[] {
  return end?.filter((word) => !END.test(word)) ?? [];
}

/** Returns whether a text has anything beside its sections. */
export function hasOwnText(text: string): boolean {
  let rest = text;
  orProblem(() => sectionsIn(text).forEach((marks) => rest = removeSection(rest, marks)), () => {});
  return rest.trim() !== "";
}
