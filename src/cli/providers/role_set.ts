/** Gives a role to a model. */
import { editProviders } from "../../config/edit.ts";
import { DEMO, PROVIDER_NAME, readSelector } from "../../config/selector.ts";
import { readRole } from "../../config/settings.ts";
import { AgentcliError } from "../../errors.ts";
import { openHome } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { selectorWarnings } from "../config/warnings.ts";
import { warn } from "../output.ts";
import type { Invocation } from "../verb.ts";

/** Runs the verb. Throws `unknown_role`, and `usage` for a malformed selector; what is not configured is a warning. */
export async function run({ arguments: words, context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const role = readRole(words[0] ?? "");
  const { provider, model } = readSelector(words[1] ?? "", "the model");
  if (!PROVIDER_NAME.test(provider) || provider === DEMO) {
    throw new AgentcliError("usage", "the model: expected <provider>[:<model or alias>]");
  }
  const selector = model === undefined ? provider : `${provider}:${model}`;
  let old: string | undefined;
  const { configuration } = await editProviders(await openHome(io), (document) => {
    old = document.value().roles?.[role];
    document.setRole(role, selector);
  });
  await io.stdout.write(
    globals.json
      ? jsonText({ role, old: old ?? null, new: selector })
      : clean(`${role}: ${old ?? "(not set)"} → ${selector}`) + "\n",
  );
  for (const warning of selectorWarnings(selector, configuration)) await warn(context, warning);
}
