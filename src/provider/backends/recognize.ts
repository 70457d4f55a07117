/** Recognizes the server at an address: from its model list first, then by at most two further requests. */
import { AgentcliError } from "../../errors.ts";
import { fetchJson, type JsonResponse } from "../http/fetch_json.ts";
import type { Backend, Facts } from "./backend.ts";
import { BACKENDS } from "./backends.ts";
import type { HttpClient } from "../http/client.ts";
import { type ModelList, rawEntries } from "./model_list.ts";
import type { Endpoint } from "../types.ts";

/** Questions beyond the list. */
const PROBE_COUNT = 2;
/** Bytes of their answers. */
const PROBE_LIMIT = 64 * 1024;

/** A server by name. */
export interface Recognized {
  /** `ollama`, `llama.cpp`, `lmstudio`, `vllm`, …: the id of a backend. */
  server: string;
  /** For people. */
  label: string;
  /** It passes requests on to servers elsewhere, whatever its address. */
  gateway: boolean;
}

/** Known facts, and limits of the requests. */
interface RecognizeOptions {
  /** Null where there is none. */
  list: ModelList | null;
  timeoutMs: number;
  signal?: AbortSignal;
  /** The answer that refused the list. */
  refused?: JsonResponse;
}

/**
 * The server behind an endpoint, or null when nothing proves one. The list, its headers, or its refusal decide where
 * they can; else one or two endpoints of the likely servers are requested, without the key, none of which loads a model.
 * Unreachable, slow and unreadable answers are no proof and no error; only the signal's reason is thrown.
 */
export async function recognize(
  client: HttpClient,
  endpoint: Endpoint,
  options: RecognizeOptions,
): Promise<Recognized | null> {
  const facts = factsOf(endpoint, options);
  const shown = BACKENDS.find((backend) => isShown(backend, facts));
  if (shown !== undefined) return recognized(shown);
  // Hosts on the open net are services, not one of these servers: no further request.
  if (endpoint.baseUrl.startsWith("https:") && !endpoint.local) return null;
  const proofs = await Promise.all(
    suspects(facts).map(async (backend) => await proven(client, endpoint, { backend, options })),
  );
  const proof = proofs.find((backend) => backend !== null);
  return proof === undefined || proof === null ? null : recognized(proof);
}

function recognized(backend: Backend): Recognized {
  return { server: backend.id, label: backend.label, gateway: backend.gateway === true };
}

function factsOf(endpoint: Endpoint, known: RecognizeOptions): Facts {
  const { list, refused } = known;
  const url = new URL(endpoint.baseUrl);
  return {
    port: Number(url.port) || (url.protocol === "https:" ? 443 : 80),
    headers: list?.headers ?? refused?.headers ?? new Map(),
    owners: new Set(list?.models.flatMap((model) => model.owner === null ? [] : [model.owner.toLowerCase()])),
    entries: list === null ? [] : rawEntries(list.body),
    body: list?.body ?? refused?.json,
    refused: refused?.status ?? null,
    text: refused?.text ?? "",
  };
}

function isShown(backend: Backend, facts: Facts): boolean {
  return backend.owners?.some((owner) => facts.owners.has(owner)) === true || backend.shows?.(facts) === true;
}

/** The servers worth a question: those of the port first, then those that the facts speak for. */
function suspects(facts: Facts): Backend[] {
  const usual = BACKENDS.filter((backend) => backend.probe !== undefined && backend.ports.includes(facts.port));
  const further = BACKENDS.filter((backend) => !usual.includes(backend) && backend.probe?.suspected?.(facts) === true);
  return [...usual, ...further].slice(0, PROBE_COUNT);
}

async function proven(
  client: HttpClient,
  endpoint: Endpoint,
  probe: { backend: Backend; options: RecognizeOptions },
): Promise<Backend | null> {
  const { backend, options } = probe;
  if (backend.probe === undefined) return null;
  try {
    const answer = await fetchJson(client, endpoint, {
      path: backend.probe.path,
      atOrigin: true,
      withoutKey: true,
      limitBytes: PROBE_LIMIT,
      timeoutMs: options.timeoutMs,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    return backend.probe.proves(answer) ? backend : null;
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof AgentcliError)) throw error;
    return null;
  }
}
