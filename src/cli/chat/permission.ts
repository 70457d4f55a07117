/** The question of the chat whether a tool call may run, with a preview of what it would change. */
import {
  type AskPermission,
  deniedByPerson,
  type PermissionAnswer,
  type PermissionQuestion,
} from "../../agent/turn_options.ts";
import type { Workspace } from "../../boundary/workspace/workspace.ts";
import { clean } from "../../terminal/clean.ts";
import { diffSpan } from "../../terminal/markdown_parts.ts";
import { type Row, row, span } from "../../terminal/style.ts";
import { wrap } from "../../terminal/wrap.ts";
import { applyReplacements, matchEdit } from "../../tools/edit/match.ts";
import { editProviders } from "../../config/edit.ts";
import { asAgentcliError } from "../../errors.ts";
import { openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { parseCommand } from "../../shell/command.ts";
import { readRules } from "../../tools/registry.ts";
import type { Choice } from "../../terminal/picker.ts";
import type { AgentSession } from "../../runtime/agent_session.ts";
import type { ChatView } from "./begin.ts";

/** Largest file that a diff is made of, in bytes. */
const FILE_LIMIT = 1024 * 1024;
/** Rows that are shown at once; the rest is counted. */
const ROW_LIMIT = 200;

/** The rows for a question: which tool on what, and what it would change. A command is shown whole. */
export async function previewRows(
  question: PermissionQuestion,
  { workspace, width }: { workspace: Workspace; width: number },
): Promise<Row[]> {
  const first = [span(`? ${clean(question.toolName)} `, "warning")];
  const head = wrapped(question.subject, { width, first, style: "bold" });
  const change = await changeOf(question, workspace);
  if (change !== null) return [...head, ...await diffRows(change, { width })];
  const rest = Object.entries(question.input).filter(([, value]) => value !== question.subject).flatMap(
    ([name, value]) => wrapped(`${name}: ${typeof value === "string" ? value : JSON.stringify(value)}`, { width }),
  );
  return [...head, ...bounded(rest)];
}

/** A change as a colored diff. */
export async function diffRows(
  { name, before, after }: { name: string; before: string | null; after: string },
  { width }: { width: number },
): Promise<Row[]> {
  const { unifiedDiff } = await import("../../terminal/diff.ts");
  const diff = unifiedDiff(before, after, { name: clean(name) });
  const rows = clean(diff, { multiline: true }).trimEnd().split("\n").flatMap((line) =>
    wrap([diffSpan(line.replaceAll("\t", "    "))], { width })
  );
  return bounded(rows);
}

function bounded(rows: Row[]): Row[] {
  if (rows.length <= ROW_LIMIT) return rows;
  return [...rows.slice(0, ROW_LIMIT), row(`... ${rows.length - ROW_LIMIT} more lines`, "warning")];
}

function wrapped(text: string, { width, style, first }: { width: number; style?: "bold"; first?: Row }): Row[] {
  const lines = clean(text, { multiline: true }).replaceAll("\t", "    ").split("\n");
  const indent = [span("  ")];
  return lines.flatMap((line, index) =>
    wrap([span(line, style ?? "plain")], { width, first: index === 0 ? first ?? indent : indent, indent })
  );
}

interface Change {
  name: string;
  before: string | null;
  after: string;
}

/** Previews the changes of Write and Edit; null for other tools, and where it cannot be told before. */
async function changeOf({ toolName, input }: PermissionQuestion, workspace: Workspace): Promise<Change | null> {
  const { file_path: path, content, old_string: old, new_string: replacement } = input;
  if ((toolName !== "Write" && toolName !== "Edit") || typeof path !== "string") return null;
  const resolved = await workspace.resolve(path);
  if ("refused" in resolved) return null;
  const read = await workspace.read(resolved, { limit: FILE_LIMIT });
  const absent = "refused" in read && read.refused === "absent";
  if ("refused" in read ? !absent : read.more) return null;
  const before = "refused" in read ? null : new TextDecoder().decode(read.bytes);
  const name = resolved.display;
  if (toolName === "Write") return typeof content === "string" ? { name, before, after: content } : null;
  if (before === null || typeof old !== "string" || typeof replacement !== "string") return null;
  const match = matchEdit(before, { old, new: replacement, all: input.replace_all === true });
  return match.kind === "none" || match.kind === "several"
    ? null
    : { name, before, after: applyReplacements(before, match.replacements) };
}

const ALLOW: PermissionAnswer = { behavior: "allow" };

/** Programs whose first word says little: a rule names the second too. */
const WITH_VERBS = new Set("git npm pnpm yarn cargo go deno docker kubectl make pip uv gh dotnet".split(" "));

/**
 * The rule that "for this chat" and "always" would make; null where no rule can cover the call (a command that is not
 * simple, whose words a rule could not name).
 */
export function ruleFor({ toolName, subject }: Pick<PermissionQuestion, "toolName" | "subject">): string | null {
  const rule = toolName === "Bash" ? commandRule(subject) : toolName;
  if (rule === null) return null;
  try {
    readRules([rule]);
    return rule;
  } catch {
    return null;
  }
}

function commandRule(subject: string): string | null {
  const command = parseCommand(subject);
  if (command.kind !== "simple") return null;
  const [program, second] = command.argv;
  const words = WITH_VERBS.has(program) && second !== undefined ? [program, second] : [program];
  // Words that need quotes stand for themselves alone.
  if (words.some((word) => !/^[\w./:@%+,=-]+$/.test(word))) return null;
  return words.length > 1 ? `Bash(${words.join(" ")}:*)` : `Bash(${subject.trim()})`;
}

/** Asks through what is shown. */
export function askInChat(chat: AgentSession, view: ChatView, io: Io): AskPermission {
  return async (question, signal) => {
    const { session } = await chat.ready();
    signal.throwIfAborted();
    view.print(await previewRows(question, { workspace: session.workspace, width: view.width() }));
    const rule = ruleFor(question);
    const choices: Choice[] = [
      { key: "y", label: "yes, this once" },
      ...rule === null ? [] : [
        { key: "s", label: "yes, for this chat", note: rule },
        { key: "a", label: "yes, always", note: `${rule} goes into providers.yaml` },
      ],
      { key: "n", label: "no" },
      { key: "r", label: "no, and say why" },
    ];
    const stopped = Promise.withResolvers<null>();
    const stop = () => stopped.resolve(null);
    signal.addEventListener("abort", stop, { once: true });
    try {
      const place = await Promise.race([
        view.pick({ title: `Allow ${question.toolName}?`, choices, guarded: true }),
        stopped.promise,
      ]);
      signal.throwIfAborted();
      return await answerFor(choices[place ?? -1]?.key ?? "n", { rule, chat, view, io });
    } finally {
      signal.removeEventListener("abort", stop);
    }
  };
}

async function answerFor(
  key: string,
  { rule, chat, view, io }: { rule: string | null; chat: AgentSession; view: ChatView; io: Io },
): Promise<PermissionAnswer> {
  if (key === "y") return ALLOW;
  if ((key === "s" || key === "a") && rule !== null) {
    chat.allow(rule);
    if (key === "a") await writeRule(rule, { view, io });
    return ALLOW;
  }
  const reason = key === "r" ? (await view.ask("Why not? (for the model)"))?.trim() ?? "" : "";
  return deniedByPerson(reason);
}

/** Adds the rule to `permissions.allow`. What goes wrong is told; the call is allowed all the same. */
async function writeRule(rule: string, { view, io }: { view: ChatView; io: Io }): Promise<void> {
  try {
    await editProviders(await openHome(io), (document) => {
      const allow = document.value().permissions?.allow ?? [];
      if (!allow.includes(rule)) document.setSetting("permissions.allow", [...allow, rule]);
    });
    view.print([row(`  allowed from now on: ${clean(rule)} (agentcli config get permissions.allow)`, "dim")]);
  } catch (error) {
    view.print([row(`  the rule was not written: ${clean(asAgentcliError(error).message)}`, "warning")]);
  }
}
