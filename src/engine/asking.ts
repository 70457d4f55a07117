/** Asks an engine over HTTP: whether it is ready, who else is on its port, what it serves. */
import { takesConnections } from "../provider/http/client.ts";
import type { Clock } from "../platform/io.ts";
import { fetchJson, orNull } from "../provider/http/fetch_json.ts";
import { discover, type DiscoveredModel } from "../provider/backends/discovery.ts";
import type { HttpClient } from "../provider/http/client.ts";
import { listModels } from "../provider/backends/model_list.ts";
import type { Endpoint } from "../provider/types.ts";
import { findWindows, inquire } from "../provider/backends/inquiry.ts";
import type { Engine } from "./engine.ts";

/** Milliseconds for one answer of a running server. */
const ANSWER_MS = 3000;
/** Bytes of an answer. */
const ANSWER_LIMIT = 1024 * 1024;
/** Milliseconds between questions: short at first, since small models load quickly. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1000;

export interface Address {
  /** As it is bound: `0.0.0.0` for every interface. */
  host: string;
  port: number;
}

/** Returns the host under which this machine reaches a server bound to `host`, without brackets. */
export function reachableHost(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return /^(?:::|0(?::0){7})$/.test(host) ? "::1" : host;
}

/** Returns a host in the form of a URL. */
export function urlHost(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Returns the connection to an engine of this machine: direct, whatever proxies are set. */
export function engineEndpoint(
  engine: { id: string },
  address: Address,
  { key }: { key?: string | undefined } = {},
): Endpoint {
  const seconds = ANSWER_MS / 1000;
  return {
    provider: engine.id,
    baseUrl: `http://${urlHost(reachableHost(address.host))}:${address.port}/v1`,
    key,
    keySource: "literal",
    headers: {},
    caCerts: [],
    timeout: { connect: seconds, firstByte: seconds, idle: seconds },
    // The user started it here and said where it listens.
    local: true,
  };
}

export interface Asking {
  client: HttpClient;
  endpoint: Endpoint;
  clock: Clock;
  signal: AbortSignal;
}

/** Returns whether the engine is ready. Only the signal's reason is thrown. */
export async function isReady(engine: Pick<Engine, "ready">, asking: Omit<Asking, "clock">): Promise<boolean> {
  const { client, endpoint, signal } = asking;
  const limits = { limitBytes: ANSWER_LIMIT, timeoutMs: ANSWER_MS, signal };
  const answer = await orNull(
    fetchJson(client, endpoint, { path: engine.ready.path, atOrigin: true, ...limits }),
    signal,
  );
  return answer !== null && engine.ready.proves(answer);
}

/** Resolves once the engine is ready; rejects with the signal's reason. No limit of its own: loading takes minutes. */
export async function untilReady(engine: Pick<Engine, "ready">, asking: Asking): Promise<void> {
  let pause = FIRST_PAUSE_MS;
  while (!await isReady(engine, asking)) {
    await asking.clock.sleep(pause, asking.signal);
    pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS);
  }
}

type Occupant =
  | { kind: "nobody" }
  /** The very engine that should be started. */
  | { kind: "same" }
  /** `label`: what it is, for people. */
  | { kind: "other"; label: string };

/**
 * Returns who listens where the engine should listen. `ours`: a record says that this engine was started there and
 * still runs. Servers that prove to be something else are named.
 */
export async function occupantOf(
  engine: Pick<Engine, "servers" | "own">,
  asking: Asking & { address: Address; ours: boolean },
): Promise<Occupant> {
  const { address, client, signal } = asking;
  const host = reachableHost(address.host);
  if (!await takesConnections({ hostname: host, port: address.port }, signal)) return { kind: "nobody" };
  if (asking.ours) return { kind: "same" };
  const [met] = await discover(client, { hosts: [`${urlHost(host)}:${address.port}`], timeoutMs: ANSWER_MS, signal });
  const server = met?.server ?? null;
  if (server !== null) {
    return engine.servers.includes(server.server) ? { kind: "same" } : { kind: "other", label: server.label };
  }
  const speaks = met?.state === "serving" || met?.state === "needs key" || met?.state === "loading";
  if (speaks && engine.own) return { kind: "same" };
  const label = speaks ? "a model server that is not recognized" : "something that is no model server";
  return { kind: "other", label };
}

/** Returns what the engine serves; empty when it does not say. Only the signal's reason is thrown. */
export async function servedModels(asking: Asking): Promise<DiscoveredModel[]> {
  const { client, endpoint, signal } = asking;
  const limits = { timeoutMs: ANSWER_MS, signal };
  const list = await orNull(listModels(client, endpoint, limits), signal);
  if (list === null) return [];
  const inquiry = inquire(client, endpoint, { answer: list, limits });
  const server = await inquiry.recognize();
  const ids = list.models.map((model) => model.id);
  const windows = await findWindows(inquiry, server?.server ?? null, ids);
  return ids.map((id) => ({ id, contextWindow: windows.get(id)?.tokens ?? null }));
}
