/** Asks the person at the terminal whether a call may run. */
import { type AskPermission, deniedByPerson } from "../../agent/turn_options.ts";
import type { Io } from "../../platform/io.ts";
import { clean } from "../../terminal/clean.ts";
import { askLine, isYes } from "../../terminal/prompt.ts";

/** Longest argument that is shown whole, in characters; a command is always shown whole. */
const SHOWN_LIMIT = 2000;

/**
 * Asks on a terminal; anything but yes is a refusal, and words typed instead of yes or no go to the model as the
 * reason. Returns null without a terminal.
 */
export function askOnTerminal(io: Io): AskPermission {
  return async (question, signal) => {
    if (!io.stdin.isTerminal || !io.stderr.isTerminal) return null;
    const detail = Object.entries(question.input)
      .filter(([, value]) => value !== question.subject)
      .map(([name, value]) => {
        const text = typeof value === "string" ? value : JSON.stringify(value);
        const shown = text.length > SHOWN_LIMIT
          ? `${text.slice(0, SHOWN_LIMIT)} ... (${text.length} characters)`
          : text;
        return `  ${name}: ${clean(shown, { multiline: true }).replaceAll("\n", "\n    ")}\n`;
      }).join("");
    const subject = clean(question.subject, { multiline: true });
    await io.stderr.write(`\n${question.toolName}: ${subject}\n${detail}`);
    // Repeated, since what is above may have scrolled away.
    const short = subject.split("\n", 1)[0]?.slice(0, 40) ?? "";
    const answer = await askLine(io, `Allow ${question.toolName} ${short}? [y/N, or say why not] `, { signal });
    if (isYes(answer)) return { behavior: "allow" };
    const words = answer?.trim() ?? "";
    return deniedByPerson(/^n(o)?$/i.test(words) ? "" : words);
  };
}
