/** Emphasis, code and links inside a paragraph. */
import { type Row, type Span, span, type Style } from "./style.ts";

// Every alternative is bounded, so that text with many signs that never close stays quick.
const INLINE =
  /(`+)([^`](?:.{0,400}?[^`])??)\1(?!`)|\*\*(?=\S)(.{1,400}?\S|\S)\*\*|__(?=\S)(.{1,400}?\S|\S)__(?!\w)|\*(?=[^\s*])([^*]{0,399}?[^\s*])\*|(?<!\w)_(?=[^\s_])([^_]{0,399}?[^\s_])_(?!\w)|~~([^~]{1,400})~~|!?\[([^\][]{1,400})\]\(([^()\s]{1,1000})(?: "[^"]{0,200}")?\)|\\([\\`*_{}[\]()#+.!|>~-])/gsu;

/**
 * The text with its looks. `base` is the look of what is not marked. A link shows where it leads, since what it says and
 * where it goes may differ; `colour` false keeps the signs of code, which nothing else would show.
 */
export function inline(text: string, options: { base?: Style; colour: boolean }): Row {
  const { base = "plain", colour } = options;
  const spans: Span[] = [];
  let end = 0;
  for (const match of text.matchAll(INLINE)) {
    if (match.index > end) spans.push(span(text.slice(end, match.index), base));
    end = match.index + match[0].length;
    const [, , code, strong, strong2, soft, soft2, struck, label, address, escaped] = match;
    if (code !== undefined) spans.push(span(colour ? code : match[0], "code"));
    else if (strong !== undefined || strong2 !== undefined) {
      spans.push(...inline(strong ?? strong2 ?? "", { base: "bold", colour }));
    } else if (soft !== undefined || soft2 !== undefined) {
      spans.push(...inline(soft ?? soft2 ?? "", { base: base === "plain" ? "italic" : base, colour }));
    } else if (struck !== undefined) spans.push(span(struck, "dim"));
    else if (label !== undefined && address !== undefined) {
      spans.push(span(label, "link"));
      if (label !== address) spans.push(span(` (${address})`, "dim"));
    } else spans.push(span(escaped ?? match[0], base));
  }
  if (end < text.length) spans.push(span(text.slice(end), base));
  return spans;
}
