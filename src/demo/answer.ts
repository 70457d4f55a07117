/** The demo's final text: who is speaking, and what the tools returned. */
import { outlineOf } from "./outline.ts";
import type { DoneCall } from "./script.ts";
import type { Wishes } from "./wishes.ts";

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

/** Whether a result says that nobody allowed the call: the engine's words, not those of a command that failed. */
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
  // After an edit, what was read for it is no news.
  if (read.length > 0 && !(editing && named("Edit").length > 0)) texts.push(read.map(ofRead).join("\n"));
  const listing = named("Glob").at(-1);
  if (listing && read.length === 0) texts.push(ofGlob(listing));
  return texts;
}

/** The answer to a prompt after its calls. `missing` are tools that the script wanted and was not offered. */
export function answer(wishes: Wishes, done: { rounds: readonly DoneCall[][]; missing: readonly string[] }): string {
  const calls = done.rounds.flat();
  const texts = sections(calls, wishes.edit !== undefined);
  if (done.missing.length > 0) texts.push(`I was not offered the tools I wanted next: ${done.missing.join(", ")}.`);
  return [INTRODUCTION, ...texts].join("\n\n") + "\n";
}
