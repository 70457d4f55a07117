/**
 * Runs `agentcli doctor`: all checks at once, printed in a fixed order as they finish; those of providers and MCP
 * servers are here.
 */
import type { Configuration, ProviderEntry } from "../../config/types.ts";
import type { HttpClient } from "../../provider/http/client.ts";
import { clean, jsonText } from "../../terminal/clean.ts";
import type { Context, Invocation } from "../command.ts";
import { VERSION } from "../version.ts";
import {
  type Check,
  check,
  checkBoundary,
  checkConfiguration,
  checkHome,
  checkKeyStore,
  checkPrograms,
  checkProxy,
  type CheckState,
  checkTelemetry,
  checkTerminal,
  checkVersion,
  failed,
  readConfiguration,
  worst,
} from "./checks.ts";
import type { Io } from "../../platform/io.ts";
import { join } from "../../platform/path.ts";
import { countOf, fieldsOf, parseJson } from "../../platform/record.ts";
import { withTemporaryDirectory } from "../../platform/temporary.ts";
import { during, withClient } from "../result.ts";
import { checkProvider, type ProviderCheck } from "../providers/check.ts";
import { localityOf } from "../secrets/context.ts";
import { type Listening, listeningAt, remarkOf, signsElsewhere } from "./where.ts";
import { providerLabel } from "../../config/base_url.ts";
import { exposeTools } from "../../mcp/exposure.ts";
import { counted, grouped } from "../../platform/number.ts";
import { openProjectServers } from "../../runtime/mcp_servers.ts";
import { hostOf } from "../output.ts";

/** Longest time for one group of checks, in milliseconds. */
const GROUP_MS = 20_000;

/** Runs all checks. Returns 1 if one fails; warnings are not failures. */
export async function run({ context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const checks: Check[] = [];
  await withClient(context, async (client) => {
    for (const [id, group] of startGroups(context, client)) {
      for (const one of await during(context, `checking ${id.replace("_", " ")}`, () => group)) {
        checks.push(one);
        if (!globals.json) await io.stdout.write(checkText(one));
      }
    }
  });
  const ok = checks.every(({ state }) => state !== "fail");
  const shown = checks.map(({ id, state, message, hint = null, facts = {} }) => ({ id, state, message, hint, facts }));
  if (globals.json) await io.stdout.write(jsonText({ ok, version: VERSION, checks: shown }));
  return ok ? 0 : 1;
}

/** Everything is started at once, in the order in which it is shown. */
function startGroups(context: Context, client: HttpClient): [Check["id"], Promise<Check[]>][] {
  const { io, globals } = context;
  const configuration = readConfiguration(io);
  const configured = (work: (found: Configuration) => Promise<Check[]>) =>
    configuration.then((found) => "id" in found ? [] : work(found));
  const groups: [Check["id"], Promise<Check[]>][] = [
    ["version", Promise.resolve([checkVersion()])],
    ["home", checkHome(io).then((one) => [one])],
    ["configuration", configuration.then((found) => ["id" in found ? found : checkConfiguration(found)])],
    ["key_store", configured(async (found) => [await checkKeyStore(found, io)])],
    ["providers", configured((found) => checkProviders(found, context, { client }))],
    ["boundary", checkBoundary(context, configuration)],
    ["mcp", checkServers(context)],
    ["git", checkPrograms(io, { cwd: globals.cwd })],
    ["terminal", Promise.resolve([checkTerminal(io), checkProxy(io), checkTelemetry(io)])],
    ["demo", checkDemo(io).then((one) => [one])],
  ];
  return groups.map(([id, work]) => {
    // What Deno does not permit is reported in its place, and the rest is checked all the same.
    const checked = work.catch((error) => [failed(id, error)]);
    const bounded = Promise.race([checked, tooLate(id, context)]);
    // A bug in one check shows when its turn comes; until then it must not end the process.
    bounded.catch(() => {});
    return [id, bounded];
  });
}

async function tooLate(id: Check["id"], { io }: Context): Promise<Check[]> {
  await io.clock.sleep(GROUP_MS);
  return [check(id, `took longer than ${GROUP_MS / 1000} s`, { hint: "run again with --verbose", state: "fail" })];
}

const HEADERS = { ok: "[OK ]", warn: "[WARN]", fail: "[FAIL]" };

/** One line, and below it what to do. */
function checkText({ id, state, message, hint }: Check): string {
  const advice = hint === undefined ? "" : `  try: ${clean(hint)}\n`;
  return `${HEADERS[state]} ${id.replace("_", " ")}: ${clean(message)}\n${advice}`;
}

/** Longest time for the turn, in seconds. */
const TURN_S = 10;

/** Runs the turn: a request, a call of a tool, its result, an answer. Needs no network but loopback. */
async function checkDemo(io: Io): Promise<Check> {
  const start = io.clock.monotonic();
  const { code, text } = await withTemporaryDirectory(async ({ path, write }) => {
    write("notes.txt", "one line\n");
    const inside = outsideFor(io, path);
    const { main } = await import("../main.ts");
    const argv = ["run", "--model", "demo", "--json", "--no-session-persistence", "--timeout", String(TURN_S)];
    return { code: await main([...argv, "Read notes.txt"], inside.io), text: inside.text() };
  });
  const took = Math.round(io.clock.monotonic() - start);
  if (code === 0 && (countOf(fieldsOf(parseJson(text)).num_turns) ?? 0) >= 2) {
    return check("demo", `a turn with a tool call works (${took} ms)`, { facts: { duration_ms: took } });
  }
  const hint = 'agentcli run --model demo --verbose "Read README.md"';
  return check("demo", `a turn with the built-in model fails (exit ${code})`, { hint, state: "fail" });
}

/** The same environment with its own home and output: configuration and readers must not affect the test. */
function outsideFor(io: Io, directory: string): { io: Io; text(): string } {
  let text = "";
  const silent = { isTerminal: false, columns: () => 80 };
  const variables = { ...io.environment(), AGENTCLI_HOME: join(directory, "home") };
  const env: Record<string, string | undefined> = { ...variables, AGENTCLI_MODEL: undefined };
  return {
    io: {
      ...io,
      // A terminal, so that it does not wait for a prompt.
      stdin: { isTerminal: true, read: () => Promise.resolve(null), setRaw: () => {} },
      stdout: { ...silent, write: (piece) => Promise.resolve(void (text += piece)) },
      stderr: { ...silent, write: () => Promise.resolve() },
      env: (name) => env[name],
      environment: () => variables,
      cwd: () => directory,
    },
    text: () => text,
  };
}

/** Longest wait for one answer of a server, in milliseconds. */
const TIMEOUT_MS = 3_000;
const PROVIDER_LIMIT = 50;

/** The line for all providers, and one for each, in the order of the file. */
async function checkProviders(
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
  { io, globals: { cwd } }: Context,
  { client, isLocal }: { client: HttpClient; isLocal(baseUrl: string): boolean },
): Promise<Check> {
  const found = await checkProvider(provider, { client, env: io.env, isLocal, stores: io, timeoutMs: TIMEOUT_MS });
  const listening = found.baseUrl === null ? null : await listeningAt(found.baseUrl);
  const warnings = found.lines.filter(({ kind }) => kind === "warn").map(({ text }) => text);
  if (found.reachable && found.local && !warnings.some((text) => text.includes("counts as remote"))) {
    warnings.push(...await signsElsewhere(provider, { io }, { client, check: found }));
  }
  const remark = found.reachable && found.local
    ? await remarkOf(provider, { io, cwd }, { client, check: found, timeoutMs: TIMEOUT_MS })
    : null;
  if (remark?.hint !== undefined) warnings.push(remark.text);
  if (listening?.forwards) warnings.push(`${listening.text} listens there: the model may run on another machine`);
  const errors = found.lines.filter(({ kind }) => kind === "error").map(({ text }) => text);
  const state: CheckState = found.state === "error" ? "fail" : warnings.length > 0 ? "warn" : "ok";
  const tries = found.lines.filter(({ kind }) => kind === "try").map(({ text }) => text);
  const hint = tries[0] ?? remark?.hint ?? `agentcli providers validate ${provider.name}`;
  const notes = remark === null || remark.hint !== undefined ? [] : [remark.text];
  const message = [...errors, ...warnings, ...describe(found, listening), ...notes].join("; ");
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

/** Tokens of the window that is assumed: the smallest in which the direct tools of all sessions have the same room. */
const WINDOW = 10_000;
/** Tools that are named as the ones to drop. */
const MOST_NAMED = 5;

/** Returns one check; none where no server is configured. */
async function checkServers(context: Context): Promise<Check[]> {
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
      `${server.name} (${problem ?? (manifest === null ? "not started yet" : counted(manifest.tools.length, "tool"))})`
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
