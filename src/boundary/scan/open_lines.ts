/**
 * The open lines of a copy: those that held nothing protected when the home took note of it. The leak scanner leaves them
 * out and looks for the rest, whatever comes to be in the file. Any two source files have lines in common, so that a
 * project in which a command wrote one secret line could send next to nothing otherwise.
 */
import { sha256 } from "../../platform/digest.ts";
import { utf8Text } from "../../platform/text.ts";
import type { OpenLines } from "../policy/protection_rule.ts";

/** Lines of one file that are recorded. */
const MOST_LINES = 2_000;
/** Characters of a digest. */
const DIGEST_LENGTH = 12;

/** Returns the lines of UTF-8; null for other bytes, and for what may be UTF-16. */
function linesOf(bytes: Uint8Array): string[] | null {
  return bytes.includes(0) ? null : utf8Text(bytes)?.split("\n") ?? null;
}

async function digestOf(line: string, salt: string): Promise<string> {
  return (await sha256(salt + line.trim())).slice(0, DIGEST_LENGTH);
}

/**
 * Returns the lines of a file in which the check finds nothing, alone and put together; undefined if there are none.
 */
export async function openLinesOf(
  bytes: Uint8Array,
  holds: (text: string) => Promise<boolean>,
): Promise<OpenLines | undefined> {
  const among = async (lines: readonly string[]): Promise<readonly string[]> => {
    if (lines.length === 0 || !await holds(lines.join("\n"))) return lines;
    const middle = lines.length >> 1;
    return middle === 0 ? [] : [...await among(lines.slice(0, middle)), ...await among(lines.slice(middle))];
  };
  const open = await among(linesOf(bytes)?.slice(0, MOST_LINES) ?? []);
  const lines = new Set(open.map((line) => line.trim()).filter((line) => line !== ""));
  // What is protected can be spread over several lines.
  if (lines.size === 0 || await holds(open.join("\n"))) return undefined;
  const salt = crypto.randomUUID();
  return { salt, digests: await Promise.all(Array.from(lines, (line) => digestOf(line, salt))) };
}

/** Returns a file with empty lines in place of the open ones. */
export async function withoutOpenLines(bytes: Uint8Array, { salt, digests }: OpenLines): Promise<Uint8Array> {
  const lines = linesOf(bytes);
  if (lines === null) return bytes;
  const open = new Set(digests);
  const counted = async (line: string) => open.has(await digestOf(line, salt)) ? "" : line;
  return new TextEncoder().encode((await Promise.all(lines.map(counted))).join("\n"));
}
