/**
 * Determines where a model runs. A loopback address proves nothing by itself: Ollama passes cloud models on, and a
 * gateway passes everything on. Source: specification of the boundary, second design §2, and threats 87, 88, R8.
 */
import { AgentcliError } from "../../errors.ts";
import { fetchJson, type JsonResponse, type Limits, orNull } from "../http/fetch_json.ts";
import type { HttpClient } from "../http/client.ts";
import type { LocalityFetch, ModelLocality } from "./backend.ts";
import type { ModelListResponse } from "./model_list.ts";
import type { LocatedModel } from "./locality_cache.ts";
import { namesCloudModel } from "./ollama.ts";
import type { Endpoint } from "../types.ts";

/** Longest wait for all questions together, in milliseconds. */
const REQUEST_MS = 5_000;
/** Bytes of a model's description; templates and licenses are in it. */
const SHOW_LIMIT = 8 * 1024 * 1024;

/** Headers that hosted services add and a server of one's own does not; an unnamed gateway passes them on. */
const SERVICE_HEADERS =
  /^(?:cf-ray|openai-(?:organization|processing-ms|version)|x-openrouter-|anthropic-|x-groq-|x-goog-|x-amzn-|apim-request-id|x-ms-region|x-fireworks-|x-together-|(?:x-)?helicone-|x-vercel-|(?:x-)?mistral-|x-kong-|x-cloud-trace-context)/;

/** Returns where the model of a local address runs, and whether the server said so. Throws only the signal's reason. */
export async function locate(
  client: HttpClient,
  located: LocatedModel,
  signal: AbortSignal | undefined,
): Promise<{ locality: ModelLocality; certain: boolean }> {
  const { endpoint, model, trusted } = located;
  if (namesCloudModel(model)) {
    return { locality: { kind: "remote", reason: `${model} is a cloud model by its name` }, certain: true };
  }
  const limits = { timeoutMs: REQUEST_MS, limitBytes: SHOW_LIMIT, signal };
  let isThere = false;
  const get = async (path: string, more: { atOrigin?: boolean; body?: string } = {}) => {
    const answer = await orNull(fetchJson(client, endpoint, { path, ...more, ...limits }), signal);
    isThere ||= answer !== null;
    // A failure of the server is no answer.
    return answer !== null && answer.status < 500 ? answer : null;
  };
  const fetchEach = async () => {
    const { BACKENDS } = await import("./backends.ts");
    const question: LocalityFetch = (path, more) => get(path, { ...more, atOrigin: true });
    return await Promise.all(
      BACKENDS.flatMap(({ locality }) => locality === undefined ? [] : [locality(question, model)]),
    );
  };
  const [words, listed] = await Promise.all([fetchEach(), get("/models")]);
  const localities = [...words, trusted ? HERE : await gateway(listed, { client, endpoint, limits })];
  const remote = localities.find((one) => one?.kind === "remote");
  if (remote !== undefined) return { locality: remote ?? HERE, certain: true };
  if (localities.every((one) => one !== null)) {
    const doubtful = localities.find((one) => one?.kind === "here" && one.doubt !== undefined);
    return { locality: doubtful ?? HERE, certain: true };
  }
  // The user's word stands for a server that cannot tell.
  if (trusted) return { locality: HERE, certain: false };
  const reason = isThere
    ? `the server of ${endpoint.provider} did not say in time where ${model} runs${unlessTrusted(endpoint)}`
    : `its server did not answer when it was asked where ${model} runs`;
  return { locality: { kind: "remote", reason }, certain: false };
}

const HERE: ModelLocality = { kind: "here" };

function unlessTrusted({ provider }: Endpoint): string {
  return `; write \`local: true\` for ${provider} if all of its models run on machines of yours`;
}

async function gateway(
  answer: JsonResponse | null,
  { client, endpoint, limits }: { client: HttpClient; endpoint: Endpoint; limits: Limits },
): Promise<ModelLocality | null> {
  if (answer === null) return null;
  const { recognize } = await import("./recognize.ts");
  const server = await recognize(client, endpoint, { answer: await listIn(answer), ...limits });
  if (server?.gateway) {
    return { kind: "remote", reason: `${server.label} passes requests on to other servers${unlessTrusted(endpoint)}` };
  }
  if ([...answer.headers.keys()].some((name) => SERVICE_HEADERS.test(name))) {
    return { kind: "remote", reason: `the server answers with headers of a hosted service${unlessTrusted(endpoint)}` };
  }
  return answer.headers.has("via") ? { kind: "here", doubt: "a proxy stands before the server (header via)" } : HERE;
}

/** Returns the list; what is none counts as a refusal, whatever its status. */
async function listIn(answer: JsonResponse): Promise<ModelListResponse> {
  const { readModelList } = await import("./model_list.ts");
  try {
    if (answer.status === 200) return { ...answer, kind: "list", models: readModelList(answer.json) };
  } catch (error) {
    if (!(error instanceof AgentcliError)) throw error;
  }
  return { ...answer, kind: "refused" };
}
