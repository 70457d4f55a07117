/** Lines wrapped to a width, at spaces where there are any. */
import { graphemes } from "./editor_text.ts";
import type { Row, Span } from "./style.ts";
import { displayWidth } from "./table.ts";

/** How lines are wrapped. `indent` comes before every line but the first, `first` before that. */
interface WrapOptions {
  width: number;
  first?: Row;
  indent?: Row;
}

/** No line is narrower, however narrow the terminal. */
const NARROWEST = 4;

function cells(line: Row): number {
  return line.reduce((sum, { text }) => sum + displayWidth(text), 0);
}

/** Breaks a line into lines of at most `width` cells. Spaces at a break are dropped; a longer word is cut. */
export function wrap(line: Row, { width, first = [], indent = [] }: WrapOptions): Row[] {
  const rows: Row[] = [];
  let current: Span[] = [...first];
  let used = cells(first);
  let empty = true;
  const room = Math.max(NARROWEST, width);
  const breakLine = () => {
    rows.push(current);
    current = [...indent];
    used = cells(indent);
    empty = true;
  };
  const add = (text: string, style: Span["style"]) => {
    current.push({ text, style });
    used += displayWidth(text);
    empty = false;
  };
  for (const word of wordsOf(line)) {
    const wide = cells(word.spans);
    if (!empty && used + word.space.length + wide > room) breakLine();
    else if (!empty && word.space !== "") add(word.space, word.spaceStyle);
    else if (empty && rows.length === 0 && word.space !== "") add(word.space, word.spaceStyle);
    for (const { text, style } of word.spans) {
      if (used + displayWidth(text) <= room) add(text, style);
      else {
        let piece = "";
        let pieceCells = 0;
        for (const character of graphemes(text)) {
          const next = displayWidth(character);
          if (used + pieceCells + next > room && !(empty && piece === "")) {
            if (piece !== "") add(piece, style);
            breakLine();
            [piece, pieceCells] = ["", 0];
          }
          piece += character;
          pieceCells += next;
        }
        if (piece !== "") add(piece, style);
      }
    }
  }
  if (!empty || rows.length === 0) rows.push(current);
  return rows;
}

interface Word {
  space: string;
  spaceStyle: Span["style"];
  spans: Span[];
}

/** The words, each with the spaces before it; the style may change inside a word. */
function wordsOf(line: Row): Word[] {
  const words: Word[] = [];
  let word: Word = { space: "", spaceStyle: "plain", spans: [] };
  for (const { text, style } of line) {
    for (const part of text.split(/( +)/)) {
      if (part === "") continue;
      if (part[0] === " ") {
        if (word.spans.length > 0) words.push(word);
        word = { space: (word.spans.length === 0 ? word.space : "") + part, spaceStyle: style, spans: [] };
      } else word.spans.push({ text: part, style });
    }
  }
  if (word.spans.length > 0) words.push(word);
  return words;
}
