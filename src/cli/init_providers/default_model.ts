/** The model that answers when none is named: offered to the person at the terminal where none is set. */
import { editProviders } from "../../config/edit.ts";
import type { Configuration } from "../../config/types.ts";
import type { Home } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import type { Discovered } from "../../provider/backends/discovery.ts";
import { clean } from "../../terminal/clean.ts";
import { askLine } from "../../terminal/prompt.ts";
import type { Plan } from "./plan.ts";
import { modelText } from "./table.ts";

/** Models that are listed; every other one can be named. */
const SHOWN = 20;
/** Answers that mean nothing, after which nobody is asked any more. */
const TRIES = 3;

interface Choice {
  provider: string;
  model: string;
  /** For eyes. */
  label: string;
}

/** Makes a model the default. Throws what {@link editProviders} throws. */
export async function setDefaultModel(home: Home, choice: { provider: string; model: string }): Promise<void> {
  await editProviders(home, (document) => {
    document.setSetting("default_provider", choice.provider);
    document.setSetting("default_model", choice.model);
  });
}

/**
 * Offers the models that were met as the default, and writes the one that is chosen. Its selector; null where none was
 * chosen, one is set already, or there is none to choose.
 */
export async function offerDefault(
  { defaultProvider, defaultModel, roles, providers }: Configuration,
  { found, plan, home, io }: { found: readonly Discovered[]; plan: Plan; home: Home; io: Io },
): Promise<string | null> {
  if ((defaultProvider ?? defaultModel ?? roles.main) !== undefined) return null;
  const choices = found.flatMap((server): Choice[] => {
    const provider = providers.find(({ name }) => name === plan.names.get(server.baseUrl));
    if (server.state !== "serving" || provider === undefined) return [];
    const known = server.models.filter(({ id }) => provider.models.some((model) => model.id === id));
    const product = server.server === null ? "" : `, ${clean(server.server.label)}`;
    return known.map((model) => ({
      provider: provider.name,
      model: model.id,
      label: `${provider.name}:${modelText(model)}${product}`,
    }));
  });
  if (choices.length === 0) return null;
  const shown = choices.slice(0, SHOWN).map(({ label }, at) => `  ${String(at + 1).padStart(2)}  ${label}\n`);
  const more = choices.length > SHOWN ? `      and ${choices.length - SHOWN} more, by name\n` : "";
  await io.stderr.write(`\nWhich model answers when none is named?\n${shown.join("")}${more}`);
  for (let tries = 0; tries < TRIES; tries++) {
    const answer = (await askLine(io, "Number or name, nothing for none: "))?.trim() ?? "";
    if (answer === "") return null;
    const chosen = chosenBy(answer, choices);
    if (chosen !== null) {
      await setDefaultModel(home, chosen);
      const selector = `${chosen.provider}:${chosen.model}`;
      await io.stdout.write(`the default is ${clean(selector)}\n`);
      return selector;
    }
    await io.stderr.write(`${clean(answer)} is none of them\n`);
  }
  return null;
}

/** The choice of that number, selector, or id that only one has. */
function chosenBy(answer: string, choices: readonly Choice[]): Choice | null {
  const numbered = /^\d+$/.test(answer) ? choices.slice(0, SHOWN)[Number(answer) - 1] : undefined;
  const named = choices.filter(({ provider, model }) => answer === `${provider}:${model}`);
  const alike = choices.filter(({ model }) => answer === model);
  return named[0] ?? (alike.length === 1 ? alike[0] : undefined) ?? numbered ?? null;
}
