/** Recognizes the server at an address: from its model list first, then by at most two further requests. */
import { fetchJson, type Limits, orNull } from "../http/fetch_json.ts";
import { effectivePort } from "../http/route.ts";
import type { Backend, Facts, Probe } from "./backend.ts";
import { BACKENDS } from "./backends.ts";
import type { HttpClient } from "../http/client.ts";
import { type ModelListResponse, rawEntries } from "./model_list.ts";
import type { Endpoint } from "../types.ts";

/** Questions beyond the list. */
const PROBE_COUNT = 2;
/** Bytes of their answers. */
const PROBE_LIMIT = 64 * 1024;

export interface Recognized {
  /** `ollama`, `llama.cpp`, `lmstudio`, `vllm`, …: the id of a backend. */
  server: string;
  /** For people. */
  label: string;
  /** It passes requests on to servers elsewhere, whatever its address. */
  gateway: boolean;
}

/**
 * The server behind an endpoint, or null when nothing proves one. The list, its headers, or its refusal decide where
 * they can; else one or two endpoints of the likely servers are requested, without the key, none of which loads a model.
 * Unreachable, slow and unreadable answers are no proof and no error; only the signal's reason is thrown.
 */
export async function recognize(
  client: HttpClient,
  endpoint: Endpoint,
  { answer, ...limits }: Limits & { answer: ModelListResponse | null },
): Promise<Recognized | null> {
  const facts = factsOf(endpoint, answer);
  const shown = BACKENDS.find(({ owners, shows }) =>
    owners?.some((owner) => facts.owners.has(owner)) === true || shows?.(facts) === true
  );
  if (shown !== undefined) return recognized(shown);
  // Hosts on the open net are services, not one of these servers: no further request.
  if (endpoint.baseUrl.startsWith("https:") && !endpoint.local) return null;
  const proofs = await Promise.all(
    suspects(facts).map(async (backend) => {
      const request = {
        path: backend.probe.path,
        atOrigin: true,
        withoutKey: true,
        limitBytes: PROBE_LIMIT,
        ...limits,
      };
      const proof = await orNull(fetchJson(client, endpoint, request), limits.signal);
      return proof !== null && backend.probe.proves(proof) ? recognized(backend) : null;
    }),
  );
  return proofs.find((proof) => proof !== null) ?? null;
}

function recognized(backend: Backend): Recognized {
  return { server: backend.id, label: backend.label, gateway: backend.gateway === true };
}

function factsOf(endpoint: Endpoint, answer: ModelListResponse | null): Facts {
  const models = answer?.kind === "list" ? answer.models : [];
  return {
    port: Number(effectivePort(new URL(endpoint.baseUrl))),
    headers: answer?.headers ?? new Map(),
    owners: new Set(models.flatMap(({ owner }) => owner === null ? [] : [owner.toLowerCase()])),
    entries: answer?.kind === "list" ? rawEntries(answer.json) : [],
    body: answer?.json,
    refused: answer?.kind === "refused" ? answer.status : null,
    text: answer?.text ?? "",
  };
}

type ProbedBackend = Backend & { probe: Probe };

/** The servers worth a question: those of the port first, then those that the facts speak for. */
function suspects(facts: Facts): ProbedBackend[] {
  const probed = BACKENDS.filter((backend): backend is ProbedBackend => backend.probe !== undefined);
  const usual = probed.filter(({ ports }) => ports.includes(facts.port));
  const further = probed.filter((backend) => !usual.includes(backend) && backend.probe.suspected?.(facts) === true);
  return [...usual, ...further].slice(0, PROBE_COUNT);
}
