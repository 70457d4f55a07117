/** Asks the person whether a call may run: once, for this chat, always, or not, with a reason for the model. */
import {
  type AskPermission,
  deniedByPerson,
  type PermissionAnswer,
  type PermissionQuestion,
} from "../../agent/turn_options.ts";
import { editProviders } from "../../config/edit.ts";
import { asAgentcliError } from "../../errors.ts";
import { openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { clean } from "../../terminal/clean.ts";
import { row } from "../../terminal/style.ts";
import { parseCommand } from "../../shell/command.ts";
import { readRules } from "../../tools/registry.ts";
import type { Choice } from "../../terminal/picker.ts";
import type { AgentSession } from "../../runtime/agent_session.ts";
import { previewRows } from "./change_preview.ts";
import type { ChatView } from "./view.ts";

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
    view.say(await previewRows(question, { workspace: session.workspace, width: view.width() }));
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
    view.say([row(`  allowed from now on: ${clean(rule)} (agentcli config get permissions.allow)`, "dim")]);
  } catch (error) {
    view.say([row(`  the rule was not written: ${clean(asAgentcliError(error).message)}`, "warning")]);
  }
}
