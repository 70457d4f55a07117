/** Checks the reply that would end a turn: a step that was only announced, or a change that was only claimed. */
import { type Language, LANGUAGES } from "./languages.ts";

/** Continue prompts for the model, and notices for the person, by what the reply holds. */
export const UNFINISHED_PROMPTS = {
  step: {
    text:
      "Your reply announces a step, but it holds no tool call, so nothing was done. Make the call now. If nothing is " +
      "left to do, give your answer.",
    notice: "the response announces a step without a tool call; asked the model to make it",
  },
  change: {
    text: "Your reply says that something was changed, but no file was changed in this turn, and no command ran that " +
      "could have. Make the change now. If none is needed, say so. If you spoke of earlier work, give your answer again.",
    notice: "the response claims a change, but no file was changed and no command ran; told the model so",
  },
  code: {
    text:
      "Your reply shows code, but no file was changed. If a file is to hold it, call Edit or Write now. If not, give " +
      "your answer again.",
    notice: "the response shows code, but no file was changed; asked the model to make the change",
  },
  offer: {
    text: "You were asked to do it, and nobody can answer you here. Do it now, or say why it cannot be done.",
    notice: "the response offers what was asked for; told the model to go on",
  },
  tests: {
    text:
      "Your reply says that tests pass, but no command ran in this turn. Run them now, or give your answer without " +
      "that claim.",
    notice: "the response claims that tests pass, but no command ran; told the model so",
  },
  failed: {
    text:
      "Your reply says that tests pass, but the last command of this turn failed. Repair what is wrong and run them " +
      "again, or give your answer without that claim.",
    notice: "the response claims that tests pass, but the last command failed; told the model so",
  },
} as const;

/** Continue prompts by what the model left undone. */
export type UnfinishedPrompts = typeof UNFINISHED_PROMPTS;

export interface WorkDone {
  changes: number;
  /** Commands that do more than look, and external tools, that ran. */
  commands: number;
  /** The last of them ended with an error. */
  failed: boolean;
}

interface EndingReply {
  text: string;
  /** The last words of the user. */
  prompt: string;
  /** In this turn. */
  done: WorkDone;
  /** Something was, or may have been, changed in an earlier turn. */
  workedBefore: boolean;
}

/** Only the beginning and the end of long texts are read. */
const READ = 4000;
/** Sentences at the beginning in which something may be said to be changed without saying by whom. */
const HEAD = 2;

const NAMES_FILE = /[\w-]\.[a-z]\w{0,7}\b/i;

/** Whether a reply ends with the announcement of a step. Never where the user asked a question. */
export function announcesStep({ text, prompt }: Pick<EndingReply, "text" | "prompt">): boolean {
  if (isQuestion(prompt)) return false;
  if (/(?:[:：…]|\.\.\.)[*_\s]*$/.test(text)) return true;
  const last = sentencesOf(unquoted(text.slice(-READ))).at(-1);
  if (last === undefined || last.isListed || /[?？؟]$/.test(last.text)) return false;
  // Code after it is the answer where somebody asked for code; otherwise it is a file that was not written.
  if (/```\s*$/.test(text) && ![last.text, prompt].some((words) => NAMES_FILE.test(words))) return false;
  return LANGUAGES.some(({ future, but }) => future.test(last.text) && !but.test(last.text));
}

/** A false claim: a change that was not made, tests that did not run, or tests that failed. */
type Claim = "change" | "tests" | "failed";

/** Returns what a response claims to have done in this turn and did not; never where the user only asked a question. */
export function emptyClaim({ text, prompt, done, workedBefore }: EndingReply): Claim | null {
  const isIdle = done.commands === 0;
  if (!isIdle && !done.failed) return null;
  const sentences = sentencesOf(
    unquoted(text.length > 2 * READ ? `${text.slice(0, READ)}\n${text.slice(-READ)}` : text),
  )
    .filter((sentence) => !/[?？؟]$/.test(sentence.text));
  const says = (test: (language: Language) => RegExp, among = sentences, languages = LANGUAGES) =>
    languages.some((language) =>
      among.some((sentence) => test(language).test(sentence.text) && !language.but.test(sentence.text))
    );
  const own = sentences.filter((sentence) => !sentence.isListed);
  const head = sentences.slice(0, HEAD).filter((sentence) => !sentence.isListed);
  const isOver = () => wantsChange(prompt) && says(({ over }) => over, [...head, ...own.slice(-1)]);
  const claiming = LANGUAGES.filter(({ done: words }) =>
    words === undefined || sentences.some((sentence) => words.test(sentence.text))
  );
  const isChange = isIdle && done.changes === 0 &&
    (says(({ made }) => made, sentences, claiming) || says(({ was }) => was, head, claiming) || isOver());
  if (!isChange && !says(({ tests }) => tests)) return null;
  if (wantsWords(prompt, workedBefore)) return null;
  return isChange ? "change" : isIdle ? "tests" : "failed";
}

/**
 * Whether a reply holds code, or offers to make the change, where the user wanted a change of a file and nothing was
 * done. An offer counts where nobody can take it.
 */
export function leavesUndone(
  { text, prompt, workedBefore, isAlone }: Omit<EndingReply, "done"> & { isAlone: boolean },
): "code" | "offer" | null {
  if (!wantsChange(prompt) || wantsWords(prompt, workedBefore)) return null;
  const end = sentencesOf(unquoted(text.slice(-READ))).at(-1)?.text ?? "";
  if (isAlone && LANGUAGES.some(({ offers }) => offers.test(end))) return "offer";
  if (!/^[ \t]*```[^\n]*\n[^]*?^[ \t]*```/m.test(text)) return null;
  return NAMES_FILE.test(prompt) || NAMES_FILE.test(unquoted(text)) ? "code" : null;
}

function wantsChange(prompt: string): boolean {
  const [first] = wordsOfPrompt(prompt);
  return LANGUAGES.some(({ change }) => change.test(first));
}

/** A question that is not a request in the form of one. */
function isQuestion(prompt: string): boolean {
  const [first = "", whole] = wordsOfPrompt(prompt);
  const asks = [first, whole].some((text) => /[?？؟]["'”»」)*_\s]*$/.test(text));
  return asks && !LANGUAGES.some(({ polite }) => polite.test(first));
}

function wantsWords(prompt: string, workedBefore: boolean): boolean {
  const [first = ""] = wordsOfPrompt(prompt);
  const asked = first.replace(/^(?:can|could|would|will) you (?:please )?/, "");
  if (isQuestion(prompt) || LANGUAGES.some(({ tells }) => tells.test(asked))) return true;
  return workedBefore && (/[?？؟]\s*$/.test(first) || !LANGUAGES.some(({ change }) => change.test(first)));
}

/** The first paragraph, and all of it: what is attached or piped in stands after what was typed. */
function wordsOfPrompt(prompt: string): [first: string, whole: string] {
  const whole = prompt.trim().toLowerCase();
  return [whole.slice(0, READ).split(/\n\s*\n/, 1)[0]?.trim() ?? "", whole.slice(-READ)];
}

/** A text without code blocks and quotations, which are not the model's own words. */
function unquoted(text: string): string {
  return text.replace(/^[ \t]*(```|~~~)[^]*?(?:^[ \t]*\1[^\n]*$|$(?![^]))/gm, "\n")
    .replace(/^[ \t]*>.*$/gm, "")
    .replace(/"[^"\n]{1,300}"|“[^”\n]{1,300}”|„[^“”\n]{1,300}[“”]|«[^»\n]{1,300}»|「[^」\n]{1,300}」/g, " ")
    .replace(/\*\*|__/g, "");
}

interface Sentence {
  text: string;
  /** It stands in a list, or is a heading. */
  isListed: boolean;
}

function sentencesOf(text: string): Sentence[] {
  return text.toLowerCase().split("\n").flatMap((line) => {
    const isListed = /^\s*(?:[-*+•#|]|\d+[.)])/.test(line);
    return line.split(/(?<=[.!?:])\s+|(?<=[。！？])/).map((part) => part.trim()).filter((part) => part !== "")
      .map((part) => ({ text: part, isListed }));
  });
}
