/** Runs `agentcli help` and `agentcli version`. */
import { didYouMean } from "../../config/suggest.ts";
import { AgentcliError } from "../../errors.ts";
import { print } from "../result.ts";
import { columnsOf, helpText, rows, wrap } from "./text.ts";
import { type Command, type Group, type Invocation, shownCommands } from "../command.ts";
import { type Section, type Topic, TOPICS } from "./topics.ts";
import { programDirectory, runtimeFacts } from "../../platform/runtime.ts";
import { COMMIT, VERSION } from "../version.ts";

/** Runs the command. A word that is neither command nor topic is `usage`, with what was meant. */
export async function showHelp({ arguments: words, context }: Invocation): Promise<void> {
  const { loadTree } = await import("../tree.ts");
  const tree = await loadTree();
  const width = context.io.stdout.columns();
  const topic = words.length === 1 ? TOPICS.find(({ name }) => name === words[0]) : undefined;
  const node = topic === undefined ? nodeAt(tree, words) : tree;
  let text = topic === undefined ? helpText({ path: [...words], node }, width) : topicText(topic, width);
  if (topic === undefined && words.length === 0) text += `\n${topicList(width)}`;
  await print(context, { json: { topic: words.join(" "), text }, text });
}

function nodeAt(tree: Group, words: readonly string[]): Command | Group {
  let node: Command | Group = tree;
  for (const [index, word] of words.entries()) {
    const next: Command | Group | undefined = node.kind === "group" && Object.hasOwn(node.commands, word)
      ? node.commands[word]
      : undefined;
    if (next === undefined) throw unknownTopic(word, { node, atRoot: index === 0 });
    node = next;
  }
  return node;
}

function unknownTopic(word: string, { node, atRoot }: { node: Command | Group; atRoot: boolean }): AgentcliError {
  const commands = node.kind === "group" ? shownCommands(node).map(([name]) => name) : [];
  const topics = atRoot ? TOPICS.map(({ name }) => name) : [];
  return new AgentcliError("usage", `no help on "${word}"`, {
    hint: didYouMean(word, [...topics, ...commands]) ?? `topics: ${TOPICS.map(({ name }) => name).join(", ")}`,
  });
}

function topicList(width: number): string {
  const pairs = TOPICS.map(({ name, brief }) => [name, brief] as const);
  return `${rows("Topics (agentcli help <topic>):", pairs, { width: columnsOf(width) })}\n`;
}

function topicText(topic: Topic, width: number): string {
  const columns = columnsOf(width);
  return [topic.brief, ...topic.sections.map((section) => sectionText(section, columns))].join("\n\n") + "\n";
}

function sectionText(section: Section, width: number): string {
  if (section.kind === "text") return wrap(section.text, { width, indent: 0 });
  if (section.kind === "rows") return rows(section.heading, section.rows, { width });
  return [section.heading, ...section.lines.map((line) => `  ${line}`)].join("\n");
}

/** The first line is that of `--version`. `commit` is null in JSON where it is not known: outside of a checkout. */
export async function showVersion({ context }: Pick<Invocation, "context">): Promise<void> {
  const { io, globals } = context;
  const { version: runtime, form, system } = runtimeFacts();
  const commit = COMMIT === "" ? await sourceCommit(form) : COMMIT;
  const text = globals.json
    ? JSON.stringify({ version: VERSION, commit, form, runtime, system }) + "\n"
    : `${VERSION} (agentcli)\n${commit === null ? "" : `commit ${commit}, `}${form}, Deno ${runtime}, ${system}\n`;
  await io.stdout.write(text);
}

/** Characters of a commit that are shown: as many as a bundle names. */
const SHOWN = 12;

/** Returns the commit that is checked out; uncommitted changes do not show. */
async function sourceCommit(form: string): Promise<string | null> {
  const directory = form === "source" ? programDirectory() : null;
  if (directory === null) return null;
  const { headCommit } = await import("../../boundary/policy/git_directory.ts");
  return headCommit(directory)?.slice(0, SHOWN) ?? null;
}
