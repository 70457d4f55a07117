import assert from "node:assert/strict";
import { readSources } from "../scripts/read_sources.ts";
import { splitSource } from "../scripts/source_text.ts";
import { loadTree } from "../src/cli/tree.ts";
import type { Command, Group } from "../src/cli/command.ts";

/**
 * What follows the name of the program in sentences about it, where it is not a command; a new sentence may add its
 * word.
 */
const PROSE = [
  "itself",
  "in",
  "on",
  "needs",
  "sets",
  "reads",
  "writes",
  "runs",
  "asks",
  "does",
  "did",
  "a",
  "can",
  "is",
  "has",
  "installed",
];
/** Words that the program knows without a command. */
const BUILT_IN = ["help", "completions"];

/** The commands that the messages, hints and examples of the program name, with where they stand. */
async function namedCommands(): Promise<{ words: string[]; at: string }[]> {
  const sources = (await readSources()).filter(({ path }) => path.startsWith("src/") && !path.endsWith("_test.ts"));
  return sources.flatMap(({ path, text }) =>
    [...splitSource(text).withStrings.matchAll(/\bagentcli((?: [a-z][a-z-]*)+)/g)].map((match) => ({
      words: (match[1] ?? "").trim().split(" "),
      at: path,
    }))
  );
}

Deno.test("every command that a message or a hint names is one that the program has", async () => {
  const [commands, tree] = [await namedCommands(), await loadTree()];
  assert.ok(commands.length > 30);
  const wrong = commands.filter(({ words }) => {
    let node: Command | Group = tree;
    if ([...PROSE, ...BUILT_IN].includes(words[0] ?? "")) return false;
    for (const word of words) {
      // After a command come its arguments.
      if (node.kind === "command") return false;
      const next: Command | Group | undefined = Object.hasOwn(node.commands, word) ? node.commands[word] : undefined;
      if (next === undefined) return true;
      node = next;
    }
    return false;
  });
  assert.deepEqual(wrong.map(({ words, at }) => `${at}: agentcli ${words.join(" ")}`), []);
});

Deno.test("no hint names a command of the chat, which a turn does not have", async () => {
  const sources = (await readSources()).filter(({ path }) => /^src\/(?:provider|agent|config)\//.test(path));
  const naming = sources.filter(({ path, text }) =>
    !path.endsWith("_test.ts") && /[^.\w]\/(?:compact|undo|clear|model)\b(?!["/._])/.test(splitSource(text).withStrings)
  );
  assert.deepEqual(naming.map(({ path }) => path), []);
});
