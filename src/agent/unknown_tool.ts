/** Answers a call of a tool that the session does not have, with the call to make in its place. */
import { closest } from "../config/suggest.ts";

/** Tools of other programs → what does their work here. */
const OTHERS: readonly (readonly [RegExp, string])[] = [
  [/delete|remove/i, "Call Bash with rm."],
  [/move|rename/i, "Call Bash with mv."],
  [/copy/i, "Call Bash with cp."],
  [/mkdir|(?:create|make|new).?(?:dir|folder)/i, "Call Write: it makes the directories of its file."],
  [/append|insert/i, "Call Edit with the line before as old_string, and both as new_string."],
  [/python|code_?(?:inter|exec)|(?:run|exec)\w*_?code|javascript|node/i, "Call Bash with the program that runs it."],
  [/web|fetch|browse|url|internet/i, "There is no tool for the web; go on without it."],
  [
    /complet|finish|final|submit|answer|respond|reply|done|ask|message|think/i,
    "To end the task, or to ask, give your answer as text.",
  ],
];

/** Returns what a model is told that called a tool which is not there. */
export function unknownTool(name: string, names: readonly string[]): string {
  const [near] = closest(name, names);
  const [, way] = OTHERS.find(([pattern, text]) => {
    const [, tool] = /^Call (\w+)/.exec(text) ?? [];
    return near === undefined && pattern.test(name) && (tool === undefined || names.includes(tool));
  }) ?? [];
  const meant = near !== undefined ? ` Did you mean ${near}?` : way === undefined ? "" : ` ${way}`;
  const there = names.length === 0 ? "There are none in this session; answer in words." : `Tools: ${names.join(", ")}.`;
  return `There is no tool "${name.slice(0, 64)}".${meant} ${there}`;
}
