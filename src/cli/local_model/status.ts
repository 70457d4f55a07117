/** `local-model status`: what was started with `--detach`, and whether it still runs and answers. */
import { engineEndpoint, isReady } from "../../engine/asking.ts";
import { type EngineRecord, isRunning, readRecords } from "../../engine/running.ts";
import { engineNamed } from "../../engine/request.ts";
import { loadConfiguration } from "../../config/load.ts";
import type { EngineTemplate } from "../../config/types.ts";
import { openHome } from "../../platform/home.ts";
import { createHttpClient, type HttpClient } from "../../provider/http/client.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { table } from "../../terminal/table.ts";
import { notice } from "../output.ts";
import type { Invocation } from "../verb.ts";

/** What is known of one record: `running` answers nothing yet, `ended` is gone. */
export type EngineState = "ready" | "running" | "ended";

/** Runs the verb; nothing there is no failure. */
export async function run({ context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const home = await openHome(io);
  const records = await readRecords(home);
  const templates = records.length === 0 ? {} : (await loadConfiguration(home)).engines ?? {};
  const client = createHttpClient(io);
  try {
    const states = await Promise.all(records.map((record) => stateOf(record, { client, templates })));
    if (globals.json) {
      return await io.stdout.write(jsonText(records.map((record, at) => {
        const { version: _version, process, ...shown } = record;
        return { ...shown, pid: process?.pid ?? null, state: states[at] };
      })));
    }
    if (records.length === 0) return await notice(context, "nothing was started with local-model serve --detach");
    const rows = records.map((record, at) =>
      [
        record.name,
        record.product,
        states[at] ?? "",
        record.base_url,
        record.model ?? "-",
        record.process === undefined ? "-" : String(record.process.pid),
        record.log ?? "-",
      ].map((cell) => clean(cell))
    );
    const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
    await io.stdout.write(table([["NAME", "ENGINE", "STATE", "ADDRESS", "MODEL", "PID", "LOG"], ...rows], { width }));
  } finally {
    client.close();
  }
}

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
    // Its template was taken out of the configuration meanwhile: whether it answers cannot be told.
    return "running";
  }
  const endpoint = engineEndpoint(engine, record);
  const ready = await isReady(engine, { client, endpoint, signal: new AbortController().signal });
  return ready ? "ready" : running === null ? "ended" : "running";
}
