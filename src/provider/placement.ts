/**
 * Whether a model behind a local address runs there. A loopback address may pass requests on: Ollama's cloud models, and
 * gateways. Source: specification of the boundary §3, threats 87 and 88.
 */
import { AgentcliError } from "../errors.ts";
import { ask, fieldsOf, membersOf } from "./ask.ts";
import type { HttpDoor } from "./http.ts";
import { askForModels } from "./models.ts";
import type { Endpoint } from "./types.ts";

/** Longest wait for all questions together, in milliseconds. */
const ASK_MS = 2_000;
/** How long a verdict holds, in milliseconds: that a server was started anew cannot be seen from here. */
const VERDICT_MS = 60_000;
/** Bytes of a model's description; templates and licences are in it. */
const SHOW_LIMIT = 8 * 1024 * 1024;

/** Headers that services on the net add, and no server of one's own: a gateway without a name of its own hands them on. */
const SERVICE_HEADERS =
  /^(?:cf-ray|openai-(?:organization|processing-ms|version)|x-openrouter-|anthropic-|x-groq-|x-goog-|x-amzn-|apim-request-id|x-ms-region|x-fireworks-|x-together-|(?:x-)?helicone-|x-vercel-|(?:x-)?mistral-|x-kong-|x-cloud-trace-context)/;

/** Where a model runs, as far as can be seen. `doubt` is for people: something odd that decides nothing. */
export type Placement =
  | { kind: "here"; doubt?: string }
  /** `reason` is a clause for messages: "gpt-oss:120b-cloud is a cloud model of Ollama". */
  | { kind: "elsewhere"; reason: string };

/** What is asked about. */
export interface PlacedModel {
  endpoint: Endpoint;
  /** As the server knows it. */
  model: string;
  /** The provider entry says `local: true`: the user's word for a gateway. */
  trusted: boolean;
}

/** Verdicts of one session. */
export interface Placements {
  /**
   * Where the model runs; asked anew after a minute or after {@link forget}. By the address alone where the server does
   * not tell. Never throws but for the signal's reason.
   */
  of(placed: PlacedModel, signal?: AbortSignal): Promise<Placement>;
  /** Call it when a connection to that address failed: another server may answer next. */
  forget(baseUrl: string): void;
}

/**
 * Whether a model's name says that Ollama runs it in its cloud: `x:cloud`, `x:120b-cloud`, `x-cloud:latest`, each also
 * with a digest behind it, in any case.
 */
export function namesCloudModel(model: string): boolean {
  return /[:-]cloud(?::latest)?(?:@.*)?$/i.test(model.trim());
}

/** Opens the book of verdicts. */
export function openPlacements(door: HttpDoor, clock: { monotonic(): number }): Placements {
  const known = new Map<string, { verdict: Placement; until: number; baseUrl: string }>();
  return {
    async of(placed, signal) {
      const { endpoint, model, trusted } = placed;
      if (!endpoint.local) return { kind: "elsewhere", reason: `the address of ${endpoint.provider} is not local` };
      if (namesCloudModel(model)) return { kind: "elsewhere", reason: `${model} is a cloud model by its name` };
      const name = JSON.stringify([endpoint.baseUrl, model, trusted]);
      const before = known.get(name);
      if (before !== undefined && before.until > clock.monotonic()) return before.verdict;
      const verdict = await find(door, placed, signal);
      known.set(name, { verdict, until: clock.monotonic() + VERDICT_MS, baseUrl: endpoint.baseUrl });
      return verdict;
    },
    forget(baseUrl) {
      for (const [name, entry] of known) if (entry.baseUrl === baseUrl) known.delete(name);
    },
  };
}

async function find(door: HttpDoor, placed: PlacedModel, signal: AbortSignal | undefined): Promise<Placement> {
  const limits = { timeoutMs: ASK_MS, ...(signal === undefined ? {} : { signal }) };
  const [shown, served] = await Promise.all([
    asked(() => remoteOrigin(door, placed, limits), signal).then((found) =>
      found === "untold" || found === null ? asked(() => remoteTag(door, placed, limits), signal) : found
    ),
    placed.trusted ? null : asked(() => gateway(door, placed, limits), signal),
  ]);
  return shown?.kind === "elsewhere" ? shown : served ?? { kind: "here" };
}

/** Null for every failure of a server; only the signal's reason is thrown. */
async function asked<T>(work: () => Promise<T>, signal: AbortSignal | undefined): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    if (signal?.aborted || !(error instanceof AgentcliError)) throw error;
    return null;
  }
}

interface Limits {
  timeoutMs: number;
  signal?: AbortSignal;
}

/**
 * What Ollama says of a model that is a name for one elsewhere; `untold` for anything but a description. Other servers do
 * not know the question.
 */
async function remoteOrigin(
  door: HttpDoor,
  { endpoint, model }: PlacedModel,
  limits: Limits,
): Promise<Placement | "untold"> {
  const answer = await ask(door, endpoint, {
    path: "/api/show",
    atOrigin: true,
    body: JSON.stringify({ model }),
    limitBytes: SHOW_LIMIT,
    ...limits,
  });
  const fields = fieldsOf(answer.json);
  if (namesRemote(fields)) return runElsewhere(model);
  return "details" in fields || "model_info" in fields ? { kind: "here" } : "untold";
}

/** Ollama's list says it too: asked where the description failed, or was too long to be read. */
async function remoteTag(door: HttpDoor, { endpoint, model }: PlacedModel, limits: Limits): Promise<Placement | null> {
  const answer = await ask(door, endpoint, { path: "/api/tags", atOrigin: true, limitBytes: SHOW_LIMIT, ...limits });
  const wanted = tagOf(model);
  const entry = membersOf(fieldsOf(answer.json)["models"]).map(fieldsOf)
    .find((fields) =>
      [fields["name"], fields["model"]].some((name) => typeof name === "string" && tagOf(name) === wanted)
    );
  return entry !== undefined && namesRemote(entry) ? runElsewhere(model) : null;
}

/** The name as Ollama completes it. */
function tagOf(model: string): string {
  const name = model.trim().toLowerCase();
  return /:[^/]*$/.test(name) ? name : `${name}:latest`;
}

function namesRemote(fields: Record<string, unknown>): boolean {
  return [fields["remote_host"], fields["remote_model"]].some((value) => typeof value === "string" && value !== "");
}

function runElsewhere(model: string): Placement {
  return { kind: "elsewhere", reason: `${model} stands for a model that Ollama runs elsewhere` };
}

async function gateway(door: HttpDoor, { endpoint }: PlacedModel, limits: Limits): Promise<Placement | null> {
  const answer = await askForModels(door, endpoint, limits);
  const list = answer.kind === "list" ? answer.list : null;
  const refused = answer.kind === "refused" ? { refused: answer.answer } : {};
  const headers = answer.kind === "list" ? answer.list.headers : answer.answer.headers;
  const { recognise } = await import("./recognise.ts");
  const server = await recognise(door, endpoint, { list, ...refused, ...limits });
  const unless = `; write \`local: true\` for ${endpoint.provider} if all of its models run on machines of yours`;
  if (server?.gateway) {
    return { kind: "elsewhere", reason: `${server.label} passes requests on to other servers${unless}` };
  }
  if ([...headers.keys()].some((name) => SERVICE_HEADERS.test(name))) {
    return { kind: "elsewhere", reason: `the server answers with headers of a service on the net${unless}` };
  }
  return headers.has("via") ? { kind: "here", doubt: "a proxy stands before the server (header via)" } : null;
}

/**
 * Before protected content goes to a model: throws `policy_refused` with the reason when it runs elsewhere. `what` names
 * what would be sent: `.env (.agentclisecret:1 no-cloud: .env)`.
 */
export function requireHere(placement: Placement, { provider, what }: { provider: string; what: string }): void {
  if (placement.kind === "here") return;
  throw new AgentcliError(
    "policy_refused",
    `"${provider}" does not count as local: ${placement.reason}; ${what} stays here`,
    {
      hint: "choose a model that runs on this machine",
    },
  );
}
