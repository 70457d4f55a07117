/** The `/permissions` command: the mode, the rules with where each is from, and taking rules back. */
import { editProviders } from "../../../config/edit.ts";
import { loadConfiguration } from "../../../config/load.ts";
import { readProjectRules, removeProjectRule } from "../../../config/project_rules.ts";
import { PERMISSION_MODES } from "../../../config/types.ts";
import { AgentcliError } from "../../../errors.ts";
import { type Home, openHome } from "../../../platform/home.ts";
import { clean } from "../../../terminal/clean.ts";
import { type Row, row, span } from "../../../terminal/style.ts";
import type { CommandTarget } from "./commands.ts";

type Origin = "project" | "configuration" | "chat";

const ORIGINS: Readonly<Record<Origin, string>> = {
  project: "always in this project",
  configuration: "providers.yaml, in all projects",
  chat: "for this chat",
};

/** Shows mode and rules; with an argument sets the mode, or takes a rule back. Throws `usage` for any other word. */
export async function permissions(argument: string, target: CommandTarget): Promise<void> {
  const [word = "", ...rest] = argument.split(/\s+/);
  if (word === "remove") await takeBack(rest.join(" "), target);
  else if (word !== "") {
    const mode = PERMISSION_MODES.find((known) => known.toLowerCase() === argument.toLowerCase());
    if (mode === undefined) {
      throw new AgentcliError("usage", `there is no mode ${argument}`, {
        hint: `modes: ${PERMISSION_MODES.join(", ")}; to remove a rule: /permissions remove <number>`,
      });
    }
    target.chat.setMode(mode);
  }
  await show(target);
}

async function rulesOf({ chat }: CommandTarget, home: Home): Promise<{ text: string; origin: Origin }[]> {
  const { policy, workspace } = (await chat.ready()).session;
  const ofProject = await readProjectRules(home, workspace.root);
  const { permissions: configured } = await loadConfiguration(home);
  return policy.allow.map(({ text }) => ({
    text,
    origin: ofProject.includes(text) ? "project" : configured.allow.includes(text) ? "configuration" : "chat",
  }));
}

async function show(target: CommandTarget): Promise<void> {
  const { chat, view, context } = target;
  const rules = await rulesOf(target, await openHome(context.io));
  const { policy } = (await chat.ready()).session;
  view.print([
    [span("mode "), span(chat.mode, "bold"), span(`  (/permissions ${PERMISSION_MODES.join(" | ")})`, "dim")],
    ...rules.map(({ text, origin }, index): Row => [
      span(`${String(index + 1).padStart(3)} allow `, "dim"),
      span(clean(text)),
      span(`  ${ORIGINS[origin]}`, "dim"),
    ]),
    ...policy.deny.map(({ text }): Row => [span("    deny  ", "dim"), span(clean(text))]),
    ...rules.length === 0 ? [] : [row("take a rule back: /permissions remove <number>", "dim")],
  ]);
}

/** A rule by its number in the list, or as it is written. */
async function takeBack(named: string, target: CommandTarget): Promise<void> {
  const { chat, view, context } = target;
  const home = await openHome(context.io);
  const rules = await rulesOf(target, home);
  const found = rules[Number(named) - 1] ?? rules.find(({ text }) => text === named);
  if (found === undefined) {
    throw new AgentcliError("usage", `there is no rule ${JSON.stringify(named)}`, {
      hint: "/permissions lists the rules with their numbers",
    });
  }
  const { text, origin } = found;
  if (origin === "project") {
    await removeProjectRule(home, { root: (await chat.ready()).session.workspace.root, rule: text });
  }
  if (origin === "configuration") {
    await editProviders(home, (document) => {
      const left = (document.value().permissions?.allow ?? []).filter((rule) => rule !== text);
      if (left.length > 0) document.setSetting("permissions.allow", left);
      else document.unsetSetting("permissions.allow");
    });
  }
  chat.disallow(text);
  view.print([row(`  removed: ${clean(text)} (${ORIGINS[origin]})`, "good")]);
}
