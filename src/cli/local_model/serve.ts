/**
 * Runs `local-model serve`: checks the request, then uses a server that already runs, or starts the engine and waits
 * until it is ready: in the foreground until Ctrl-C, or on its own with `--detach`.
 */
import { keyVariables, variableOf } from "../../config/endpoint.ts";
import { engineEndpoint, occupantOf, servedModels, untilReady } from "../../engine/asking.ts";
import {
  isRunning,
  lastLines,
  logName,
  readRecord,
  type ReadyCommand,
  recordName,
  removeRecord,
  runCalls,
  type RunningEngine,
  startChild,
  watchService,
  writeRecord,
} from "../../engine/running.ts";
import { allEngines, checkRequest, engineNamed } from "../../engine/request.ts";
import { AgentcliError } from "../../errors.ts";
import { HttpClient } from "../../provider/http/client.ts";
import type { Invocation } from "../command.ts";
import { listenForInterrupt } from "../../runtime/interrupt.ts";
import { prepareCommands, type Prepared, type ServeTask } from "./commands.ts";
import type { SERVE_OPTIONS } from "./command.ts";
import { clean } from "../../terminal/clean.ts";
import { announce, isRequestedModel, leftOutText, logWriter, printLog, printWarnings } from "./result.ts";
import type { DiscoveredModel } from "../../provider/backends/discovery.ts";
import { endDetached, processIdentity, startDetached } from "../../platform/process_group.ts";
import { backendOf } from "../../provider/backends/backends.ts";
import { inquire } from "../../provider/backends/inquiry.ts";
import { aborted } from "../../platform/time_limit.ts";
import { configured, during, notice, print, warn } from "../result.ts";

/**
 * Runs the command and returns the exit code. What does not fit is `usage`; a missing program, a taken port and an
 * engine that dies are `provider_error`.
 */
export async function run({ options, arguments: own, context }: Invocation<typeof SERVE_OPTIONS>): Promise<number> {
  const { io, globals } = context;
  const { home, configuration } = await configured(context);
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
  const client = new HttpClient(io);
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
    // Only the exit code says so: whoever pressed Ctrl-C knows.
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
async function dryRun(task: ServeTask): Promise<number> {
  const { context, engine, asking } = task;
  const { shown, installed, variables, leftOut } = await prepareCommands(task, { absent: "assume" });
  await print(context, {
    json: {
      engine: engine.id,
      product: engine.product,
      installed,
      base_url: asking.endpoint.baseUrl,
      commands: shown,
      variables,
      left_out: leftOut,
    },
    text: shown.map((line) => clean(line) + "\n").join(""),
    notes: [
      ...leftOut.map(leftOutText),
      ...installed ? [] : [`not installed here, so its options were not checked: ${engine.install[context.io.os]}`],
    ],
  });
  return 0;
}

/** Returns exit code 0 once the server is ready. */
async function reuse(task: ServeTask): Promise<number> {
  const { context, engine, asking, checked } = task;
  const begun = context.io.clock.monotonic();
  await during(context, `waiting for ${engine.product}`, () => untilReady(engine, asking));
  const models = await servedModels(asking);
  const { modelName } = checked;
  if (modelName !== undefined && models.length > 0 && !models.some(({ id }) => isRequestedModel(id, checked))) {
    await warn(context, `it does not list ${modelName}: stop it first, or start another one with --port`);
  }
  await announce(task, { begun, models, started: null });
  return 0;
}

/** Milliseconds after which an engine that is still not ready is given up. */
const READY_LIMIT_MS = 30 * 60_000;
/** Milliseconds that a detached engine has to shut down when it is given up. */
const GRACE_MS = 5000;

/** An engine that was started, and how to look after it. */
interface Started {
  running: RunningEngine;
  pid: number | null;
  log: string | null;
  /** True if its output was shown as it came. */
  logShown: boolean;
  /** Leaves it alone from now on. */
  keep: boolean;
}

/**
 * Returns the exit code: at once with `--detach`, else when the engine was ended. An engine that dies is
 * `provider_error`.
 */
async function startEngine(task: ServeTask): Promise<number> {
  const { context: { io, globals }, asking } = task;
  const prepared = await prepareCommands(task, { absent: "fail" });
  for (const option of prepared.leftOut) await notice(task.context, leftOutText(option));
  await printWarnings(task);
  if (!globals.quiet) {
    for (const line of prepared.shown) await io.stderr.write(clean(line) + "\n");
  }
  const begun = io.clock.monotonic();
  const started = await start(task, prepared);
  let failed = true;
  try {
    await waitFor(task, started);
    const { pid, log } = started;
    await announce(task, { begun, models: await readyModels(task), started: { commands: prepared.shown, pid, log } });
    failed = false;
    if (started.keep) return 0;
    const code = await Promise.race([started.running.ended, aborted(asking.signal)]);
    asking.signal.throwIfAborted();
    throw await died(task, started, { code: code ?? null });
  } finally {
    if (failed || !started.keep) await started.running.end();
  }
}

async function start(task: ServeTask, prepared: Prepared): Promise<Started> {
  const { context: { io, globals }, engine, asking, detach } = task;
  const isService = engine.running.kind === "service";
  if (detach && !isService) return await startAlone(task, prepared);
  const options = { cwd: globals.cwd, env: prepared.env, onLine: globals.quiet ? () => {} : logWriter(io) };
  const started = { pid: null, log: null, logShown: !globals.quiet, keep: detach };
  if (!isService) return { ...started, running: startChild(onlyCommand(prepared), options) };
  const running = watchService(engine, { ...options, stop: prepared.stop, asking });
  try {
    await runCalls(prepared.start, { ...options, signal: asking.signal });
  } catch (error) {
    await running.end();
    throw error;
  }
  if (detach) await keepRecord(task, prepared, {});
  return { ...started, running };
}

function onlyCommand({ start: [command] }: Prepared): ReadyCommand {
  if (command === undefined) throw new RangeError("an engine without a command");
  return command;
}

async function startAlone(task: ServeTask, prepared: Prepared): Promise<Started> {
  const { context: { io, globals }, home, recordName } = task;
  const log = logName(recordName);
  // Created here, so that it is for the owner alone whatever the umask.
  await home.write(log, "");
  const { argv } = onlyCommand(prepared);
  const path = home.file(log);
  const { pid, ended } = startDetached({ argv, cwd: globals.cwd, env: prepared.env, log: path });
  const identity = await processIdentity(pid);
  const known = identity === null ? null : { pid, identity };
  if (known !== null) await keepRecord(task, prepared, { process: known, log: path });
  let tail: string[] = [];
  const running: RunningEngine = {
    ended,
    async end() {
      if (known !== null) await endDetached(known, { graceMs: GRACE_MS });
      await removeRecord(home, recordName);
    },
    lastLines: () => tail,
  };
  const readTail = async () => void (tail = lastLines(await home.read(log).catch(() => null) ?? ""));
  return {
    running: { ...running, ended: ended.then(async (code) => (await readTail(), code)) },
    pid,
    log: io.os === "windows" ? null : path,
    logShown: false,
    keep: true,
  };
}

async function keepRecord(
  task: ServeTask,
  prepared: Prepared,
  more: { process?: { pid: number; identity: string }; log?: string },
): Promise<void> {
  const { engine, checked, asking, context: { io } } = task;
  await writeRecord(task.home, {
    version: 1,
    name: task.recordName,
    engine: engine.id,
    product: engine.product,
    ...(checked.values.model === undefined ? {} : { model: checked.values.model }),
    ...checked.address,
    base_url: asking.endpoint.baseUrl,
    command: prepared.shown.join("\n"),
    started: new Date(io.clock.now()).toISOString(),
    ...more,
  });
}

/** Resolves once the engine is ready. */
async function waitFor(task: ServeTask, started: Started): Promise<void> {
  const { context: { io, globals }, engine, asking } = task;
  const gone = new AbortController();
  let code: number | null = null;
  void started.running.ended.then((value) => {
    code = value;
    gone.abort();
  });
  const late = AbortSignal.timeout(READY_LIMIT_MS);
  // While a log is shown, it would tear the line apart.
  const quiet = globals.quiet || started.logShown;
  const signal = AbortSignal.any([asking.signal, gone.signal, late]);
  try {
    await during(
      { io, globals: { quiet } },
      `starting ${engine.product}`,
      () => untilReady(engine, { ...asking, signal }),
    );
  } catch (error) {
    asking.signal.throwIfAborted();
    if (gone.signal.aborted) throw await died(task, started, { code });
    if (!late.aborted) throw error;
    await showTail(task, started);
    throw new AgentcliError("provider_error", `${engine.product} was not ready after ${READY_LIMIT_MS / 60_000} min`, {
      hint: "check its log: it may be downloading a model",
    });
  }
}

async function showTail(task: ServeTask, started: Started): Promise<void> {
  if (!started.logShown) await printLog(task.context.io, started.running.lastLines());
}

async function died(task: ServeTask, started: Started, { code }: { code: number | null }): Promise<AgentcliError> {
  await showTail(task, started);
  const { engine } = task;
  const how = code === null ? "stopped responding" : `exited on its own (exit code ${code})`;
  const offline = task.checked.values.offline !== undefined && task.checked.values.model_id !== undefined;
  return new AgentcliError("provider_error", `${engine.product} (${engine.id}) ${how}`, {
    hint: offline && engine.model.takes !== "id"
      ? "see its output above; --download fetches a model that is not on this machine yet"
      : "see its output above",
  });
}

async function readyModels(task: ServeTask): Promise<DiscoveredModel[]> {
  const { engine, asking, checked: { values } } = task;
  if (engine.preload !== undefined && values.model !== undefined) {
    const { client, endpoint, signal } = asking;
    const inquiry = inquire(client, endpoint, { limits: { timeoutMs: READY_LIMIT_MS, signal } });
    const backend = backendOf(engine.preload);
    if (!await backend?.loadModel?.(inquiry, values.model, () => {})) {
      throw new AgentcliError("provider_error", `${engine.product} could not load ${values.model}`, {
        hint: `fetch it first: ${backend?.fetchModel?.command(values.model) ?? values.model}`,
      });
    }
  }
  return await servedModels(asking);
}
