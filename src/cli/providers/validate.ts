/** Checks every configured provider, or the named ones, side by side; shows them in the order of the file. */
import { findConfigured } from "../../config/find.ts";
import { loadConfiguration } from "../../config/load.ts";
import type { ProviderEntry } from "../../config/types.ts";
import { openHome } from "../../platform/home.ts";
import { createHttpClient } from "../../provider/http/client.ts";
import { type ModelAddress, readModelMetadata } from "../../provider/backends/model_metadata.ts";
import { clean } from "../../terminal/clean.ts";
import { createProgress } from "../../terminal/progress.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice, warn } from "../output.ts";
import type { Invocation } from "../verb.ts";
import { checkProvider, type CheckTools, type ProviderCheck } from "./check.ts";
import { localityOf } from "./locality.ts";

/** Longest wait for one model list, in milliseconds. */
const TIMEOUT = 10_000;
/** Providers that are checked at the same time. */
const WIDTH = 8;

/** Exit 1 when one of them is in error. */
export async function run({ arguments: names, context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const home = await openHome(io);
  const configuration = await loadConfiguration(home);
  const providers = names.length === 0
    ? configuration.providers
    : [...new Set(names)].map((name) => findConfigured(configuration, name));
  if (providers.length === 0) await notice(context, "no provider is configured; run `agentcli init-providers`");
  for (const warning of configuration.warnings) await warn(context, warning);
  const isLocal = await localityOf(context);
  const client = createHttpClient(io);
  const checks: ProviderCheck[] = [];
  const progress = createProgress(io, globals);
  try {
    const recall = (address: ModelAddress) => readModelMetadata(home, address, { now: io.clock.now() });
    const started = startChecks(providers, { client, env: io.env, isLocal, stores: io, recall, timeoutMs: TIMEOUT });
    for (const [at, pending] of started.entries()) {
      progress.start(`asking ${clean(providers[at]?.name ?? "")}`);
      const check = await pending.finally(() => progress.stop());
      checks.push(check);
      // Each is shown as soon as those before it are: a server that is slow to answer hides no result above it.
      if (!globals.json) await io.stdout.write(checkText(check));
    }
  } finally {
    client.close();
  }
  const ok = checks.every((check) => check.state !== "error");
  if (globals.json) await io.stdout.write(jsonText({ ok, providers: checks.map(checkJson) }));
  return ok ? 0 : 1;
}

/** Starts all checks, a few at a time; the promises are in the order of the providers. */
function startChecks(providers: readonly ProviderEntry[], tools: CheckTools): Promise<ProviderCheck>[] {
  const started: Promise<ProviderCheck>[] = [];
  for (const [index, provider] of providers.entries()) {
    const place = started[index - WIDTH];
    const work = place === undefined
      ? checkProvider(provider, tools)
      : place.then(() => checkProvider(provider, tools));
    // A bug in one check shows when its turn comes; until then it must not end the process.
    work.catch(() => {});
    started.push(work);
  }
  return started;
}

const HEADERS = { ok: "[OK ]", error: "[ERR]", skipped: "[-- ]" };

/** The lines of one provider, as the seed (§4.1) and the specification give them. */
export function checkText(check: ProviderCheck): string {
  const lines = check.lines.map((line) => `  ${line.kind}: ${clean(line.text)}\n`);
  return `${HEADERS[check.state]} ${clean(check.name)}\n${lines.join("")}`;
}

function checkJson(check: ProviderCheck): Record<string, unknown> {
  return {
    name: check.name,
    state: check.state,
    base_url: check.baseUrl,
    local: check.local,
    key_source: check.keySource,
    reachable: check.reachable,
    server: check.server,
    lines: check.lines,
  };
}
