/** Splits a command line into the commands that it joins, so that each is checked by itself. */
import { parseCommand, type ParsedCommand } from "./command.ts";

export interface CommandPart {
  text: string;
  /** The same without redirections that touch no file: what a rule can name. */
  plain: string;
  command: ParsedCommand;
  /** It reads what the command before it prints. */
  piped: boolean;
}

/** A line with more commands is not split. */
const MOST_PARTS = 50;
const LENGTH_LIMIT = 16_384;

/** Redirections between a command's own streams, and those into nothing. */
const HARMLESS = /(?:[12]?>&[12]|[12]?>>?[ ]?\/dev\/null|<[ ]?\/dev\/null)(?=[ \t\n;|]|$)/y;
const JOINT = /&&|\|\||[;|\n]/y;

/** Grammar that spans joints: the line is one command then. */
const SPANNING = /[()`{}]|<</;

/**
 * Returns the commands of a line that are joined by `&&`, `||`, `;`, `|` and line ends. A line whose grammar spans
 * its joints is one complex part, like one in which anything is not understood. Linear; never throws.
 */
export function commandParts(text: string): CommandPart[] {
  const whole = (command = parseCommand(text)): CommandPart[] => [{ text, plain: text, command, piped: false }];
  if (text.length > LENGTH_LIMIT) return whole();
  const pieces = split(text.trim());
  if (pieces === null || pieces.length > MOST_PARTS) return whole();
  const parts = pieces.map(({ shown, plain, piped }): CommandPart => ({
    text: shown.trim(),
    plain: plain.trim(),
    command: parseCommand(plain),
    piped,
  }));
  const strange = parts.find(({ command }) => command.kind === "complex");
  const reaches = strange?.command.kind === "complex" &&
    (SPANNING.test(text) || strange.command.reason === "uses shell grammar");
  return reaches ? whole(strange.command) : parts;
}

interface Piece {
  shown: string;
  plain: string;
  piped: boolean;
}

/** Returns the pieces between joints; null where a joint has nothing at one side, or a quote does not end. */
function split(text: string): Piece[] | null {
  const pieces: Piece[] = [];
  let piece: Piece = { shown: "", plain: "", piped: false };
  let at = 0;
  const matched = (pattern: RegExp): string | null => {
    pattern.lastIndex = at;
    return pattern.exec(text)?.[0] ?? null;
  };
  const take = (length: number, plain = true) => {
    const taken = text.slice(at, at + length);
    piece.shown += taken;
    if (plain) piece.plain += taken;
    at += length;
  };
  while (at < text.length) {
    const joint = matched(JOINT);
    if (joint !== null) {
      if (piece.plain.trim() === "") return null;
      pieces.push(piece);
      piece = { shown: "", plain: "", piped: joint === "|" };
      at += joint.length;
      continue;
    }
    const atWord = piece.shown === "" || " \t".includes(text.charAt(at - 1));
    const harmless = atWord ? matched(HARMLESS) : null;
    if (harmless !== null) {
      take(harmless.length, false);
      continue;
    }
    const length = quotedLength(text, at);
    if (length === null) return null;
    take(length);
  }
  if (piece.plain.trim() !== "") pieces.push(piece);
  else if (piece.piped || !/[;]$/.test(text)) return null;
  return pieces;
}

/** The length of what is at a place: a quoted text, an escaped character, or one character; null without its end. */
function quotedLength(text: string, at: number): number | null {
  const character = text.charAt(at);
  if (character === "\\") return at + 1 < text.length ? 2 : null;
  if (character === "'") {
    const end = text.indexOf("'", at + 1);
    return end < 0 ? null : end - at + 1;
  }
  if (character !== '"') return 1;
  for (let end = at + 1; end < text.length; end++) {
    if (text[end] === "\\") end++;
    else if (text[end] === '"') return end - at + 1;
  }
  return null;
}
