/** Finds lines that stand for text a model left out: written to a file, they would replace it. */
import { sha256 } from "../platform/digest.ts";
import { failure } from "./result.ts";
import type { ToolContext, ToolResult } from "./tool.ts";

/** How comments of one line open and close, in all languages together; longer openings first. */
const COMMENTS: readonly (readonly [open: string, close: string])[] = [
  ["{{!--", "--}}"],
  ["<!--", "-->"],
  ["<%#", "%>"],
  ["{/*", "*/}"],
  ["/*", "*/"],
  ["(*", "*)"],
  ["{-", "-}"],
  ["{#", "#}"],
  ["//", ""],
  ["--", ""],
  ['"""', '"""'],
  ["#", ""],
  [";", ""],
  ["%", ""],
  ["*", ""],
  ["'", ""],
  ["REM ", ""],
];

/** Texts for people, where only the first kinds of comments apply. */
const PROSE = /\.(?:md|mdx|markdown|rst|adoc|txt|text|html?)$/i;

/** Languages in which a line of three dots is code. */
const DOTS_ARE_CODE = /\.(?:py|pyi|r|rmd|pl|pm|lua|ya?ml|c|h|cc|cpp|hpp|cxx|ml|mli)$/i;

const DOTS = String.raw`(?:\.{3,}|…)`;
const NOUN = String
  .raw`(?:code|files?|functions?|methods?|class(?:es)?|components?|implementations?|contents?|imports?|logic|lines?|body|` +
  String
    .raw`definitions?|tests?|fields?|properties|routes?|config(?:uration)?|styles?|sections?|script|module|document|text)`;
const TAIL =
  String.raw`(?:\s*[-–—:,(]*\s*(?:(?:goes|is|are|continues|follows)\s*)?(?:here|below|above|as (?:is|before|it was)|` +
  String.raw`unchanged|(?:re|un)mains?\s.{2,20}|stays?\s.{2,20}|omitted.{0,20}|not shown|the same|no changes?)\)?)`;
const WHICH = String
  .raw`(?:(?:the|your|all|any|my)\s+)*(?:rest|remainder|existing|remaining|previous|original|other|unchanged|old)`;

/** Phrases of such a line, in several languages. */
const SAYS: readonly RegExp[] = [
  new RegExp(String.raw`^${WHICH}\s+(?:of\s+(?:the|this|your)\s+)?(?:\w+\s+)?${NOUN}\b${TAIL}\W*$`, "i"),
  new RegExp(
    String.raw`^${WHICH}\s+(?:of\s+(?:the|this|your)\s+)?(?:\w+\s+)?(?:code|file|implementation|contents?)\W*$`,
    "i",
  ),
  new RegExp(String.raw`^(?:the\s+)?rest\s+(?:of\s+(?:the|this|your)\s+(?:\w+\s+)?${NOUN}|unchanged|omitted)\W*$`, "i"),
  new RegExp(
    String
      .raw`^(?:the\s+)?(?:\w+\s+)?${NOUN}\s+(?:unchanged|(?:remains?|stays?|is)\s+(?:the same|unchanged|as is))\W*$`,
    "i",
  ),
  new RegExp(String.raw`^(?:todo\W+)?keep\s+${WHICH}\s+(?:of\s+the\s+)?(?:\w+\s+)?${NOUN}\b.{0,20}$`, "i"),
  /\b(?:omitted|elided|removed|truncated|shortened|abbreviated) for (?:brevity|clarity|space|length|simplicity)\b/i,
  /^(?:unchanged|no changes?(?: here)?|same as (?:before|the original|original)|\W?snip(?:ped)?\W?)\W*$/i,
  /^(?:der )?(?:rest|restliche\S*|übrige\S*|bestehende\S*|bisherige\S*) .{0,30}(?:unverändert|bleib|code|datei)/i,
  /^(?:le )?(?:reste|suite) d[ue] .{0,30}(?:code|fichier|inchang)|^code (?:existant|inchangé|précédent)/i,
  /^(?:el |o |il )?(?:resto|restante) d?[eo]l? .{0,20}(?:código|archivo|arquivo|codice|file)|^(?:código|codice) (?:existente|anterior|esistente|invariato|sin cambios)/i,
  /(?:остальн|существующ|прежн)\S* (?:код|част|файл|метод|функци|содержим)|^без изменений/i,
  /(?:其余|其他|其它|剩余|原有|现有|已有|之前)的?(?:代码|内容|部分|方法|函数|逻辑|文件)|(?:保持|维持)不变|^省略/,
  /(?:既存|残り|以降|その他|他)の?(?:コード|部分|処理|メソッド|関数|内容)|^(?:中略|以下?省略|省略|変更なし)/,
  /(?:기존|나머지) ?(?:코드|내용|부분|함수)|^(?:생략|변경 없음)/,
];

/** A word that, between or after dots, says that something is left out. */
const WORD = new RegExp(
  String
    .raw`\b(?:existing|rest|remain\w*|unchanged|same|previous|other|more|original|omitted|keep|snip|before|above|${NOUN})\b|[^\x00-\x7f…]{2}`,
  "i",
);

function commentOf(line: string, isProse: boolean): string | null {
  for (const [open, close] of isProse ? COMMENTS.slice(0, 4) : COMMENTS) {
    if (!line.toUpperCase().startsWith(open)) continue;
    const inside = line.slice(open.length);
    const words = close !== "" && inside.endsWith(close) ? inside.slice(0, -close.length) : inside;
    return words.replace(/^[/#;%*!-]+(?=\s|\.|…)/, "").trim();
  }
  return null;
}

function standsForText(line: string, name: string): boolean {
  const isProse = PROSE.test(name);
  const trimmed = line.trim();
  const comment = commentOf(trimmed, isProse);
  if (comment === null) {
    // `...rest` without a space is code of several languages.
    if (new RegExp(`^${DOTS}$`).test(trimmed)) {
      return !isProse && (!DOTS_ARE_CODE.test(name) || /\.py$/.test(name) && line === trimmed);
    }
    const framed = /^\[(.*)\]$|^\((.*)\)$|^<(.*)>$/.exec(trimmed);
    const words = framed?.[1] ?? framed?.[2] ?? framed?.[3];
    if (words !== undefined) return isSaid(words);
    return new RegExp(String.raw`^${DOTS}\s`).test(trimmed) && isSaid(trimmed);
  }
  return isSaid(comment);
}

function isSaid(words: string): boolean {
  if (words.length > 100) return false;
  const bare = words.replace(new RegExp(String.raw`^[\s([<]*${DOTS}?[\s([<]*|[\s)\]>]*${DOTS}?[\s)\]>]*$`, "g"), "")
    .trim();
  if (bare === "") return /\.{3}|…/.test(words);
  if (SAYS.some((one) => one.test(bare))) return true;
  const opens = new RegExp(String.raw`^[\s([<]*${DOTS}`).test(words);
  return opens && WORD.test(bare) && bare.split(/\s+/).length <= 8;
}

/** The first line of `text` that stands for left-out text and is not in `before`, with its number; null for none. */
export function leftOutLine(
  text: string,
  { before, name }: { before: string; name: string },
): { line: number; text: string } | null {
  let known: Set<string> | null = null;
  let fenced = false;
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*(?:```|~~~)/.test(line)) fenced = !fenced;
    if ((fenced && PROSE.test(name)) || line.length > 200 || !standsForText(line.trimEnd(), name)) continue;
    known ??= new Set(before.split("\n").map((one) => one.trim()));
    if (!known.has(line.trim())) return { line: index + 1, text: line.trim() };
  }
  return null;
}

/**
 * The refusal of a text that leaves something out; null when it does not, and for the same call sent again: then the
 * line is meant. `way` says what to send instead.
 */
export async function refuseLeftOut(
  text: string,
  given: { before: string; path: { real: string; display: string }; argument: string; way: string },
  context: ToolContext,
): Promise<ToolResult | null> {
  const { path, argument, way } = given;
  const found = leftOutLine(text, { before: given.before, name: path.display });
  if (found === null) return null;
  const key = await sha256(new TextEncoder().encode(`${path.real}\0${text}`));
  if (context.memory.warned.has(key)) return null;
  context.memory.warned.add(key);
  return failure(
    `Line ${found.line} of ${argument}, ${
      JSON.stringify(found.text)
    }, stands for text that you left out; nothing was ` +
      `written to ${path.display}. ${way} If the line is meant as it is, send the same call again.`,
    context,
  );
}
