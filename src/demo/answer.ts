/** The demo's final text: who is speaking, and what the tools returned. */
import type { DoneCall } from "./script.ts";
import type { Intents } from "./intents.ts";

/** First sentence of every answer, so that nobody takes the demo for a language model. */
export const INTRODUCTION =
  "I am the demo script of agentcli, not a language model: I can only tell what the tools returned.";

/** Lines shown of a search or a command. */
const LINE_LIMIT = 10;

function firstLine(text: string): string {
  return text.trim().split("\n")[0]?.slice(0, 300) ?? "";
}

function indented(text: string): string {
  const lines = text.trimEnd().split("\n");
  const shown = lines.slice(0, LINE_LIMIT).map((line) => `    ${line.slice(0, 160)}`);
  const hidden = lines.length - LINE_LIMIT;
  return [...shown, ...(hidden > 0 ? [`    (${hidden} more lines)`] : [])].join("\n");
}

/**
 * Returns whether a result says that nobody allowed the call: the engine's words, not those of a command that failed.
 */
function wasDenied(result: string): boolean {
  return /^(permission denied:|the user denied)/i.test(result.trim());
}

function denied(call: DoneCall, way: string): string {
  return `The call of ${call.name} was not allowed: ${firstLine(call.result)}\n\nTo allow it, ${way}.`;
}

function ofRead(call: DoneCall): string {
  const path = String(call.input.file_path);
  return `- ${outlineOf(path, call.result) ?? `${path}: not read: ${firstLine(call.result) || "it is empty"}`}`;
}

function ofGrep(call: DoneCall): string {
  if (call.result.trim() === "") return "The search found nothing.";
  return `The search for ${String(call.input.pattern)} returned:\n\n${indented(call.result)}`;
}

function ofBash(call: DoneCall): string {
  const command = String(call.input.command);
  if (wasDenied(call.result)) {
    return denied(call, `run again with --allowed-tools 'Bash(${command})' or --permission-mode bypassPermissions`);
  }
  return `\`${command}\` returned:\n\n${indented(call.result)}`;
}

function ofEdit(call: DoneCall): string {
  if (wasDenied(call.result)) return denied(call, "run again with --permission-mode acceptEdits");
  return `The edit of ${String(call.input.file_path)} returned:\n\n${indented(call.result)}`;
}

function ofGlob(call: DoneCall): string {
  const names = call.result.trim();
  if (names === "" || /^no file matches/i.test(names)) return "There is no file here.";
  return `There is no file here that I know how to outline. The listing:\n\n${indented(names)}`;
}

function sections(calls: readonly DoneCall[], editing: boolean): string[] {
  const named = (name: string) => calls.filter((call) => call.name === name);
  const texts = [
    ...named("Grep").map(ofGrep),
    ...named("Bash").map(ofBash),
    ...named("Edit").map(ofEdit),
  ];
  const read = named("Read");
  // After an edit, what was read for it is not news.
  if (read.length > 0 && !(editing && named("Edit").length > 0)) texts.push(read.map(ofRead).join("\n"));
  const listing = named("Glob").at(-1);
  if (listing && read.length === 0) texts.push(ofGlob(listing));
  return texts;
}

/** Returns the answer to a prompt after its calls. `missing` are tools that the script wanted and was not offered. */
export function answer(intents: Intents, done: { rounds: readonly DoneCall[][]; missing: readonly string[] }): string {
  const calls = done.rounds.flat();
  const texts = sections(calls, intents.edit !== undefined);
  if (done.missing.length > 0) texts.push(`I was not offered the tools I wanted next: ${done.missing.join(", ")}.`);
  return [INTRODUCTION, ...texts].join("\n\n") + "\n";
}

/** Names listed of one file. */
const NAME_LIMIT = 8;

/** The beginning of a definition, by file extension; the first group is its name. */
const DEFINITIONS: readonly { endings: RegExp; pattern: RegExp; what: string }[] = [
  { endings: /\.(md|markdown|txt|rst)$|(^|\/)[A-Z]+$/, pattern: /^#{1,6}\s+(.+?)\s*#*$/, what: "headings" },
  {
    endings: /\.[cm]?[jt]sx?$/,
    pattern:
      /^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|interface|enum|type|const)\s+([\w$]+)/,
    what: "definitions",
  },
  { endings: /\.py$/, pattern: /^(?:async\s+)?(?:def|class)\s+(\w+)/, what: "definitions" },
  { endings: /\.go$/, pattern: /^(?:func(?:\s+\([^)]*\))?|type)\s+(\w+)/, what: "definitions" },
  {
    endings: /\.rs$/,
    pattern: /^(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:fn|struct|enum|trait|mod)\s+(\w+)/,
    what: "definitions",
  },
  {
    endings: /\.(java|kt|cs|swift|php|rb|c|h|cc|cpp|hpp)$/,
    pattern: /^\s*(?:[\w<>[\]*&]+\s+)*(?:class|interface|struct|enum|module|def|func|fun)\s+(\w+)/,
    what: "definitions",
  },
  { endings: /\.(sh|bash|zsh)$/, pattern: /^(?:function\s+)?(\w[\w-]*)\s*\(\)/, what: "functions" },
  { endings: /\.jsonc?$/, pattern: /^(?: {2}|\t)"([^"]+)"\s*:/, what: "keys" },
  { endings: /\.(ya?ml)$/, pattern: /^([\w.-]+):/, what: "keys" },
  { endings: /\.(toml|ini|cfg)$/, pattern: /^\[+([^\]]+)\]+/, what: "sections" },
];

function numberedLines(result: string): { number: number; text: string }[] {
  const lines: { number: number; text: string }[] = [];
  for (const line of result.split("\n")) {
    const found = line.match(/^\s*(\d+)\t(.*)$/);
    if (found) lines.push({ number: Number(found[1]), text: found[2] ?? "" });
  }
  return lines;
}

function namesIn(path: string, lines: readonly string[]): { what: string; names: string[] } | null {
  const kind = DEFINITIONS.find(({ endings }) => endings.test(path));
  if (!kind) return null;
  let fenced = false;
  const names = lines.flatMap((line) => {
    if (kind.what === "headings" && /^(```|~~~)/.test(line)) fenced = !fenced;
    const name = fenced ? undefined : line.match(kind.pattern)?.[1];
    return name === undefined ? [] : [name];
  });
  return names.length > 0 ? { what: kind.what, names: [...new Set(names)] } : null;
}

/** One line about a file: `README.md: 34 lines; headings: Title, Usage`. Null when `result` holds no file text. */
export function outlineOf(path: string, result: string): string | null {
  const lines = numberedLines(result);
  const last = lines.at(-1);
  if (last === undefined) return null;
  const found = namesIn(path, lines.map((line) => line.text));
  const length = `${last.number} ${last.number === 1 ? "line" : "lines"} read`;
  if (found === null) {
    const first = lines.find((line) => line.text.trim() !== "")?.text.trim();
    return first === undefined ? `${path}: ${length}` : `${path}: ${length}; begins with: ${first.slice(0, 80)}`;
  }
  const shown = found.names.slice(0, NAME_LIMIT).join(", ");
  const hidden = found.names.length - NAME_LIMIT;
  return `${path}: ${length}; ${found.what}: ${shown}${hidden > 0 ? `, and ${hidden} more` : ""}`;
}
