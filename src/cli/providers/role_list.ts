/** Lists the roles and which model has each. */
import { loadConfiguration } from "../../config/load.ts";
import { type Configuration, type Role, ROLES } from "../../config/types.ts";
import { openHome } from "../../platform/home.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { table } from "../../terminal/table.ts";
import type { Invocation } from "../verb.ts";

interface Holder {
  role: Role;
  /** `<provider>[:<model>]`. */
  model: string;
  /** `roles`: set for all; `models`: counts while its provider is in use. */
  source: "roles" | "models";
}

/** Who has which role; what `roles:` says comes first, for it wins. */
function holders(configuration: Configuration): Holder[] {
  return ROLES.flatMap((role) => {
    const set = configuration.roles[role];
    const own = configuration.providers.flatMap((provider) =>
      provider.models.filter((model) => model.role === role)
        .map((model): Holder => ({ role, model: `${provider.name}:${model.id}`, source: "models" }))
    );
    return set === undefined ? own : [{ role, model: set, source: "roles" } as const, ...own];
  });
}

/** Runs the verb. */
export async function run({ context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const found = holders(await loadConfiguration(await openHome(io)));
  if (globals.json) return await io.stdout.write(jsonText({ roles: found }));
  const rows = ROLES.flatMap((role) => {
    const own = found.filter((holder) => holder.role === role);
    if (own.length === 0) return [[role, "-", role === "main" ? "" : "the model of the session"]];
    return own.map(({ model, source }) => [role, clean(model), source === "roles" ? "roles" : "its own entry"]);
  });
  const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
  await io.stdout.write(table([["ROLE", "MODEL", "SET BY"], ...rows], { width }));
}
