/** Adds a model to a provider, or updates the fields given. */
import { editProviders } from "../../config/edit.ts";
import { readRole } from "../../config/settings.ts";
import { AgentcliError } from "../../errors.ts";
import { openHome } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice } from "../output.ts";
import type { Invocation } from "../verb.ts";
import type { MODEL_ADD_OPTIONS } from "./verb.ts";

/** Runs the verb. Throws `unknown_provider`, `unknown_role`, and `config_invalid` for an alias that is taken. */
export async function run({ options, arguments: words, context }: Invocation<typeof MODEL_ADD_OPTIONS>): Promise<void> {
  const { io, globals } = context;
  const [provider = "", id = ""] = words;
  if (id === "") throw new AgentcliError("usage", "the model id is empty");
  if (options.alias === "") throw new AgentcliError("usage", "option --alias needs a name");
  const role = options.role === undefined ? undefined : readRole(options.role);
  let change: "added" | "updated" | "unchanged" = "unchanged";
  const former: string[] = [];
  await editProviders(await openHome(io), (document) => {
    const model = { id, role, context_window: options.contextWindow, alias: options.alias };
    change = document.addModel(provider, model);
    // A role has one holder in a provider, so it moves.
    const others = document.value().providers?.[provider]?.models ?? [];
    for (const other of others.filter((entry) => role !== undefined && entry.role === role && entry.id !== id)) {
      former.push(other.id);
      document.unsetModelField(provider, { id: other.id, key: "role" });
    }
  });
  await io.stdout.write(
    globals.json ? jsonText({ provider, id, change }) : `${change} ${provider}:${clean(id)}\n`,
  );
  for (const other of former) await notice(context, `${provider}:${other} no longer has the role ${role}`);
}
