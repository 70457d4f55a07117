/** Checks each provider (validation, what listens at its address, where its models run), and the MCP servers, without starting one. */
import { endpointForCheck } from "../../config/endpoint.ts";
import type { Configuration, ProviderEntry } from "../../config/types.ts";
import { AgentcliError } from "../../errors.ts";
import type { HttpClient } from "../../provider/http/client.ts";
import { createLocalities } from "../../provider/backends/localities.ts";
import { checkProvider, type ProviderCheck } from "../providers/check.ts";
import { localityOf } from "../secrets/context.ts";
import type { Context } from "../command.ts";
import { type Check, check, type CheckState, worst } from "./checks.ts";
import { listenerOn } from "../../platform/listener.ts";
import { providerLabel } from "../../config/base_url.ts";
import { exposeTools } from "../../mcp/exposure.ts";
import { grouped } from "../../platform/number.ts";
import { openProjectServers } from "../../runtime/mcp_servers.ts";
import { hostOf } from "../output.ts";

/** Longest wait for one answer of a server, in milliseconds. */
const TIMEOUT_MS = 3_000;
const PROVIDER_LIMIT = 50;
/** Models of one provider whose place is asked for. */
const MODEL_LIMIT = 5;

/** The line of all providers, and one of each, in the order of the file. */
export async function checkProviders(
  configuration: Configuration,
  context: Context,
  { client }: { client: HttpClient },
): Promise<Check[]> {
  const { providers } = configuration;
  const hint = "agentcli init-providers finds servers that run on this machine";
  if (providers.length === 0) return [check("providers", "no provider is configured", { hint })];
  const isLocal = await localityOf(context);
  const checks = await Promise.all(
    providers.slice(0, PROVIDER_LIMIT).map((provider) => checkOne(provider, context, { client, isLocal })),
  );
  const setUp = checks.filter((check) => check.facts?.["set_up"] === true);
  if (setUp.length === 0) return [check("providers", "no provider is set up", { hint }), ...checks];
  const reachable = setUp.filter((check) => check.facts?.["reachable"] === true).length;
  const unusable = setUp.filter((check) => check.facts?.["reachable"] === true && check.state === "fail").length;
  const refused = unusable === 0 ? "" : `; ${unusable} of these cannot be used`;
  const left = providers.length > PROVIDER_LIMIT ? `; only the first ${PROVIDER_LIMIT} were looked at` : "";
  const state = worst(checks.map((check) => check.state));
  const advice = state === "ok" ? undefined : "agentcli providers validate";
  const message = `${reachable} of ${setUp.length} answer${refused}${left}`;
  return [check("providers", message, { hint: advice, state }), ...checks];
}

async function checkOne(
  provider: ProviderEntry,
  { io }: Context,
  { client, isLocal }: { client: HttpClient; isLocal(baseUrl: string): boolean },
): Promise<Check> {
  const found = await checkProvider(provider, { client, env: io.env, isLocal, stores: io, timeoutMs: TIMEOUT_MS });
  const listening = found.baseUrl === null ? null : await listeningAt(found.baseUrl);
  const warnings = found.lines.filter(({ kind }) => kind === "warn").map(({ text }) => text);
  if (found.reachable && found.local && !warnings.some((text) => text.includes("counts as remote"))) {
    warnings.push(...await elsewhere(provider, { io }, { client, check: found }));
  }
  if (listening?.forwards) warnings.push(`${listening.text} listens there: the model may run on another machine`);
  const errors = found.lines.filter(({ kind }) => kind === "error").map(({ text }) => text);
  const state: CheckState = found.state === "error" ? "fail" : warnings.length > 0 ? "warn" : "ok";
  const tries = found.lines.filter(({ kind }) => kind === "try").map(({ text }) => text);
  const hint = tries[0] ?? `agentcli providers validate ${provider.name}`;
  const message = [...errors, ...warnings, ...describe(found, listening)].join("; ");
  return check("provider", `${providerLabel(provider.name)}: ${message}`, {
    hint: state === "ok" ? undefined : hint,
    state,
    facts: {
      name: provider.name,
      set_up: found.state !== "skipped",
      base_url: found.baseUrl,
      local: found.local,
      reachable: found.reachable,
      server: found.server,
      key_source: found.keySource,
      listener: listening === null ? null : { pid: listening.pid, program: listening.program },
    },
  });
}

function describe(check: ProviderCheck, listening: Listening | null): string[] {
  if (check.state === "skipped") return check.lines.map(({ text }) => `not set up (${text})`);
  if (!check.reachable) return [];
  return [
    `reachable (${check.baseUrl})`,
    check.local ? "local" : "remote",
    ...(check.server === null ? [] : [check.server]),
    `key: ${check.keySource}`,
    ...(listening === null || listening.forwards ? [] : [`listening: ${listening.text}`]),
  ];
}

/** Models that the server itself says it does not run, and signs of another service behind it. */
async function elsewhere(
  provider: ProviderEntry,
  { io }: Pick<Context, "io">,
  { client, check }: { client: HttpClient; check: ProviderCheck },
): Promise<string[]> {
  try {
    const endpoint = await endpointForCheck(provider, { env: io.env, local: check.local, stores: io });
    const localities = createLocalities(client, io);
    const found = await Promise.all(
      provider.models.slice(0, MODEL_LIMIT).map(({ id }) =>
        localities.of({ endpoint, model: id, trusted: provider.local })
      ),
    );
    return [
      ...new Set(found.flatMap((locality) => {
        if (locality.kind === "remote") return [`${locality.reason}; it counts as remote`];
        return locality.doubt === undefined ? [] : [locality.doubt];
      })),
    ];
  } catch (error) {
    if (error instanceof AgentcliError) return [];
    throw error;
  }
}

/** Programs that pass connections on to other machines, or into places that cannot be seen from here. */
const FORWARDERS: ReadonlySet<string> = new Set([
  ...["ssh", "sshd", "sshd-session", "autossh", "docker-proxy", "rootlessport", "slirp4netns", "kubectl", "nginx"],
  ...["haproxy", "socat", "caddy", "traefik", "envoy", "cloudflared", "ngrok", "tailscaled", "stunnel", "squid"],
]);

interface Listening {
  text: string;
  pid: number | null;
  program: string | null;
  /** It passes connections on. */
  forwards: boolean;
}

/** Null for other addresses, and where the system does not tell. */
async function listeningAt(baseUrl: string): Promise<Listening | null> {
  const url = new URL(baseUrl);
  if (!["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)) return null;
  const found = await listenerOn(Number(url.port || (url.protocol === "https:" ? 443 : 80)));
  if (found === null) return null;
  const { pid, program, owner } = found;
  if (pid === null) {
    const whose = owner === 0 ? "root" : owner === null ? "another user" : `user ${owner}`;
    return { text: `a process of ${whose}`, pid, program, forwards: false };
  }
  return { text: `${program ?? "process"} (pid ${pid})`, pid, program, forwards: FORWARDERS.has(program ?? "") };
}

/** Tokens of the window that is assumed: the smallest in which the direct tools of all sessions have the same room. */
const WINDOW = 10_000;
/** Tools that are named as the ones to drop. */
const MOST_NAMED = 5;

/** Returns one check; none where no server is configured. */
export async function checkServers(context: Context): Promise<Check[]> {
  const { hub, problems, close } = await openProjectServers(hostOf(context));
  try {
    await hub.load({ isQuiet: true });
    const states = hub.states.filter(({ server }) => server.enabled);
    if (states.length === 0 && problems.length === 0) return [];
    const known = states.flatMap(({ server, manifest }) => manifest === null ? [] : [{ server, manifest }]);
    const { tools, over, budget } = exposeTools(known, WINDOW);
    const direct = tools.filter(({ exposure }) => exposure === "direct");
    const tokens = direct.reduce((sum, one) => sum + one.tokens, 0);
    const names = states.map(({ server, problem, manifest }) =>
      `${server.name} (${problem ?? (manifest === null ? "not started yet" : `${manifest.tools.length} tools`)})`
    );
    const cost = direct.length === 0 ? "found by McpFind" : `${direct.length} direct with ${grouped(tokens)} tokens`;
    const message = [`${names.join(", ")}; ${cost}`, ...problems].join("; ");
    const facts = {
      servers: states.map(({ server, problem }) => ({ name: server.name, problem })),
      direct_tokens: tokens,
    };
    const unapproved = states.find(({ problem }) => problem !== null);
    const dropped = over.slice(0, MOST_NAMED).map((one) => `${one.server}.${one.tool.name} ${grouped(one.tokens)}`);
    const hint = over.length > 0
      ? `direct tools have ${budget} tokens: take direct from ${dropped.join(", ")}`
      : unapproved !== undefined
      ? `agentcli mcp approve ${unapproved.server.name}`
      : problems.length > 0
      ? "agentcli mcp list"
      : undefined;
    return [check("mcp", message, { hint, facts })];
  } finally {
    await close();
  }
}
