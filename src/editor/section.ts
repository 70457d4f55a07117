/** A marked section of a markdown file that others write too: what stands between the marks is ours, the rest is not. */

/** The first and the last line of a section. */
function marks(name: string): { begin: string; end: string } {
  return { begin: `<!-- agentcli:begin ${name} -->`, end: `<!-- agentcli:end ${name} -->` };
}

/** What is wrong with the marks of a section: one is missing, doubled, or out of order. */
export class SectionProblem extends Error {
  override readonly name = "SectionProblem";
}

interface Place {
  start: number;
  end: number;
}

function placeOf(text: string, name: string): Place | null {
  const { begin, end } = marks(name);
  const [first, last] = [text.indexOf(begin), text.indexOf(end)];
  if (first < 0 && last < 0) return null;
  if (first < 0 || last < first || text.includes(begin, first + 1) || text.includes(end, last + 1)) {
    throw new SectionProblem(`the marks of the section "${name}" are not one pair`);
  }
  return { start: first, end: last + end.length };
}

/** The content of a section with plain line ends; null when the file has none. Throws {@link SectionProblem}. */
export function readSection(text: string, name: string): string | null {
  const place = placeOf(text, name);
  if (place === null) return null;
  const { begin, end } = marks(name);
  const inner = text.slice(place.start + begin.length, place.end - end.length);
  return inner.replaceAll("\r\n", "\n").replace(/^\n/, "").replace(/\n$/, "");
}

/** The text with the section set: in its place, or behind everything with an empty line between. */
export function writeSection(text: string, name: string, { content }: { content: string }): string {
  const { begin, end } = marks(name);
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const section = [begin, ...content.split("\n"), end].join(newline);
  const place = placeOf(text, name);
  if (place !== null) return text.slice(0, place.start) + section + text.slice(place.end);
  if (text.replace(/^\ufeff/, "") === "") return `${text}${section}${newline}`;
  return text + gapBefore(text, newline) + section + newline;
}

function gapBefore(text: string, newline: string): string {
  return /\n[ \t]*\r?\n$/.test(text) ? "" : text.endsWith("\n") ? newline : newline + newline;
}

/** The text without the section and the empty line before it. */
export function removeSection(text: string, name: string): string {
  const place = placeOf(text, name);
  if (place === null) return text;
  const before = text.slice(0, place.start).replace(/(\r?\n)\r?\n$/, "$1");
  return before + text.slice(place.end).replace(/^\r?\n/, "");
}

/** The names of all sections of ours in a text. */
export function sectionNames(text: string): string[] {
  return [...text.matchAll(/<!-- agentcli:begin ([^\s>]+) -->/g)].map(([, name]) => name ?? "");
}
