/** Finds what a prompt asks of the demo, by fixed patterns. */

/** Work that the demo's script knows. Everything absent was not asked for. */
export interface Intents {
  /** Files that the prompt names, in order, without repetition. */
  files: string[];
  /** A word or phrase to search for. */
  search?: string;
  edit?: { file: string; from: string; to: string };
  command?: string;
}

/** The part of a prompt that is read, in characters: the rest counts as attached text. */
const PROMPT_LIMIT = 8000;

/** Files read for one prompt. */
const FILE_LIMIT = 5;

const EDIT = /\breplace\s+(["'`])(.+?)\1\s+(?:with|by)\s+(["'`])(.*?)\3\s+in\s+(["'`]?)([^\s"'`]+)\5/is;
const COMMAND = /\b(?:run|execute)\s+(?:the\s+command\s+)?`([^`\n]+)`/i;
const QUOTED_SEARCH = /\b(?:search|find|where|grep|look\s+for)\b[^"'`\n]*?(["'`])([^"'`\n]+)\1/i;
const PLAIN_SEARCH =
  /\b(?:search(?:\s+for)?|grep(?:\s+for)?|find|where\s+is|look\s+for)\s+(?:the\s+|all\s+|word\s+|uses\s+of\s+)*([\w$.-]{3,})/i;

/** Names without an extension that are files anyway. */
const KNOWN_NAMES = /^(readme|license|licence|makefile|dockerfile|changelog|contributing|justfile|authors)$/i;

/** Words that a search pattern may catch and that name nothing. */
const EMPTY_WORDS = new Set([
  "out",
  "this",
  "that",
  "what",
  "which",
  "where",
  "files",
  "file",
  "everything",
  "anything",
]);

/** Returns whether a word looks like the path of a file: a known name, or a name with an extension of letters. */
function isFileName(text: string): boolean {
  // Blanks may stand in a quoted name; they do not decide whether it is one.
  const word = text.replaceAll(" ", "_");
  if (word.includes("://")) return false;
  const name = word.slice(word.lastIndexOf("/") + 1);
  if (KNOWN_NAMES.test(name)) return true;
  return /^\.?[\w@+-][\w@+.-]*\.[A-Za-z][A-Za-z0-9]{0,9}$/.test(name) && !/^(e\.g|i\.e)$/i.test(name);
}

function filesIn(prompt: string): string[] {
  const found: string[] = [];
  for (const quoted of prompt.matchAll(/["'`]([^"'`\n]+)["'`]/g)) {
    if (isFileName(quoted[1] ?? "")) found.push(quoted[1] ?? "");
  }
  for (const word of prompt.replaceAll(/["'`][^"'`\n]*["'`]/g, " ").split(/[\s,;()<>[\]{}]+/)) {
    const bare = word.replace(/^@/, "").replace(/[.:!?]+$/, "");
    if (isFileName(bare)) found.push(bare);
  }
  return [...new Set(found)].slice(0, FILE_LIMIT);
}

function searchIn(prompt: string): string | undefined {
  const quoted = prompt.match(QUOTED_SEARCH)?.[2];
  if (quoted !== undefined) return isFileName(quoted) ? undefined : quoted;
  const plain = prompt.match(PLAIN_SEARCH)?.[1]?.replace(/[.-]+$/, "");
  if (plain === undefined || isFileName(plain) || EMPTY_WORDS.has(plain.toLowerCase())) return undefined;
  return plain;
}

/** Reads the intents out of a prompt. An edit or a command excludes everything else. */
export function intentsOf(prompt: string): Intents {
  const head = prompt.slice(0, PROMPT_LIMIT);
  const edit = head.match(EDIT);
  if (edit) {
    const file = (edit[6] ?? "").replace(/[.,;:!?]+$/, "");
    return { files: [], edit: { file, from: edit[2] ?? "", to: edit[4] ?? "" } };
  }
  const command = head.match(COMMAND)?.[1];
  if (command !== undefined) return { files: [], command };
  const search = searchIn(head);
  return { files: filesIn(head), ...(search === undefined ? {} : { search }) };
}
