/** What was started with `--detach`: one file each in the home, `engines/<name>.json`, and its log beside it. */
import { listDirectory } from "../platform/files.ts";
import type { Home } from "../platform/home.ts";
import { processIdentity } from "../platform/service.ts";

const DIRECTORY = "engines";

/** An engine that goes on without us. */
export interface EngineRecord {
  version: 1;
  /** Also the name of the file. */
  name: string;
  engine: string;
  product: string;
  /** As it was asked for; absent for none. */
  model?: string;
  host: string;
  port: number;
  base_url: string;
  /** The command as it is shown: without keys. */
  command: string;
  /** ISO 8601. */
  started: string;
  /** Absent for an engine that lives in another program (LM Studio). */
  process?: { pid: number; identity: string };
  /** Absolute path; absent where no log is kept. */
  log?: string;
}

/** The name of an engine on a port: the id alone on its usual one. */
export function recordName(engine: { id: string; port: number | null }, port: number): string {
  return engine.port === port ? engine.id : `${engine.id}-${port}`;
}

/** Name of the log within the home. */
export function logName(name: string): string {
  return `${DIRECTORY}/${name}.log`;
}

/** Keeps a record. */
export async function writeRecord(home: Home, record: EngineRecord): Promise<void> {
  await home.write(`${DIRECTORY}/${record.name}.json`, JSON.stringify(record, null, 2) + "\n");
}

/** Forgets a record; its log stays for reading. */
export async function removeRecord(home: Home, name: string): Promise<void> {
  await home.remove(`${DIRECTORY}/${name}.json`);
}

/** The record of that name; null when there is none that can be used. */
export async function readRecord(home: Home, name: string): Promise<EngineRecord | null> {
  const text = await home.read(`${DIRECTORY}/${name}.json`).catch(() => null);
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) && value.name === name ? value : null;
  } catch {
    return null;
  }
}

/** All records, by name. */
export async function readRecords(home: Home): Promise<EngineRecord[]> {
  const entries = await listDirectory(home.file(DIRECTORY)) ?? [];
  const names = entries.filter(({ name, kind }) => kind === "file" && /^[a-z0-9][\w.-]*\.json$/.test(name))
    .map(({ name }) => name.slice(0, -".json".length)).sort();
  const records = await Promise.all(names.map((name) => readRecord(home, name)));
  return records.filter((record) => record !== null);
}

/** Whether what was started still runs; null for an engine whose process is not ours to look at. */
export async function isRunning(record: EngineRecord): Promise<boolean | null> {
  if (record.process === undefined) return null;
  return await processIdentity(record.process.pid) === record.process.identity;
}

function isRecord(value: unknown): value is EngineRecord {
  const record = value as Partial<EngineRecord> | null;
  if (typeof record !== "object" || record === null || record.version !== 1) return false;
  const texts = [
    record.name,
    record.engine,
    record.product,
    record.host,
    record.base_url,
    record.command,
    record.started,
  ];
  const started = record.process;
  return texts.every((text) => typeof text === "string") && Number.isInteger(record.port) &&
    (started === undefined || (Number.isInteger(started.pid) && started.pid > 1 &&
      typeof started.identity === "string"));
}
