/**
 * Counts words that have a better one in the table of CONTRIBUTING, room by room, and fails if there are any:
 * `deno run -R scripts/words.ts`.
 */
import { readPages } from "./pages.ts";
import { readSources } from "./read_sources.ts";

/** A word that is not to be used, where it counts, and the one to use. */
interface Rule {
  word: string;
  pattern: RegExp;
  /** Only in files whose path matches. */
  where?: RegExp;
  use: string;
}

/** Their texts are examples of the words. */
const EXAMPLES: readonly string[] = ["scripts/words.ts", "scripts/pages_test.ts"];

const CODE = /^src\//;

const RULES: readonly Rule[] = [
  { word: "verb", pattern: /\bverbs?\b|\bVERBS?\b|Verb\b|\bverb[A-Z]/g, use: "command" },
  { word: "door", pattern: /\bdoors?\b|HttpDoor|openDoor/g, use: "HTTP client" },
  { word: "mask", pattern: /\bmask(?:s|ed|ing)?\b|Mask\b/g, use: "sandbox; of text: redact" },
  {
    word: "maker",
    pattern: /\bmakers?\b(?! of)|\baftermath\b/g,
    where: /^src\/boundary\//,
    use: "backend, tamper check",
  },
  {
    word: "net",
    pattern: /ScanNet|ContentNet|\bscan net\b|formsIn|\beveryday\b/g,
    use: "leak scanner, ContentScanner",
  },
  { word: "sight", pattern: /\bblindness\b|[sS]ight\b(?<!insight)/g, where: CODE, use: "vision" },
  { word: "late hold", pattern: /late hold|lateHold|LateHold/g, use: "deferred holdback" },
  { word: "prefix break", pattern: /prefix ?break|PrefixBreak/g, use: "prompt-cache invalidation" },
  { word: "learn", pattern: /\blearn[A-Z]\w*|\bjudge[A-Z]\w*/g, where: CODE, use: "calibrate, check, record" },
  { word: "knowledge", pattern: /\bknowledge\b|\brecall\b|Knowledge/g, where: CODE, use: "model metadata, cache" },
  { word: "surroundings", pattern: /\bsurroundings\b|Surroundings|\bscene\b|Scene\b/g, where: CODE, use: "context" },
  { word: "in place", pattern: /InPlace\b|in_place|hygiene|leaveCopying/g, where: CODE, use: "sync, reexec" },
  { word: "withheld", pattern: /[wW]ithheld/g, use: "redacted" },
  { word: "wishes", pattern: /\bwishes\b|Wishes/g, use: "intents" },
  { word: "piece", pattern: /\bPieces?\b|(?<!")\bpieces?\b/g, where: /^src\/editor\//, use: "resource" },
  {
    word: "displaced",
    pattern: /[dD]isplaced|takeOver|knownOthers|\brenew/g,
    where: /^src\/editor\//,
    use: "backups, adopt, upgrade",
  },
  // In tests `say` is a step of the fake server.
  {
    word: "tell",
    pattern: /\b(?:tell|say)[A-Z]\w*\(|\b(?:tell|say)\(/g,
    where: /^src\/(?!.*_test\.ts$)/,
    use: "print, log, notice",
  },
  { word: "objection", pattern: /\bobjections?\b/g, use: "precheck" },
  { word: "GO_ON", pattern: /GO_ON|\bnudged\b|goneOn/g, use: "continue prompts, continuations" },
  {
    word: "the way on",
    pattern: /\bthe way on\b|\bfor ever\b|\bcame to be\b|\bthat (?:is|are) none\b(?! of)/g,
    use: "what to do; forever; became, was created; any other",
  },
  { word: "fell silent", pattern: /fell silent|takes no tools|has no room for/g, use: "a plain sentence" },
  {
    word: "-our, -ise",
    pattern: /\b\w*(?:colour|behaviour|normalis|serialis|summaris|recognis|labelled)\w*/gi,
    use: "American spelling",
  },
  { word: "/** What", pattern: /\/\*\* What\b/g, where: CODE, use: "a sentence: Returns …, Reads …" },
];

/** The room of a file, or the folder, or the page itself. */
function placeOf(path: string): string {
  return path.match(/^src\/[^/]+(?=\/)/)?.[0] ?? path.match(/^(?:tests|scripts)(?=\/)/)?.[0] ?? path;
}

/** Returns how often each word stands in each place, without the places that have none. */
export function countWords(files: readonly { path: string; text: string }[]): Map<string, Map<string, number>> {
  const counts = new Map<string, Map<string, number>>();
  for (const { path, text } of files) {
    for (const { word, pattern, where } of RULES) {
      if (where?.test(path) === false) continue;
      const found = text.match(pattern)?.length ?? 0;
      if (found === 0) continue;
      const place = placeOf(path);
      const words = counts.get(place) ?? new Map<string, number>();
      counts.set(place, words.set(word, (words.get(word) ?? 0) + found));
    }
  }
  return counts;
}

if (import.meta.main) {
  const sources = (await readSources()).filter(({ path }) => !EXAMPLES.includes(path));
  const counts = countWords([...sources, ...await readPages()]);
  const uses = new Map(RULES.map(({ word, use }) => [word, use]));
  for (const [place, words] of [...counts].sort(([one], [other]) => one < other ? -1 : 1)) {
    const found = [...words].sort(([, one], [, other]) => other - one)
      .map(([word, count]) => `${word} ${count} (${uses.get(word)})`);
    console.log(`${place}: ${found.join(", ")}`);
  }
  if (counts.size > 0) Deno.exit(1);
}
