/** Runs `agentcli doctor`: all checks at once, printed in a fixed order as they finish. */
import type { Configuration } from "../../config/types.ts";
import type { HttpClient } from "../../provider/http/client.ts";
import { clean, jsonText } from "../../terminal/clean.ts";
import { checkProviders, checkServers } from "./providers.ts";
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
  checkTelemetry,
  checkTerminal,
  checkVersion,
  failed,
  readConfiguration,
} from "./checks.ts";
import type { Io } from "../../platform/io.ts";
import { join } from "../../platform/path.ts";
import { countOf, fieldsOf, parseJson } from "../../platform/record.ts";
import { withTemporaryDirectory } from "../../platform/temporary.ts";
import { withClient } from "../result.ts";

/** Longest time for one group of checks, in milliseconds. */
const GROUP_MS = 20_000;

/** Runs all checks. Returns 1 if one fails; warnings are not failures. */
export async function run({ context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const checks: Check[] = [];
  await withClient(context, async (client) => {
    for (const group of startGroups(context, client)) {
      for (const one of await group) {
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
function startGroups(context: Context, client: HttpClient): Promise<Check[]>[] {
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
    ["boundary", checkBoundary(context)],
    ["mcp", checkServers(context)],
    ["git", checkPrograms(io, { cwd: globals.cwd })],
    ["terminal", Promise.resolve([checkTerminal(io), checkProxy(io), checkTelemetry(io)])],
    ["demo", checkDemo(io).then((one) => [one])],
  ];
  return groups.map(([id, work]) => {
    // What Deno does not permit is told in its place, and the rest is looked at all the same.
    const told = work.catch((error) => [failed(id, error)]);
    const bounded = Promise.race([told, tooLate(id, context)]);
    // A bug in one shows when its turn comes; until then it must not end the process.
    bounded.catch(() => {});
    return bounded;
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

/** The same outside with its own home and output: what is configured, and who reads, has no part in the test. */
function outsideFor(io: Io, directory: string): { io: Io; text(): string } {
  let text = "";
  const silent = { isTerminal: false, columns: () => 80 };
  const variables = { ...io.environment(), AGENTCLI_HOME: join(directory, "home") };
  const env: Record<string, string | undefined> = { ...variables, AGENTCLI_MODEL: undefined };
  return {
    io: {
      ...io,
      // A terminal, so that no prompt is waited for on it.
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
