/**
 * Whoever reads text of a model, a server or a file needs time that grows with its length: none of the pieces below,
 * however often it stands there, makes a reader go over it again and again. Judged by the processor's time of twice as
 * much text.
 */
import { announcesStep, emptyClaim, leavesUndone } from "../src/agent/ending/unfinished.ts";
import { parseMarker } from "../src/boundary/policy/marker.ts";
import { commandProtection } from "../src/boundary/policy/write_protected.ts";
import { FragmentFinder } from "../src/boundary/scan/fragment_finder.ts";
import { formsOf } from "../src/boundary/scan/normalize.ts";
import { readFrontmatter, ruleProblems } from "../src/editor/resources/markdown.ts";
import { isBare } from "../src/editor/resources/resource.ts";
import { sectionsIn } from "../src/editor/resources/section.ts";
import { holdsKey } from "../src/editor/resources/servers.ts";
import { type McpServer, readServer, resolveServer } from "../src/mcp/server.ts";
import { cleanText, firstSentence } from "../src/mcp/tool_info.ts";
import { foldedPath } from "../src/platform/case_folded.ts";
import { normalized } from "../src/platform/text.ts";
import { answerIn } from "../src/private/answer.ts";
import { structureOf } from "../src/private/structure_view.ts";
import { readArguments } from "../src/provider/chat/arguments.ts";
import { serverErrorFromBody } from "../src/provider/chat/server_error.ts";
import { shownMessage } from "../src/provider/chat/shown_message.ts";
import { ThinkSplitter } from "../src/provider/chat/think.ts";
import { createHoldback } from "../src/provider/text_calls/holdback.ts";
import { recoverCalls, recoverThought, unparsedCall } from "../src/provider/text_calls/recover.ts";
import { looseWords, plainWords } from "../src/shell/command.ts";
import { commandParts } from "../src/shell/parts.ts";
import { readShell } from "../src/shell/file_names.ts";
import { settingsIn } from "../src/shell/git.ts";
import { clean } from "../src/terminal/clean.ts";
import { MarkdownStream } from "../src/terminal/markdown.ts";
import { shownOutput } from "../src/terminal/shown_output.ts";
import { matchEdit } from "../src/tools/edit/match.ts";
import { explainNoMatch } from "../src/tools/edit/nearest.ts";
import { readPatch } from "../src/tools/edit/patch.ts";
import { meantPath } from "../src/tools/meant_call.ts";
import { decodeEntities } from "../src/tools/call_shapes.ts";
import { SAMPLE_TOOLS } from "./helpers/text_calls.ts";
import assert from "node:assert/strict";

const finder = new FragmentFinder();
finder.add(".env", new TextEncoder().encode("TOKEN=tr0ub4dor&3-correct-horse\n"));

/** A server of a project, with a text in an argument. */
function serverOf(text: string): McpServer {
  const server = readServer("a", { command: "a" });
  assert.ok("entry" in server);
  return { ...server.entry, args: [text], origin: "project" };
}

/** A workspace in which no path leads anywhere. */
const NOWHERE = { resolve: () => ({ refused: "absent", unknown: true }), status: () => null };

const READERS: Readonly<Record<string, (text: string) => unknown>> = {
  "the forms of a protected file": (text) => formsOf(new TextEncoder().encode(text)),
  "the scan of a text": (text) => finder.fragments(text, 500),
  "a normalized text": (text) => [normalized(text, "NFC"), normalized(text, "NFKC"), normalized(text, "NFKD")],
  "a folded path": foldedPath,
  "calls in a reply": (text) => recoverCalls(text, SAMPLE_TOOLS),
  "calls in reasoning": (text) => recoverThought(text, SAMPLE_TOOLS),
  "a call that cannot be read": (text) => unparsedCall(text, SAMPLE_TOOLS),
  "text that may become a call": (text) => createHoldback(true).push(text),
  "reasoning in a reply": (text) => new ThinkSplitter({ text() {}, reasoning() {}, reclassify() {} }).push(text),
  "arguments of a call": readArguments,
  "the body of an error": (text) => shownMessage(serverErrorFromBody(text).message, [text.slice(0, 1000)]),
  "the end of a turn": (text) => [
    announcesStep({ text, prompt: "fix a.ts" }),
    emptyClaim({ text, prompt: "fix a.ts", done: { changes: 0, commands: 0, failed: false }, workedBefore: false }),
    leavesUndone({ text, prompt: "fix a.ts", workedBefore: false, isAlone: true }),
  ],
  "a closed answer": (text) => answerIn(text, { type: "yes_no" }),
  "the structure of a file": (text) => structureOf({ path: "a.env", real: "/a.env" }, text),
  "what an MCP server says": (text) => [cleanText(text), firstSentence(text)],
  "a command": (text) => [commandParts(text), readShell(text), plainWords(text), looseWords(text)],
  "git's settings": (text) => ["", "[", '[a "', "a", "a =", 'a = "'].map((start) => [...settingsIn(start + text)]),
  "a marker": (text) => parseMarker(new TextEncoder().encode(`no-cloud: ${text}`)),
  "a name": (text) => [text, `.mise${text}`].map((name) => commandProtection(`/${name}`, null)),
  "a server of the project": (text) => resolveServer(serverOf(text), { env: () => "x", secret: [] }),
  "rules and sections": (text) => [
    ...[text, `globs: ${text}`, ...["\n ", "\n- "].map((end) => `a:${end}${text.replaceAll("\n", end)}`)].map(
      (fields) => {
        const whole = `---\ntrigger: glob\n${fields}\n---\n`;
        return [readFrontmatter(whole), ruleProblems(whole)];
      },
    ),
    ...["", "<!--"].map((start) => sectionsIn(start + text)),
  ],
  "files of settings": (text) => [isBare(text), isBare(`{${text}`), holdsKey(`?token=${text}`)],
  "what is shown": (text) => [clean(text, { multiline: true }), shownOutput(text)],
  "Markdown": (text) => new MarkdownStream({ width: () => 80, color: true }).push(text + "\n"),
  "an edit": (text) => matchEdit(text, { old: text.slice(1, -1) + "x", new: "y", all: false }),
  "an edit that matches nothing": (text) => explainNoMatch(text, "no such line\nat all"),
  "a patch": readPatch,
  "entities": decodeEntities,
  // No path is longer than a quarter of this; the workspace has no files that it could look for.
  "a path": (text) =>
    meantPath(`a${text.slice(0, text.length / 4 - 2)}b`, { workspace: NOWHERE } as never).catch(() => null),
};

const PIECES: readonly string[] = [
  ...[" ", "\n", "\r", "\t", "a", "a ", "a\n", "\n\n", " \n", "\u0301\u0316", "\u0301", "\u302e\u0334"],
  ...["\uff9e\u0323", "`", "```\n", "```js\na\n", "~~~\n", "*", "**a", "_", "# ", "- ", "|", "|-|\n", "> ", "[a]("],
  ...["![", "<a>", "<a", "</a>", "{", "}", "[", "]", "(", ")", "f(", '{"a":', '"', "'", "\\", '\\"', "\\u0041", ","],
  ...[":", ";", "=", "a=", "--", "...", ".", "<tool_call>", '<tool_call>{"name":"list"', "</tool_call>"],
  ...["<function=list>", "<parameter=a>", "[TOOL_CALLS]", "<|", "<|a|>", "<think>", "</think>", "<think></think>"],
  ...["Action: list\nAction Input: {", "list(path='a'\n", "list\n", "read_file\n", "path: a\n", "&amp;", "&", "$("],
  ...["${", "&&", "| ", "<<A\n", "\x1b[", "\x1b[0m", "/a", "http://a:b@", "I will now read. ", "1", "é", "😀"],
  ...["*** Begin Patch\n", "<<<<<<< SEARCH\n", "=======\n", "@@ -1 +1 @@\n", "key: ", "Bearer ", "%41", "TOKEN="],
  ...["${a:-", "<!-- begin a -->\n", "<!-- ", "{a,"],
];

/** What stands around the pieces. */
const AROUND = [["", ""], ["a", "b"], ["{", "b}"]] as const;
/** Characters of the shorter text, and how many times as many the longer one has. */
const LENGTH = 2 * 1024;
const TIMES = 8;
/** Milliseconds that any text may take: what takes less is not judged. */
const FREE_MS = 25;
/** How many times the time the longer text may take: linear is 8, quadratic 64. */
const MOST = 24;

/** Rounds of which the best count: a single one may collect what others left. */
const ROUNDS = 10;

const SCHEDULED = "/proc/thread-self/schedstat";
const HAS_SCHEDULED = await Deno.stat(SCHEDULED).then(() => true, () => false);

/** Returns the milliseconds that this thread has run; where the system does not say, those that have passed. */
function threadTime(): number {
  return HAS_SCHEDULED ? Number(Deno.readTextFileSync(SCHEDULED).split(" ")[0]) / 1_000_000 : performance.now();
}

async function cost(read: (text: string) => unknown, text: string): Promise<number> {
  const before = threadTime();
  await read(text);
  return threadTime() - before;
}

/** Returns whether a reader takes more than its share for the longer text in every round. */
async function isSlow(
  read: (text: string) => unknown,
  text: (length: number) => string,
  rounds = ROUNDS,
): Promise<boolean> {
  let [short, long] = [Infinity, Infinity];
  // The system counts the time of a thread in steps of some milliseconds, so that a short text can take none.
  const least = FREE_MS / TIMES;
  for (let round = 0; round < rounds; round++) {
    long = Math.min(long, await cost(read, text(TIMES * LENGTH)));
    if (long <= FREE_MS) return false;
    short = Math.min(short, await cost(read, text(LENGTH)));
    if (round > 0 && long <= MOST * Math.max(short, least)) return false;
  }
  return true;
}

async function slowPieces(read: (text: string) => unknown): Promise<string[]> {
  const slow: string[] = [];
  for (const piece of PIECES) {
    for (const [before, behind] of AROUND) {
      const text = (length: number) => before + piece.repeat(length / piece.length) + behind;
      if (await isSlow(read, text)) slow.push(before + piece + behind);
    }
  }
  return slow;
}

for (const [name, read] of Object.entries(READERS)) {
  Deno.test(`time grows with the length of the text: ${name}`, async () => {
    assert.deepEqual(await slowPieces(read), []);
  });
}

Deno.test("control: a reader that goes over each run again and again is found", async () => {
  const text = (length: number) => "`".repeat(length) + "b";
  // Each round of what is slow takes a fifth of a second.
  assert.equal(await isSlow((one) => /`+\d$/.test(one), text, 3), true);
  assert.equal(await isSlow((one) => /(?<!`)`+\d$/.test(one), text), false);
});
