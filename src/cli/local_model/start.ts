/** Starts an engine and waits until it can be asked: beside us until Ctrl-C, or on its own with `--detach`. */
import type { DiscoveredModel } from "../../provider/backends/discovery.ts";
import { servedModels, untilReady } from "../../engine/asking.ts";
import {
  lastLines,
  logName,
  removeRecord,
  runCalls,
  type RunningEngine,
  startChild,
  watchService,
  writeRecord,
} from "../../engine/running.ts";
import { AgentcliError } from "../../errors.ts";
import { endDetached, processIdentity, startDetached } from "../../platform/process_group.ts";
import { backendOf } from "../../provider/backends/backends.ts";
import { inquire } from "../../provider/backends/inquiry.ts";
import { aborted } from "../serving.ts";
import { clean } from "../../terminal/clean.ts";
import { prepareCommands, type Prepared, type ServeTask } from "./commands.ts";
import { logWriter, printLeftOut, printLog, printReady, printWarnings, register } from "./result.ts";
import { createProgress } from "../../terminal/paced_output.ts";

/** Milliseconds after which an engine that still cannot be asked is given up. */
const READY_LIMIT_MS = 30 * 60_000;
/** Milliseconds that a detached engine has to end in good order when it is given up. */
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

/** Returns the exit code: at once with `--detach`, else when the engine was ended. An engine that dies is `provider_error`. */
export async function startEngine(task: ServeTask): Promise<number> {
  const { context: { io, globals }, asking } = task;
  const prepared = await prepareCommands(task, { absent: "fail" });
  await printLeftOut(task.context, prepared.leftOut);
  await printWarnings(task);
  if (!globals.quiet) {
    for (const line of prepared.shown) await io.stderr.write(clean(line) + "\n");
  }
  const begun = io.clock.monotonic();
  const started = await start(task, prepared);
  let failed = true;
  try {
    await waitFor(task, started);
    const models = await readyModels(task);
    const provider = task.register ? await register(task, models) : null;
    const { pid, log } = started;
    const afterMs = io.clock.monotonic() - begun;
    await printReady(task, { reused: false, afterMs, models, commands: prepared.shown, provider, pid, log });
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
  if (task.engine.running.kind === "service") return await startService(task, prepared);
  return task.detach ? await startAlone(task, prepared) : startBeside(task, prepared);
}

function startBeside(task: ServeTask, { start: [command], env }: Prepared): Started {
  const { context: { io, globals } } = task;
  const onLine = globals.quiet ? () => {} : logWriter(io);
  const running = startChild(onlyCommand(command), { cwd: globals.cwd, env, onLine });
  return { running, pid: null, log: null, logShown: !globals.quiet, keep: false };
}

function onlyCommand<T>(command: T | undefined): T {
  if (command === undefined) throw new RangeError("an engine without a command");
  return command;
}

async function startService(task: ServeTask, prepared: Prepared): Promise<Started> {
  const { context: { io, globals }, asking, engine } = task;
  const onLine = globals.quiet ? () => {} : logWriter(io);
  const processOptions = { cwd: globals.cwd, env: prepared.env, onLine };
  const running = watchService(engine, { ...processOptions, stop: prepared.stop, asking, clock: io.clock });
  try {
    await runCalls(prepared.start, { ...processOptions, signal: asking.signal });
  } catch (error) {
    await running.end();
    throw error;
  }
  if (task.detach) await keepRecord(task, prepared, {});
  return { running, pid: null, log: null, logShown: !globals.quiet, keep: task.detach };
}

async function startAlone(task: ServeTask, prepared: Prepared): Promise<Started> {
  const { context: { io, globals }, home, recordName } = task;
  const log = logName(recordName);
  // Made here, so that it is for the owner alone whatever the umask.
  await home.write(log, "");
  const { argv } = onlyCommand(prepared.start[0]);
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

/** Resolves once the engine can be asked. */
async function waitFor(task: ServeTask, started: Started): Promise<void> {
  const { context: { io, globals }, engine, asking } = task;
  const gone = new AbortController();
  let code: number | null = null;
  void started.running.ended.then((value) => {
    code = value;
    gone.abort();
  });
  const late = AbortSignal.timeout(READY_LIMIT_MS);
  // Beside a log that is being shown the line would be torn apart.
  const progress = createProgress(io, { quiet: globals.quiet || started.logShown });
  progress.start(`starting ${engine.product}`);
  try {
    await untilReady(engine, { ...asking, signal: AbortSignal.any([asking.signal, gone.signal, late]) });
  } catch (error) {
    asking.signal.throwIfAborted();
    await progress.stop();
    if (gone.signal.aborted) throw await died(task, started, { code });
    if (!late.aborted) throw error;
    await showTail(task, started);
    throw new AgentcliError("provider_error", `${engine.product} was not ready after ${READY_LIMIT_MS / 60_000} min`, {
      hint: "check its log: it may be downloading a model",
    });
  } finally {
    await progress.stop();
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
    const inquiry = inquire(client, endpoint, { timeoutMs: READY_LIMIT_MS, signal });
    const backend = backendOf(engine.preload);
    if (!await backend?.loadModel?.(inquiry, values.model, () => {})) {
      throw new AgentcliError("provider_error", `${engine.product} could not load ${values.model}`, {
        hint: `fetch it first: ${backend?.fetchModel?.command(values.model) ?? values.model}`,
      });
    }
  }
  return await servedModels(asking);
}
