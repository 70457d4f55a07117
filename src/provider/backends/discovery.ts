/**
 * Discovers model servers on the usual ports. Plain GETs: no key, no body, and nothing that makes a server load a
 * model. Source: seed §4.2; specification of `init-providers`.
 */
import { isLocal } from "../../boundary/policy/locality.ts";
import { type Runtime, RUNTIMES } from "../../config/base_url.ts";
import { AgentcliError } from "../../errors.ts";
import type { HttpClient } from "../http/client.ts";
import type { Limits } from "../http/fetch_json.ts";
import { fetchModelList, type ModelListResponse } from "./model_list.ts";
import type { Recognized } from "./backend.ts";
import type { Endpoint } from "../types.ts";
import { findWindows, inquire } from "./inquiry.ts";

/** State of an address. `no response`: it may be open, but did not answer in time or broke off. */
type DiscoveryState =
  | "serving"
  | "needs key"
  | "loading"
  | "not a model server"
  | "no response"
  | "nothing there";

export interface DiscoveredModel {
  /** As the server spells it; not cleaned for a terminal. */
  id: string;
  /** Tokens in force, where the server says. */
  contextWindow: number | null;
}

export interface Discovered {
  /** Id of the runtime whose usual port this is; null for other ports. */
  runtime: string | null;
  host: string;
  port: number;
  baseUrl: string;
  /** True if the boundary counts the address as local. */
  local: boolean;
  state: DiscoveryState;
  /** Details for people; never text of the server. */
  detail: string;
  server: Recognized | null;
  models: DiscoveredModel[];
}

/** Addresses; the time is for everything at one of them together. */
interface DiscoveryOptions extends Limits {
  /** Names or addresses, each with a port of its own or without: then the ports of the runtimes are probed. */
  hosts: readonly string[];
  /** Those that are probed; the table of the configuration unless a test gives its own. */
  runtimes?: readonly Pick<Runtime, "id" | "port" | "probed">[];
}

interface Target {
  runtime: string | null;
  host: string;
  port: number;
}

/**
 * Asks all addresses at the same time; the answers come in the order of hosts, then of the table. Takes `timeoutMs` at
 * most. Throws `usage` for an invalid host, and the signal's reason; what servers do never throws.
 */
export async function discover(client: HttpClient, options: DiscoveryOptions): Promise<Discovered[]> {
  const probed = (options.runtimes ?? RUNTIMES).filter((runtime) => runtime.probed);
  const targets = options.hosts.flatMap((text): Target[] => {
    const { host, port } = readHost(text);
    if (port === null) return probed.map((runtime) => ({ runtime: runtime.id, host, port: runtime.port }));
    return [{ runtime: probed.find((runtime) => runtime.port === port)?.id ?? null, host, port }];
  });
  const distinct = [...new Map(targets.map((target) => [`${target.host}:${target.port}`, target])).values()];
  return await Promise.all(distinct.map(async (target) => await probe(client, target, options)));
}

/** `gpu-box`, `10.0.0.5:8080`, `::1`, `[::1]:8080`. Throws `usage` for anything but a host. */
function readHost(text: string): { host: string; port: number | null } {
  const bare = /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(text) ? `[${text}]` : text;
  const parts = /^(\[[0-9a-f:.]+\]|[a-z0-9_]([a-z0-9._-]{0,252}))(?::(\d{1,5}))?$/i.exec(bare);
  const host = parts?.[1];
  const port = parts?.[3] === undefined ? null : Number(parts[3]);
  const url = host === undefined || port === 0 ? null : URL.parse(`http://${host}:${port ?? 1}/`);
  if (url === null) {
    throw new AgentcliError("usage", "--host takes a host name or an address, with or without a port", {
      hint: "for example: --host gpu-box, --host 192.168.1.5:8080, --host [::1]:8080",
    });
  }
  return { host: url.hostname, port };
}

async function probe(client: HttpClient, target: Target, options: DiscoveryOptions): Promise<Discovered> {
  const baseUrl = `http://${target.host}:${target.port}/v1`;
  const endpoint = endpointOf(target, { baseUrl, timeoutMs: options.timeoutMs });
  const started = performance.now();
  const limits: Limits = {
    // One deadline for everything at this address; a late question fails at once.
    get timeoutMs() {
      return Math.max(1, options.timeoutMs - (performance.now() - started));
    },
    signal: options.signal,
  };
  const met = { ...target, baseUrl, local: endpoint.local, server: null, models: [] };
  let answer: ModelListResponse;
  try {
    answer = await fetchModelList(client, endpoint, limits);
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof AgentcliError)) throw error;
    return { ...met, ...absence(error) };
  }
  const inquiry = inquire(client, endpoint, { answer, limits });
  const server = await inquiry.recognize();
  if (answer.kind === "refused") return { ...met, ...refusalState(answer.status, server), server };
  const ids = answer.models.map(({ id }) => id);
  const windows = await findWindows(inquiry, server?.server ?? null, ids);
  const models = ids.map((id) => ({ id, contextWindow: windows.get(id)?.tokens ?? null }));
  return { ...met, state: "serving", detail: "", server, models };
}

/** A connection without a key: discovery never sends one. */
function endpointOf(target: Target, of: { baseUrl: string; timeoutMs: number }): Endpoint {
  const seconds = of.timeoutMs / 1000;
  return {
    provider: target.runtime ?? `${target.host}:${target.port}`,
    baseUrl: of.baseUrl,
    keySource: "none",
    headers: {},
    caCerts: [],
    timeout: { connect: seconds, firstByte: seconds, idle: seconds },
    local: isLocal(of.baseUrl, []),
  };
}

function absence(error: AgentcliError): { state: DiscoveryState; detail: string } {
  switch (error.code) {
    case "invalid_reply":
      return { state: "not a model server", detail: error.message };
    case "provider_timeout":
      return { state: "no response", detail: error.message.replace(/^no response /, "") };
    case "permission_denied":
      return { state: "no response", detail: error.message };
    case "connection_lost":
      return { state: "no response", detail: "it closed the connection" };
    case "provider_unreachable":
      return error.message.endsWith("does not speak HTTP")
        ? { state: "not a model server", detail: "it does not speak HTTP" }
        : { state: "nothing there", detail: "" };
    default:
      // A redirect, a broken header: something speaks HTTP there, but it is no model server.
      return { state: "not a model server", detail: "the answer cannot be used" };
  }
}

function refusalState(status: number, server: Recognized | null): { state: DiscoveryState; detail: string } {
  const detail = `HTTP ${status}`;
  if (status === 401 || status === 403) return { state: "needs key", detail };
  const busy = status === 503 || (server !== null && (status === 429 || status >= 500));
  return { state: busy ? "loading" : "not a model server", detail };
}
