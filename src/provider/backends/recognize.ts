/** Which server answers at an address: from its list first, then by at most two questions of its own. */
import { AgentcliError } from "../../errors.ts";
import { fetchJson, type JsonResponse } from "../http/fetch_json.ts";
import { type Facts, type Fingerprint, FINGERPRINTS } from "./fingerprints.ts";
import type { HttpClient } from "../http/client.ts";
import { type ModelList, rawEntries } from "./model_list.ts";
import type { Endpoint } from "../types.ts";

/** Questions beyond the list. */
const PROBE_COUNT = 2;
/** Bytes of their answers. */
const PROBE_LIMIT = 64 * 1024;

/** A server by name. */
export interface Recognized {
  /** `ollama`, `llama.cpp`, `lmstudio`, `vllm`, …: a row of the table of fingerprints. */
  server: string;
  /** For people. */
  label: string;
  /** It passes requests on to servers elsewhere, whatever its address. */
  gateway: boolean;
}

/** What is known already, and what limits the asking. */
export interface RecognizeOptions {
  /** Null where there is none. */
  list: ModelList | null;
  timeoutMs: number;
  signal?: AbortSignal;
  /** The answer that refused the list. */
  refused?: JsonResponse;
}

/**
 * The server behind an endpoint, or null when nothing proves one. The list, its headers, or its refusal decide where they
 * can; else one or two endpoints of the likely servers are asked, without the key, none of which loads a model.
 * Unreachable, slow and unreadable answers are no proof and no error; only the signal's reason is thrown.
 */
export async function recognize(
  client: HttpClient,
  endpoint: Endpoint,
  options: RecognizeOptions,
): Promise<Recognized | null> {
  const facts = factsOf(endpoint, options);
  const shown = FINGERPRINTS.find((row) => isShown(row, facts));
  if (shown !== undefined) return recognized(shown);
  // Hosts on the open net are services, not one of these servers: nothing to ask them.
  if (endpoint.baseUrl.startsWith("https:") && !endpoint.local) return null;
  const proofs = await Promise.all(
    suspects(facts).map(async (row) => await proven(client, endpoint, { row, options })),
  );
  const proof = proofs.find((row) => row !== null);
  return proof === undefined || proof === null ? null : recognized(proof);
}

function recognized(row: Fingerprint): Recognized {
  return { server: row.server, label: row.label, gateway: row.gateway === true };
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

function isShown(row: Fingerprint, facts: Facts): boolean {
  return row.owners?.some((owner) => facts.owners.has(owner)) === true || row.shows?.(facts) === true;
}

/** The servers worth a question: those of the port first, then those that the facts speak for. */
function suspects(facts: Facts): Fingerprint[] {
  const usual = FINGERPRINTS.filter((row) => row.probe !== undefined && row.ports.includes(facts.port));
  const further = FINGERPRINTS.filter((row) => !usual.includes(row) && row.probe?.suspected?.(facts) === true);
  return [...usual, ...further].slice(0, PROBE_COUNT);
}

async function proven(
  client: HttpClient,
  endpoint: Endpoint,
  asked: { row: Fingerprint; options: RecognizeOptions },
): Promise<Fingerprint | null> {
  const { row, options } = asked;
  if (row.probe === undefined) return null;
  try {
    const answer = await fetchJson(client, endpoint, {
      path: row.probe.path,
      atOrigin: true,
      withoutKey: true,
      limitBytes: PROBE_LIMIT,
      timeoutMs: options.timeoutMs,
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
    return row.probe.proves(answer) ? row : null;
  } catch (error) {
    if (options.signal?.aborted || !(error instanceof AgentcliError)) throw error;
    return null;
  }
}
