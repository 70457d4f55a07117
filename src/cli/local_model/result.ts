/** The result of `local-model serve`: what is printed, and what `--register` writes to providers.yaml. */
import { grouped } from "../../platform/number.ts";
import type { LeftOut } from "../../engine/engine.ts";
import { urlHost } from "../../engine/asking.ts";
import type { DiscoveredModel } from "../../provider/backends/discovery.ts";
import { isLocal } from "../../boundary/policy/locality.ts";
import type { Io } from "../../platform/io.ts";
import { clean } from "../../terminal/clean.ts";
import type { ServeTask } from "./commands.ts";
import { editProviders } from "../../config/edit.ts";
import { addressOf, recordOf } from "../init_providers/plan.ts";
import type { Checked } from "../../engine/request.ts";
import { basename } from "../../platform/path.ts";
import { firstOf, notice, print, warn } from "../result.ts";

/** Models that are named. */
const SHOWN = 12;

/** Returns the line about an option that is not passed. */
export function leftOutText({ flag, reason }: LeftOut): string {
  return `not passed: ${flag}: ${reason}`;
}

/** Prints warnings about the request, before anything is started. */
export async function printWarnings(task: ServeTask): Promise<void> {
  const { context, engine, checked: { address, values } } = task;
  if (!isLocal(task.asking.endpoint.baseUrl, []) || address.host === "0.0.0.0" || /^[0:]+$/.test(address.host)) {
    const shown = /^[0.:]+$/.test(address.host) ? "<address of this machine>" : urlHost(address.host);
    await warn(
      context,
      `${engine.product} will be reachable from other machines${values.api_key ? "" : ", without a key"}`,
    );
    await notice(
      context,
      `in each project that may send protected content to it, run: agentcli secrets add --local-endpoint ${shown}:${address.port}`,
    );
  }
  const parses = engine.running.kind === "child" &&
    engine.running.commands.some(({ options }) => options.some((option) => option.value === "{tool_parser}"));
  if (parses && values.tool_parser === undefined && !task.own.some((word) => word.startsWith("--tool-call-parser"))) {
    await notice(
      context,
      "no tool-call parser is known for this model; name one: -- --enable-auto-tool-choice --tool-call-parser <name>",
    );
  }
}

/** A server that is ready. */
interface Ready {
  /** When the wait for it began, in monotonic milliseconds. */
  begun: number;
  models: readonly DiscoveredModel[];
  /**
   * Commands as they were shown, and the absolute path of the log, if one is kept; null for a server that was already
   * running.
   */
  started: { commands: readonly string[]; pid: number | null; log: string | null } | null;
}

/** Adds the provider if requested, and prints the result: where the server listens and what it serves. */
export async function announce(task: ServeTask, { begun, models, started }: Ready): Promise<void> {
  const { context, engine, asking: { endpoint: { baseUrl } }, recordName } = task;
  const provider = task.register ? await register(task, models) : null;
  const afterMs = context.io.clock.monotonic() - begun;
  const when = started === null ? "is already running" : `is ready after ${(afterMs / 1000).toFixed(1)} s`;
  const lines = [`${engine.product} (${engine.id}) ${when}: ${baseUrl}`, ...modelLines(models)];
  if (provider !== null) lines.push(`  provider ${provider} in providers.yaml`);
  const [model] = models;
  if (!context.globals.json) await warnShortWindow(task, models);
  await print(context, {
    json: {
      engine: engine.id,
      product: engine.product,
      state: "ready",
      reused: started === null,
      ready_after_ms: Math.round(afterMs),
      base_url: baseUrl,
      models: models.map(({ id, contextWindow }) => ({ id, context_window: contextWindow })),
      commands: started?.commands ?? [],
      provider,
      detached: task.detach && started !== null ? recordName : null,
      pid: started?.pid ?? null,
      log: started?.log ?? null,
    },
    text: lines.map((line) => clean(line) + "\n").join(""),
    notes: [
      ...provider === null ? ["to use it, add --register, or run agentcli init-providers"] : [],
      ...provider !== null && model !== undefined
        ? [`try it: agentcli run "hello" --model '${provider}:${model.id}'`]
        : [],
      started === null
        ? "its own settings apply: context window, address, and whether it may use a cloud"
        : task.detach
        ? `it keeps running; stop it with: agentcli local-model stop ${recordName}`
        : `${engine.id} runs until Ctrl-C`,
    ],
  });
}

/** A server may give less than it was asked for: its model was not made for more, or the card is full. */
async function warnShortWindow({ context, checked }: ServeTask, models: readonly DiscoveredModel[]): Promise<void> {
  const asked = Number(checked.values.context_window);
  const given = models.find(({ id }) => id === checked.modelName)?.contextWindow ?? null;
  if (given === null || !(given < asked)) return;
  const [less, more] = [given, asked].map(grouped);
  await warn(context, `the server provides ${less} of the ${more} tokens requested: the model may not support more`);
}

function modelLines(models: readonly DiscoveredModel[]): string[] {
  const lines = models.map(({ id, contextWindow }) =>
    `model ${id}${contextWindow === null ? "" : `, window ${grouped(contextWindow)} tokens`}`
  );
  return firstOf(lines, SHOWN).map((line) => `  ${line}`);
}

/** Writes lines of a log to stderr, cleaned. Lines that nobody reads in time are counted and left out. */
export function logWriter(io: Pick<Io, "stderr">): (line: string) => void {
  let waiting = 0;
  let skipped = 0;
  let last: Promise<void> = Promise.resolve();
  return (line) => {
    if (waiting > WAITING_LINES) return void skipped++;
    waiting++;
    const text = skipped === 0 ? "" : `(${skipped} log lines skipped)\n`;
    skipped = 0;
    // A missing reader is no reason to end a server that others may be using.
    last = last.then(() => io.stderr.write(text + clean(line) + "\n")).catch(() => {}).then(() => void waiting--);
  };
}

/** Lines of a log that may wait for a slow reader. */
const WAITING_LINES = 1000;

/** The last lines of a log, set off. */
export async function printLog(io: Pick<Io, "stderr">, lines: readonly string[]): Promise<void> {
  if (lines.length > 0) await io.stderr.write(lines.map((line) => `  | ${clean(line)}\n`).join(""));
}

/** Models of one server that are written at most. */
const MODEL_LIMIT = 200;

/**
 * Adds the provider, or its new models to an existing one with the same address. Returns its name. A name that is taken
 * by another address gets the port as a suffix.
 */
async function register(task: ServeTask, models: readonly DiscoveredModel[]): Promise<string> {
  let name = task.engine.id;
  await editProviders(task.home, (document) => {
    // As discovery writes it.
    const baseUrl = task.asking.endpoint.baseUrl.replace(/^http:\/\/127\.0\.0\.1:/, "http://localhost:");
    const known = Object.entries(document.value().providers ?? {});
    const same = known.find(([, provider]) => addressOf(provider.base_url) === addressOf(baseUrl));
    if (same === undefined) {
      const taken = new Set(known.map(([each]) => each));
      const choices = [task.engine.id, `${task.engine.id}-${task.checked.address.port}`];
      name = choices.find((choice) => !taken.has(choice)) ?? `${task.engine.id}-${crypto.randomUUID().slice(0, 8)}`;
      const apiKey = task.apiKey ?? (isLocal(task.asking.endpoint.baseUrl, []) ? "local" : "none");
      document.addProvider(name, { type: "openai_compat", base_url: baseUrl, api_key: apiKey, models: [] });
    } else name = same[0];
    for (const model of wanted(task, models).slice(0, MODEL_LIMIT)) document.addModel(name, recordOf(model));
  });
  return name;
}

/** The requested model, where the list has it; otherwise all. */
function wanted(task: ServeTask, models: readonly DiscoveredModel[]): readonly DiscoveredModel[] {
  const found = models.filter(({ id }) => isRequestedModel(id, task.checked));
  return found.length > 0 ? found : models;
}

/** By its id in the list. Ollama adds its tag, llama-server takes the file for the name where it was given none. */
export function isRequestedModel(
  id: string,
  { modelName, values: { model } }: Pick<Checked, "modelName" | "values">,
): boolean {
  if (id === modelName || id === model || id === `${model}:latest`) return true;
  return model !== undefined && model.endsWith(".gguf") && basename(id) === basename(model);
}
