/** The output of `init-providers`: the table of servers, the changes, and the next steps; or one JSON object. */
import { counted, grouped } from "../../platform/number.ts";
import type { Discovered, DiscoveredModel } from "../../provider/backends/discovery.ts";
import { listed } from "../../config/find.ts";
import { productOf, providerLabel, RUNTIMES } from "../../config/base_url.ts";
import { clean } from "../../terminal/clean.ts";
import type { Plan } from "./plan.ts";
import { table } from "../../terminal/table.ts";
import { firstOf } from "../result.ts";

export interface Outcome {
  /** Of providers.yaml. */
  path: string;
  dryRun: boolean;
  /** True if the text of the file changed, or would. */
  changed: boolean;
  found: readonly Discovered[];
  plan: Plan;
  /** The change as a unified diff. */
  diff: string;
  /** Selector of the model that just became the default. */
  chosen: string | null;
}

/** Returns the additions, what was kept, and the notes, one sentence per line. */
export function changeLines(outcome: Outcome): string[] {
  const { plan, dryRun } = outcome;
  const action = dryRun ? "would add" : "added";
  return [
    ...plan.providers.map(({ name, baseUrl, models }) =>
      `${action} ${providerLabel(name)}, ${clean(baseUrl)}: ${
        models.length === 0 ? "no models yet" : counted(models.length, "model")
      }`
    ),
    ...plan.commented === null ? [] : [
      `${action} ${providerLabel(plan.commented.name)}, ${
        clean(plan.commented.baseUrl)
      }, as a comment: it is not running here`,
    ],
    ...plan.models.map(({ provider, models }) => `${provider}: ${action} ${listed(models.map(modelText), 5)}`),
    ...plan.gone.slice(0, 50).map(({ provider, model }) =>
      `${provider}: '${modelName(model)}' is configured but no longer served; it was kept`
    ),
    ...plan.notes.map((note) => clean(note)),
    fileLine(outcome),
  ];
}

function fileLine({ path, dryRun, changed }: Outcome): string {
  if (!changed) return `nothing to change in ${path}`;
  return dryRun ? `dry run: ${path} was not written` : `wrote ${path}`;
}

/** Returns the next steps, one per line; commands are indented. */
export function nextSteps({ found, plan, chosen }: Outcome): string[] {
  const steps: string[] = [];
  for (const server of found) {
    const where = `${clean(server.host)}:${server.port}`;
    const owner = plan.names.get(server.baseUrl);
    if (server.state === "needs key" && owner !== undefined) {
      const variable = keyVariable(owner);
      const where = variable === null ? "" : `; set ${variable}`;
      steps.push(`${owner} needs a key to list its models${where}; then check it:`);
      steps.push(`  agentcli providers validate ${owner}`);
    } else if (server.state === "needs key") {
      const name = server.runtime ?? "<name>";
      const variable = `${name === "<name>" ? "PROVIDER" : name.toUpperCase()}_API_KEY`;
      steps.push(
        `the server at ${where} needs a key; set ${variable} to it, then:`,
        `  agentcli providers add ${name} --base-url ${clean(server.baseUrl)} --api-key '$${variable}'`,
      );
    }
    if (server.state === "loading") {
      steps.push(`the server at ${where} is not ready yet; once it is:`, "  agentcli init-providers");
    }
    if (server.state === "serving" && server.models.length === 0) {
      steps.push(
        `the server at ${where} has no models yet; load or pull one there, then:`,
        "  agentcli init-providers",
      );
    }
    if (server.server?.gateway === true) {
      steps.push(`${where} is a gateway (${clean(server.server.label)}): requests to it may leave this machine`);
    }
  }
  const ready = readyModel(found, plan);
  if (ready !== null) {
    const model = chosen === null ? ` --model ${ready}` : "";
    steps.push("check it, then try it:", "  agentcli providers validate", `  agentcli run "hello"${model}`);
  } else if (steps.length === 0) {
    const silent = found.filter((server) => server.state === "no response");
    if (silent.length > 0) {
      steps.push(
        `no response in time from ${silent.map((server) => `${clean(server.host)}:${server.port}`).join(", ")}; ` +
          "if a model server runs there, check its log, or increase the timeout:",
        "  agentcli init-providers --timeout 10000",
      );
    }
    steps.push(
      "no model server was found; start one (for example: ollama serve), then:",
      "  agentcli init-providers",
      "for a server on another port or machine, or one that needs a key:",
      "  agentcli init-providers --host <host>",
      "  agentcli providers add <name> --base-url http://<host>:<port>/v1",
      "to try it without a server:",
      '  agentcli run --model demo "hello"',
    );
  }
  return steps;
}

/** The variable that the key of a runtime is read from; null where it needs none. */
function keyVariable(name: string): string | null {
  const { apiKey = "" } = RUNTIMES.find(({ id }) => id === name) ?? {};
  return apiKey.startsWith("$") ? apiKey.slice(1) : null;
}

/** A selector that works unquoted: that of the first such model that is served. */
function readyModel(found: readonly Discovered[], plan: Plan): string | null {
  for (const server of found.filter((one) => one.state === "serving")) {
    const name = plan.names.get(server.baseUrl);
    const model = server.models.find(({ id }) => /^[\w.:/@+-]{1,100}$/.test(id));
    if (name !== undefined && model !== undefined) return `${name}:${model.id}`;
  }
  return null;
}

/** The stable object of `--json`. */
export function jsonReport({ path, dryRun, changed, found, plan, diff }: Outcome): Record<string, unknown> {
  const models = (list: readonly DiscoveredModel[]) =>
    list.map(({ id, contextWindow }) => ({ id, context_window: contextWindow }));
  return {
    path,
    dry_run: dryRun,
    changed,
    servers: found.map((server) => ({
      label: server.runtime,
      address: `${server.host}:${server.port}`,
      base_url: server.baseUrl,
      local: server.local,
      state: server.state,
      detail: server.detail,
      server: server.server,
      models: models(server.models),
    })),
    added_providers: plan.providers.map((block) => ({
      name: block.name,
      base_url: block.baseUrl,
      models: models(block.models),
    })),
    commented_providers: plan.commented === null ? [] : [plan.commented.name],
    added_models: plan.models.map(({ provider, models: list }) => ({ provider, models: models(list) })),
    gone_models: plan.gone,
    notes: plan.notes,
    ...(dryRun ? { diff } : {}),
  };
}

/** Models that are shown for one server. */
const SHOWN = 12;
/** Characters of an id that are shown. */
const ID_SHOWN = 100;

/** The table with its heading; `width` as for {@link table}. Everything from servers is cleaned. */
export function discoveryTable(found: readonly Discovered[], options: { width: number }): string {
  const rows = found.flatMap((server) => {
    const [first = "", ...more] = firstOf(server.models.map(modelText), SHOWN);
    const { runtime } = server;
    const name = server.server === null ? productOf(runtime ?? "") || "-" : clean(server.server.label);
    return [
      [name, runtime ?? "-", `${clean(server.host)}:${server.port}`, stateText(server), first],
      ...more.map((line) => ["", "", "", "", line]),
    ];
  });
  return table([["SERVER", "LABEL", "ADDRESS", "STATE", "MODELS"], ...rows], options);
}

function stateText(server: Discovered): string {
  return server.detail === "" ? server.state : `${server.state} (${clean(server.detail)})`;
}

/** `qwen3:8b (32,768 tokens)`; the id alone where the window is unknown. */
export function modelText(model: DiscoveredModel): string {
  const id = modelName(model.id);
  return model.contextWindow === null ? id : `${id} (${grouped(model.contextWindow)} tokens)`;
}

/** An id as it can be shown: cleaned, and cut when it is very long. */
export function modelName(id: string): string {
  const text = clean(id);
  return text.length > ID_SHOWN ? `${text.slice(0, ID_SHOWN)}…` : text;
}
