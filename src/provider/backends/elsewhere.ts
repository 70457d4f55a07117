/**
 * The signs that an answer comes from elsewhere: of probes and of responses alike, from servers whose address is local.
 */
import type { ReceivedHeaders } from "../http/headers.ts";

/** An answer, or what has arrived of it. */
export interface Answer {
  headers?: ReceivedHeaders;
  /** Of its JSON. */
  fields?: Readonly<Record<string, unknown>>;
}

export interface Sign {
  /** A clause for messages. */
  reason: string;
  /** It says where the server is, not where the model is: `local: true` outweighs it. */
  ofServer: boolean;
}

/** The gateways that add headers, and how these begin. */
export const GATEWAY_HEADERS = {
  "LiteLLM": "x-litellm-",
  "Portkey": "x-portkey-",
  "One API": "x-oneapi-",
  "New API": "x-new-api-",
} as const;

/** Headers that hosted services add and a private server does not; an unnamed gateway passes them on. */
const SERVICE_HEADERS =
  /^(?:cf-ray|openai-(?:organization|processing-ms|version)|x-openrouter-|anthropic-|x-groq-|x-goog-|x-amzn-|apim-request-id|x-ms-region|x-fireworks-|x-together-|(?:x-)?helicone-|x-vercel-|(?:x-)?mistral-|x-kong-|x-cloud-trace-context)/;

/** Names that such services give themselves in the header `server`. */
const SERVICES = /cloudflare|openrouter|vercel|awselb|google frontend/;

/** Returns whether a sign counts for a model: the user's word outweighs one of the server. */
export function countsFor({ trusted }: { trusted: boolean }, sign: Sign | null): sign is Sign {
  return sign !== null && !(trusted && sign.ofServer);
}

/** Returns the reason with what the user can do about it. */
export function reasonFor({ endpoint }: { endpoint: { provider: string } }, { reason, ofServer }: Sign): string {
  return ofServer ? `${reason}${unlessTrusted(endpoint)}` : reason;
}

/** Returns the end of a message that says when the user may override this. */
export function unlessTrusted({ provider }: { provider: string }): string {
  return `; write \`local: true\` for ${provider} if all of its models run on machines of yours`;
}

/** Returns what says that an answer comes from elsewhere; null where nothing does. */
export function signOfElsewhere({ headers, fields }: Answer): Sign | null {
  const { model } = fields ?? {};
  if (typeof model === "string" && namesCloudModel(model)) {
    // Not its words: in a response a server can make them up.
    return { reason: "the model is a cloud model by its name", ofServer: false };
  }
  if ([fields?.["remote_host"], fields?.["remote_model"]].some((value) => typeof value === "string" && value !== "")) {
    return { reason: "the model stands for one that Ollama runs elsewhere", ofServer: false };
  }
  const names = [...headers?.keys() ?? []];
  const server = headers?.get("server")?.toLowerCase() ?? "";
  const gateway = Object.entries(GATEWAY_HEADERS).find(([label, prefix]) =>
    names.some((name) => name.startsWith(prefix)) || server.startsWith(label.toLowerCase())
  );
  if (gateway !== undefined) return { reason: `${gateway[0]} passes requests on to other servers`, ofServer: true };
  if (SERVICES.test(server) || names.some((name) => SERVICE_HEADERS.test(name))) {
    return { reason: "the server answers with headers of a hosted service", ofServer: true };
  }
  return null;
}

/**
 * Returns whether a model's name says that Ollama runs it in its cloud: `x:cloud`, `x:120b-cloud`, `x-cloud:latest`,
 * each also with a digest after it, in any case.
 */
export function namesCloudModel(model: string): boolean {
  return /[:-]cloud(?::latest)?(?:@.*)?$/i.test(model.trim());
}
