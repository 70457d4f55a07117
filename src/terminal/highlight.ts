/** Light highlighting of code, line by line: words of the language, strings, comments, numbers. */
import { type Row, row, type Span, span } from "./style.ts";

/** A longer line is shown as it is: nobody reads it by its colours. */
const LINE_LIMIT = 1000;

const WORDS = new Set(
  ("abstract and as assert async await bool boolean break case catch chan char class const constexpr continue crate " +
    "def default defer del delete do done double elif else elsif end enum esac except export extends extern false fi " +
    "final finally float fn for from func function global go goto if impl implements import in instanceof int " +
    "interface is lambda let local long loop match mod module mut namespace new nil none not null nullptr object of " +
    "or override package pass private protected pub public raise readonly ref require return self short signed " +
    "sizeof static string struct super switch template then this throw throws trait true try type typedef typeof " +
    "undefined union unless unsafe unsigned until use using val var virtual void volatile where while with yield " +
    "None True False SELECT FROM WHERE INSERT INTO UPDATE SET DELETE CREATE TABLE JOIN ON GROUP BY ORDER AND OR NOT " +
    "NULL AS VALUES LIMIT").split(" "),
);

const HASH = new Set(
  "bash sh zsh shell python py ruby rb yaml yml toml perl r make makefile dockerfile conf ini".split(" "),
);
const DASHES = new Set("sql lua haskell hs ada elm".split(" "));
const PLAIN = new Set("text txt plain plaintext output log markdown md console".split(" "));

/** The line with its looks. `language` is what stands behind the fence; an unknown one is read like most are. */
export function highlight(line: string, language: string): Row {
  const name = language.toLowerCase();
  if (name === "diff" || name === "patch") return [diffSpan(line)];
  if (PLAIN.has(name) || line.length > LINE_LIMIT) return row(line);
  const comment = HASH.has(name) ? "#" : DASHES.has(name) ? "--" : name === "" ? null : "//";
  const spans: Span[] = [];
  const pattern = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|`(?:[^`\\]|\\.)*`|[A-Za-z_$][\w$]*|\d[\w.]*|\/\/|\/\*|--|#|./gsu;
  for (const match of line.matchAll(pattern)) {
    const [text] = match;
    if (text === comment || (text === "/*" && comment === "//")) {
      spans.push(span(line.slice(match.index), "comment"));
      break;
    }
    spans.push(span(text, styleOf(text)));
  }
  return spans;
}

function styleOf(text: string): Span["style"] {
  if (/^["'`]./.test(text)) return "string";
  if (/^\d/.test(text)) return "number";
  return WORDS.has(text) ? "keyword" : "plain";
}

/** A line of a unified diff. */
export function diffSpan(line: string): Span {
  if (/^(\+\+\+|---) /.test(line)) return span(line, "bold");
  if (line.startsWith("@@")) return span(line, "accent");
  if (line.startsWith("+")) return span(line, "added");
  return span(line, line.startsWith("-") ? "removed" : "plain");
}
