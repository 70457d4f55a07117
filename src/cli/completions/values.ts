/** The values that completions look up: what is configured and stored. Asks no server. */
import { loadConfiguration } from "../../config/load.ts";
import { DEMO } from "../../config/find.ts";
import { SETTINGS } from "../../config/settings.ts";
import { type Configuration, type ModelEntry, ROLES } from "../../config/types.ts";
import { openHome } from "../../platform/home.ts";
import type { Context } from "../command.ts";
import type { Candidate, Wanted } from "./position.ts";

const SESSION_LIMIT = 30;

/** The values; files and directories are left to the shell. */
export async function lookUp(wanted: Extract<Wanted, { kind: "values" }>, context: Context): Promise<Candidate[]> {
  const { of, after } = wanted;
  if (of === "file" || of === "directory") return [];
  if (of === "role") return ROLES.map((role) => ({ value: role, brief: "" }));
  if (of === "setting") return SETTINGS.map(({ key, brief }) => ({ value: key, brief }));
  if (of === "session") return await sessions(context);
  if (of === "topic") return await topics();
  if (of === "scaffold") {
    const { SCAFFOLDS } = await import("../../editor/hooks/scaffold_ids.ts");
    return after === "hook" ? Object.entries(SCAFFOLDS).map(([value, { brief }]) => ({ value, brief })) : [];
  }
  if (of === "hook_event" || of.endsWith("artifact")) {
    const { editorValues } = await import("../editor/inspect.ts");
    return await editorValues(of, context);
  }
  const configuration = await loadConfiguration(await openHome(context.io));
  if (of === "engine") return await engines(configuration);
  if (of === "mcp_server") {
    return (configuration.mcpServers ?? []).map(({ name, description = "" }) => ({ value: name, brief: description }));
  }
  if (of === "setting_value") return settingValues(after ?? "", configuration);
  return of === "provider" ? providers(configuration) : models(configuration, after);
}

/** Settings of one value; what stands in a list is the user's own. */
function settingValues(key: string, configuration: Configuration): Candidate[] {
  const setting = SETTINGS.find((entry) => entry.key === key);
  if (setting?.words !== undefined) return setting.words.map((value) => ({ value, brief: "" }));
  if (key === "default_provider") return providers(configuration);
  if (key === "default_model") return configuration.providers.flatMap((entry) => entry.models.flatMap(names));
  return key.startsWith("roles.") ? models(configuration, undefined) : [];
}

async function engines(configuration: Configuration): Promise<Candidate[]> {
  const { allEngines } = await import("../../engine/request.ts");
  return allEngines(configuration.engines ?? {}).map(({ id, product }) => ({ value: id, brief: product }));
}

function providers(configuration: Configuration): Candidate[] {
  return configuration.providers.map(({ name, baseUrl }) => ({ value: name, brief: baseUrl }));
}

function names(model: ModelEntry): Candidate[] {
  const aliases = model.aliases.map((alias) => ({ value: alias, brief: `alias of ${model.id}` }));
  return [{ value: model.id, brief: model.role ?? "" }, ...aliases];
}

function models(configuration: Configuration, provider: string | undefined): Candidate[] {
  if (provider !== undefined) {
    return configuration.providers.find(({ name }) => name === provider)?.models.flatMap(names) ?? [];
  }
  const selectors = configuration.providers.flatMap((entry) =>
    entry.models.flatMap(names).map(({ value, brief }) => ({ value: `${entry.name}:${value}`, brief }))
  );
  return [...providers(configuration), { value: DEMO, brief: "scripted, needs no server" }, ...selectors];
}

async function sessions(context: Context): Promise<Candidate[]> {
  const [{ openScope }, { listSessions }] = await Promise.all([
    import("../sessions/run.ts"),
    import("../../session/list.ts"),
  ]);
  const { home, scope } = await openScope(context, { all: false });
  const found = (await listSessions(home, scope)).slice(0, SESSION_LIMIT);
  return found.map(({ id, title, firstPrompt }) => ({ value: id, brief: (title || firstPrompt).slice(0, 60) }));
}

async function topics(): Promise<Candidate[]> {
  const [{ TOPICS }, { loadTree }] = await Promise.all([import("../help/topics.ts"), import("../tree.ts")]);
  const commands = Object.entries((await loadTree()).commands).filter(([, node]) =>
    node.kind === "group" || node.hidden !== true
  );
  return [
    ...TOPICS.map(({ name, brief }) => ({ value: name, brief })),
    ...commands.map(([value, { brief }]) => ({ value, brief })),
  ];
}
