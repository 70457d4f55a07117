/**
 * Determines where a model runs. A loopback address proves nothing by itself: Ollama passes cloud models on, and a
 * gateway passes everything on. Source: specification of the boundary, second design §2, and threats 87, 88, R8.
 */
import { fetchJson, type JsonResponse, type Limits, orNull } from "../http/fetch_json.ts";
import type { HttpClient } from "../http/client.ts";
import type { LocalityFetch, ModelLocality } from "./backend.ts";
import { BACKENDS } from "./backends.ts";
import { inquire } from "./inquiry.ts";
import { listFrom } from "./model_list.ts";
import { countsFor, reasonFor, signOfElsewhere, unlessTrusted } from "./elsewhere.ts";
import type { LocatedModel } from "./localities.ts";
import { fieldsOf } from "../../platform/record.ts";
import type { Endpoint } from "../types.ts";

/** Longest wait for all questions together, in milliseconds. */
const REQUEST_MS = 5_000;
/** Bytes of a model's description; templates and licenses are in it. */
const SHOW_LIMIT = 8 * 1024 * 1024;

/** Returns where the model of a local address runs. Throws only the signal's reason. */
export async function locate(
  client: HttpClient,
  located: LocatedModel,
  signal: AbortSignal | undefined,
): Promise<ModelLocality> {
  const { endpoint, model, trusted } = located;
  const limits = { timeoutMs: REQUEST_MS, limitBytes: SHOW_LIMIT, signal };
  let isThere = false;
  const signs: string[] = [];
  const get = async (path: string, more: { atOrigin?: boolean; body?: string } = {}) => {
    const answer = await orNull(fetchJson(client, endpoint, { path, ...more, ...limits }), signal);
    isThere ||= answer !== null;
    const sign = answer === null ? null : signOfElsewhere({ headers: answer.headers, fields: fieldsOf(answer.json) });
    if (countsFor(located, sign)) signs.push(reasonFor(located, sign));
    // A failure of the server is no answer.
    return answer !== null && answer.status < 500 ? answer : null;
  };
  const question: LocalityFetch = (path, more) => get(path, { ...more, atOrigin: true });
  const [listed, ...words] = await Promise.all([
    get("/models"),
    ...BACKENDS.map(({ locality }) => locality === undefined ? HERE : locality(question, model)),
  ]);
  if (signs[0] !== undefined) return { kind: "remote", reason: signs[0] };
  const localities = [...words, trusted ? HERE : await gateway(listed, { client, endpoint, limits })];
  const remote = localities.find((one) => one?.kind === "remote") ?? null;
  if (remote !== null) return remote;
  if (localities.every((one) => one !== null)) {
    return localities.find((one) => one?.kind === "here" && one.doubt !== undefined) ?? HERE;
  }
  // The user's word counts for a server that does not say.
  if (trusted) return HERE;
  const reason = isThere
    ? `the server of ${endpoint.provider} did not say in time where ${model} runs${unlessTrusted(endpoint)}`
    : `its server did not answer when it was asked where ${model} runs`;
  return { kind: "remote", reason, inDoubt: true };
}

const HERE: ModelLocality = { kind: "here" };

/** Returns whether a gateway shows otherwise than by headers: in its list, or in an answer that only it gives. */
async function gateway(
  answer: JsonResponse | null,
  { client, endpoint, limits }: { client: HttpClient; endpoint: Endpoint; limits: Limits },
): Promise<ModelLocality | null> {
  if (answer === null) return null;
  const list = await orNull(Promise.try(() => listFrom(answer)), limits.signal);
  // Anything but a list counts as a refusal, whatever its status.
  const inquiry = inquire(client, endpoint, { answer: list ?? { ...answer, kind: "refused" }, limits });
  const server = await inquiry.recognize();
  if (server?.gateway) {
    return { kind: "remote", reason: `${server.label} passes requests on to other servers${unlessTrusted(endpoint)}` };
  }
  return answer.headers.has("via") ? { kind: "here", doubt: "a proxy stands before the server (header via)" } : HERE;
}
