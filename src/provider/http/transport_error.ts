/** Turns a failed connection into our own words: the runtime's text holds addresses, and headers at worst. */
import { isLocal } from "../../boundary/policy/locality.ts";
import { AgentcliError } from "../../errors.ts";
import { isMissingPermission } from "../../platform/runtime.ts";
import { type FailureFacts, type FailureKind, ProviderFailure } from "../failure.ts";
import type { ReceivedHeaders } from "./headers.ts";
import { providerLabel } from "../../config/base_url.ts";

export interface Attempt {
  provider: string;
  /** Without query. */
  url: string;
  /** The address to try by hand. */
  modelsUrl: string;
  /** Host and port that are connected to. */
  host: string;
}

const NO_TLS = "the server does not speak TLS";
const NO_TLS_HINT = "does the server speak https? if not, write base_url with http://";

const startServer = (attempt: Attempt) => `is the server running? try: curl ${attempt.modelsUrl}`;
const network = (attempt: Attempt) =>
  isLocal(attempt.modelsUrl, [])
    ? "this machine does not reach itself: is the loopback interface up?"
    : "check the address, the network and the VPN";

/** In this order. The texts are those of Deno 2.9.6; error numbers cover Linux, macOS and Windows. */
const RULES: readonly (readonly [
  kind: FailureKind,
  message: string,
  hint: string | ((attempt: Attempt) => string),
  when: RegExp,
])[] = [
  [
    "unreachable",
    "the runtime does not connect to that port",
    "run the server on another port: this one is on the list that web clients never use",
    /Requests to port \d+ are blocked/i,
  ],
  ["refused", "connection refused", startServer, /connection refused|os error (?:111|61|10061)\b/i],
  [
    "unreachable",
    "the host name cannot be resolved",
    network,
    /dns error|lookup address|name or service not known|no such host/i,
  ],
  ["unreachable", NO_TLS, NO_TLS_HINT, /corrupt message|tls handshake|InvalidContentType/i],
  [
    "unreachable",
    "the server there does not speak HTTP",
    "check host and port of base_url; if the server speaks TLS, write base_url with https://",
    /invalid HTTP (?:version|header|status|body)/i,
  ],
  [
    "unreachable",
    "its response has a compression that was not requested",
    "switch compression off in the server, or in the proxy in front of it",
    /unknown content coding/i,
  ],
  [
    "unreachable",
    "its certificate is not trusted",
    "name its certificate authority with ca_file in providers.yaml",
    /certificate|UnknownIssuer|NotValidForName/i,
  ],
  ["unreachable", "the proxy did not let it through", "check HTTPS_PROXY and NO_PROXY", /tunnel|socks/i],
  [
    "lost",
    "the server closed the connection",
    "look at the server's log, then try again",
    /before message completed|error reading a body|reset by peer|broken pipe|close_notify|os error (?:104|54|10054|32|10053)\b|unexpected end|incomplete/i,
  ],
  [
    "unreachable",
    "no route to that host",
    network,
    /unreachable|no route|timed out|cannot assign|os error (?:101|113|51|65|99|49|110|60|10060|10065|10049)\b/i,
  ],
];

/** The failure for what a connection attempt threw. */
export function transportFailure(error: unknown, attempt: Attempt): AgentcliError {
  if (isMissingPermission(error)) {
    return new AgentcliError("permission_denied", `this process may not connect to ${attempt.host}`, {
      hint: `run with --allow-net=${attempt.host}`,
    });
  }
  const text = reasonText(error);
  const rule = RULES.find(([, , , when]) => when.test(text));
  const [kind, message, hint] = rule ?? ["unreachable" as const, "the request failed", startServer];
  return cannotReach(attempt, message, { kind, hint: typeof hint === "string" ? hint : hint(attempt) });
}

/** The part of the runtime's message after the URL, which could match a rule by accident. */
function reasonText(error: unknown): string {
  if (!(error instanceof Error)) return "";
  const text = error.cause instanceof Error ? error.cause.message : error.message;
  const start = text.indexOf("client error (");
  return start < 0 ? text : text.slice(start);
}

/** The failure of a server that took the request and sent no answer in time. */
export function headersTimeout(attempt: Attempt, milliseconds: number): ProviderFailure {
  const { provider, url } = attempt;
  const message = `${providerLabel(provider)} at ${url} sent no response headers within ${seconds(milliseconds)}`;
  const hint = "is the model still being loaded? the limit is timeout.first_byte_s in providers.yaml";
  return new ProviderFailure("provider_timeout", message, { kind: "timeout", hint });
}

/** The failure of an https address where nothing answers a TLS greeting. */
export function noTls(attempt: Attempt): ProviderFailure {
  return cannotReach(attempt, NO_TLS, { kind: "unreachable", hint: NO_TLS_HINT });
}

/** The failure of an address that does not answer. */
export function noConnection(attempt: Attempt, milliseconds: number): ProviderFailure {
  const hint = `check the address and the network; try: curl ${attempt.modelsUrl}`;
  return cannotReach(attempt, `no response within ${seconds(milliseconds)}`, { kind: "unreachable", hint });
}

function cannotReach({ provider, url }: Attempt, why: string, facts: FailureFacts): ProviderFailure {
  const code = facts.kind === "lost" ? "connection_lost" : "provider_unreachable";
  return new ProviderFailure(code, `cannot reach ${providerLabel(provider)} at ${url}: ${why}`, facts);
}

function seconds(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${Math.round(milliseconds / 100) / 10} s`;
}

/**
 * The failure of a redirect: following one would carry the prompt to a host that nobody configured. Where it leads is
 * shown only as far as it is no choice of words: a server can put whatever it was sent into an address.
 */
export function redirectFailure(
  provider: string,
  response: { status: number; headers: ReceivedHeaders; url: URL },
): ProviderFailure {
  const location = response.headers.get("location");
  const target = location === undefined ? null : URL.parse(location, response.url);
  const what = `answered HTTP ${response.status}, a redirect${leadingTo(target, response.url)}`;
  return new ProviderFailure("provider_error", `${providerLabel(provider)} ${what}; redirects are refused`, {
    kind: "request",
    status: response.status,
    hint: "set the final address as base_url; curl -i shows it",
  });
}

function leadingTo(target: URL | null, requested: URL): string {
  if (target === null || !/^https?:$/.test(target.protocol)) return "";
  if (target.hostname !== requested.hostname) return " to another host";
  if (target.protocol !== requested.protocol) return ` to ${target.protocol.slice(0, -1)}`;
  return target.port === requested.port ? " to another path" : " to another port";
}
