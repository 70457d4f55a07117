/** Runs `local-model status` and `local-model stop`, for engines started with `--detach`. */
import { engineEndpoint, isReady, urlHost } from "../../engine/asking.ts";
import { type EngineRecord, isRunning, readRecords, removeRecord, runCalls } from "../../engine/running.ts";
import { engineNamed } from "../../engine/request.ts";
import type { EngineTemplate } from "../../config/types.ts";
import { openHome } from "../../platform/home.ts";
import type { HttpClient } from "../../provider/http/client.ts";
import { clean } from "../../terminal/clean.ts";
import { configured, print, withClient } from "../result.ts";
import type { Context, Invocation } from "../command.ts";
import { fill, type Values } from "../../engine/engine.ts";
import { engineEnvironment, findInstalled } from "../../engine/installed.ts";
import { engines } from "../../engine/table.ts";
import { runtimeCalled } from "../../config/base_url.ts";
import { didYouMean } from "../../config/suggest.ts";
import { AgentcliError } from "../../errors.ts";
import { endDetached } from "../../platform/process_group.ts";
import type { STOP_OPTIONS } from "./command.ts";

/** The state of one record: `running` does not respond yet, `ended` is gone. */
type EngineState = "ready" | "running" | "ended";

/** Runs the command; finding nothing is no failure. */
export async function printStatus({ context }: Invocation): Promise<void> {
  const { io } = context;
  const records = await readRecords(await openHome(io));
  const templates = records.length === 0 ? {} : (await configured(context)).configuration.engines ?? {};
  const states = await withClient(
    context,
    (client) => Promise.all(records.map((record) => stateOf(record, { client, templates }))),
  );
  const json = records.map(({ version: _version, process, ...shown }, at) => ({
    ...shown,
    pid: process?.pid ?? null,
    state: states[at],
  }));
  const rows = records.map(({ name, product, base_url, model = "-", process, log = "-" }, at) =>
    [name, product, states[at] ?? "", base_url, model, String(process?.pid ?? "-"), log].map((cell) => clean(cell))
  );
  const heading = ["NAME", "ENGINE", "STATE", "ADDRESS", "MODEL", "PID", "LOG"];
  await print(context, { json, table: [heading, ...rows], none: NONE });
}

const NONE = "no engine was started with local-model serve --detach";

async function stateOf(
  record: EngineRecord,
  { client, templates }: { client: HttpClient; templates: Readonly<Record<string, EngineTemplate>> },
): Promise<EngineState> {
  const running = await isRunning(record);
  if (running === false) return "ended";
  let engine;
  try {
    engine = engineNamed(record.engine, templates);
  } catch {
    // Its template was removed from the configuration meanwhile: whether it answers is unknown.
    return "running";
  }
  const endpoint = engineEndpoint(engine, record);
  const ready = await isReady(engine, { client, endpoint, signal: new AbortController().signal });
  return ready ? "ready" : running === null ? "ended" : "running";
}

/** Milliseconds that an engine has to shut down. */
const GRACE_MS = 10_000;

/** Runs the command. An unknown name, and none where there are several, is `usage`; nothing to end is no failure. */
export async function stopEngines(
  { options, arguments: words, context }: Invocation<typeof STOP_OPTIONS>,
): Promise<void> {
  const { io, globals } = context;
  const home = await openHome(io);
  const records = chosen(await readRecords(home), { name: words[0], all: options.all });
  const ended: { name: string; was_running: boolean }[] = [];
  for (const record of records) {
    const running = await end(record, context);
    await removeRecord(home, record.name);
    ended.push({ name: record.name, was_running: running });
    if (!globals.json) {
      await io.stdout.write(clean(running ? `stopped ${record.name}` : `${record.name} had already stopped`) + "\n");
    }
  }
  await print(context, { json: { ended }, message: records.length === 0 ? NONE : undefined });
}

function chosen(
  records: readonly EngineRecord[],
  { name, all }: { name: string | undefined; all: boolean },
): readonly EngineRecord[] {
  const names = records.map((record) => record.name);
  if (name !== undefined) {
    if (all) throw new AgentcliError("usage", "give either a name or --all");
    const named = records.filter((record) => record.name === name);
    const called = runtimeCalled(name);
    const found = named.length > 0 ? named : records.filter((record) => record.name === called);
    if (found.length > 0) return found;
    throw new AgentcliError("usage", `${name} was not started with --detach; running: ${names.join(", ") || "none"}`, {
      hint: didYouMean(name, names) ?? "see: agentcli local-model status",
    });
  }
  if (records.length < 2 || all) return records;
  throw new AgentcliError("usage", `several engines are running: ${names.join(", ")}`, {
    hint: "give a name, or pass --all",
  });
}

/** Returns whether it was still running. */
async function end(record: EngineRecord, context: Context): Promise<boolean> {
  if (record.process !== undefined) return await endDetached(record.process, { graceMs: GRACE_MS });
  return await endService(record, context);
}

async function endService(record: EngineRecord, { io, globals }: Context): Promise<boolean> {
  const running = engines().find(({ id }) => id === record.engine)?.running;
  if (running?.kind !== "service") return false;
  const env = engineEnvironment(io.environment(), { set: {}, secret: [], download: false });
  const values: Values = {
    host: record.host,
    url_host: urlHost(record.host),
    port: String(record.port),
    model: record.model,
  };
  const search = { path: io.env("PATH") ?? "", io, env, cwd: globals.cwd, signal: new AbortController().signal };
  for (const command of running.stop) {
    if (command.needs !== undefined && values[command.needs] === undefined) continue;
    const found = await findInstalled([command], search);
    if (found === null) throw new AgentcliError("provider_error", `${command.programs.join(" or ")} is not on PATH`);
    const words = command.words.map((word) => fill(word, values)).filter((word) => word !== null);
    const call = { argv: [found.program, ...words] as const, mayFail: command.mayFail === true };
    await runCalls([call], { cwd: globals.cwd, env, onLine: () => {} });
  }
  return true;
}
