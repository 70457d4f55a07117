/** Runs `local-model serve`: checks the request, then starts the engine or uses a server that already runs. */
import { loadConfiguration } from "../../config/load.ts";
import { keyVariables, variableOf } from "../../config/endpoint.ts";
import { engineEndpoint, occupantOf, servedModels, untilReady } from "../../engine/asking.ts";
import { isRunning, readRecord, recordName } from "../../engine/running.ts";
import { allEngines, checkRequest, engineNamed } from "../../engine/request.ts";
import { AgentcliError } from "../../errors.ts";
import { openHome } from "../../platform/home.ts";
import { createHttpClient } from "../../provider/http/client.ts";
import type { Invocation } from "../command.ts";
import { listenForInterrupt } from "../../runtime/interrupt.ts";
import { startEngine } from "./start.ts";
import { prepareCommands, type ServeTask } from "./commands.ts";
import type { SERVE_OPTIONS } from "./command.ts";
import { clean, jsonText } from "../../terminal/clean.ts";
import { notice, warn } from "../output.ts";
import { isRequestedModel, printLeftOut, printReady, register } from "./result.ts";
import { createProgress } from "../../terminal/paced_output.ts";

/**
 * Runs the command; gives the exit code. What does not fit is `usage`; a missing program, a taken port and an engine that
 * dies are `provider_error`.
 */
export async function run({ options, arguments: own, context }: Invocation<typeof SERVE_OPTIONS>): Promise<number> {
  const { io, globals } = context;
  const home = await openHome(io);
  const configuration = await loadConfiguration(home);
  const templates = configuration.engines ?? {};
  if (options.engine === undefined) {
    const ids = allEngines(templates).map(({ id }) => id);
    throw new AgentcliError("usage", "option --engine is required", {
      hint: `one of ${ids.join(", ")}; see: agentcli local-model serve --help`,
    });
  }
  const engine = engineNamed(options.engine, templates);
  const key = readKey(options.apiKey, (name) => io.env(name));
  const checked = checkRequest(engine, { ...options, apiKey: key, own }, { cwd: globals.cwd });
  const { address } = checked;
  const interrupt = listenForInterrupt(io);
  const client = createHttpClient(io);
  try {
    const asking = {
      client,
      endpoint: engineEndpoint(engine, address, { key }),
      clock: io.clock,
      signal: interrupt.signal,
    };
    const task: ServeTask = {
      ...options,
      context,
      home,
      engine,
      checked,
      own,
      asking,
      recordName: recordName(engine, address.port),
      secret: keyVariables(configuration.providers),
    };
    if (options.dryRun) return await dryRun(task);
    const record = await readRecord(home, task.recordName);
    const ours = record !== null && await isRunning(record) === true;
    const occupant = await occupantOf(engine, { ...asking, address, ours });
    if (occupant.kind === "same") return await reuse(task);
    if (occupant.kind === "other") {
      throw new AgentcliError("provider_error", `port ${address.port} is in use by ${occupant.label}`, {
        hint: "choose another port with --port, or stop that server",
      });
    }
    if (ours) {
      throw new AgentcliError("provider_error", `${task.recordName} was started earlier and does not respond yet`, {
        hint: `see: agentcli local-model status; stop it with: agentcli local-model stop ${task.recordName}`,
      });
    }
    return await startEngine(task);
  } catch (error) {
    // Told by the exit code alone: who pressed Ctrl-C knows.
    if (interrupt.signal.aborted && error === interrupt.signal.reason && error instanceof AgentcliError) {
      return error.exitCode;
    }
    throw error;
  } finally {
    client.close();
    interrupt.end();
  }
}

/** The key itself, from a literal or `$NAME`. */
function readKey(text: string | undefined, env: (name: string) => string | undefined): string | undefined {
  if (text === undefined) return undefined;
  const variable = variableOf(text);
  const key = variable === null ? text : env(variable);
  if (key === undefined || key === "") {
    throw new AgentcliError("key_missing", variable === null ? "--api-key is empty" : `${variable} is not set`, {
      hint: "--api-key takes a key, or '$NAME' for a variable that holds one",
    });
  }
  if (!/^[\x21-\x7e]+$/.test(key)) {
    throw new AgentcliError("usage", "the key of --api-key contains characters that are not valid in an HTTP header");
  }
  return key;
}

/** Prints what would be run. Programs that are installed are asked for their options; no network is used. */
export async function dryRun(task: ServeTask): Promise<number> {
  const { context, engine, asking } = task;
  const prepared = await prepareCommands(task, { absent: "assume" });
  const { io, globals } = context;
  if (globals.json) {
    await io.stdout.write(jsonText({
      engine: engine.id,
      product: engine.product,
      installed: prepared.installed,
      base_url: asking.endpoint.baseUrl,
      commands: prepared.shown,
      variables: prepared.variables,
      left_out: prepared.leftOut,
    }));
    return 0;
  }
  for (const line of prepared.shown) await io.stdout.write(clean(line) + "\n");
  await printLeftOut(context, prepared.leftOut);
  if (!prepared.installed) {
    await notice(context, `not installed here, so its options were not checked: ${engine.install[io.os]}`);
  }
  return 0;
}

/** Returns exit code 0 once the server can be asked. */
async function reuse(task: ServeTask): Promise<number> {
  const { context: { io, globals }, engine, asking, checked } = task;
  const started = io.clock.monotonic();
  const progress = createProgress(io, globals);
  progress.start(`waiting for ${engine.product}`);
  try {
    await untilReady(engine, asking);
  } finally {
    await progress.stop();
  }
  const models = await servedModels(asking);
  const { modelName } = checked;
  if (modelName !== undefined && models.length > 0 && !models.some(({ id }) => isRequestedModel(id, checked))) {
    await warn(task.context, `it does not list ${modelName}: stop it first, or start another one with --port`);
  }
  const provider = task.register ? await register(task, models) : null;
  const afterMs = io.clock.monotonic() - started;
  await printReady(task, { reused: true, afterMs, models, commands: [], provider, pid: null, log: null });
  return 0;
}
