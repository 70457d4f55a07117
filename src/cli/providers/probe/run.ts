/** Runs `agentcli providers probe`: measures one model, prints the report, and stores it with `--write`. */
import { DEMO } from "../../../config/find.ts";
import { AgentcliError, asAgentcliError } from "../../../errors.ts";
import { findServerWindow } from "../../../agent/context/window.ts";
import { assumedWindow } from "../../../agent/context/tokens.ts";
import { backendOf } from "../../../provider/backends/backends.ts";
import {
  plainProfile,
  type ProfileRow,
  type RequestProfile,
  requestProfile,
} from "../../../provider/profiles/profile.ts";
import { runBattery } from "../../../provider/probe/battery.ts";
import { type Learnt, learnt, probeError, type ProbeReport } from "../../../provider/probe/findings.ts";
import { createProgress } from "../../../terminal/paced_output.ts";
import { interruptible } from "../../../runtime/interrupt.ts";
import { showError } from "../../output.ts";
import { configured, edit, notice, print, warn } from "../../result.ts";
import type { Context, Invocation } from "../../command.ts";
import { jsonReport, LABELS, reportText, storedLines } from "./report.ts";
import type { PROBE_OPTIONS } from "../command.ts";
import { resolveEndpoint } from "../../../config/endpoint.ts";
import { effectiveBaseUrl } from "../../../config/base_url.ts";
import { selectModel } from "../../../config/select.ts";
import type { ModelEntry, ProviderEntry } from "../../../config/types.ts";
import { createHttpClient, type HttpClient } from "../../../provider/http/client.ts";
import { listModels } from "../../../provider/backends/model_list.ts";
import type { Endpoint } from "../../../provider/types.ts";
import { localityOf } from "../../secrets/context.ts";

/** Seconds for everything. */
const TIMEOUT = 300;
/** Tokens of the longest prompt. */
const MAX_PROMPT = 32_768;

/**
 * Runs the command. 0 when the model replies, else the exit code of what kept it from replying; 130 and 143 after a signal,
 * with what was found so far told.
 */
export async function run(
  { options, arguments: words, context }: Invocation<typeof PROBE_OPTIONS>,
): Promise<number> {
  const prepared = await prepare(words[0], context);
  try {
    if (prepared.warning !== undefined) await warn(context, prepared.warning);
    const { endpoint: { provider, local }, model } = prepared;
    if (provider === DEMO && options.write) {
      throw new AgentcliError("usage", `${DEMO} is built in: there is nothing to write for it`);
    }
    if (provider === DEMO) {
      await notice(context, "demo is a fixed script, not a language model: most checks do not apply to it");
    }
    if (!local) await notice(context, `${provider}:${model.id} is remote: ${provider} may charge for these requests`);
    return await interruptible(context, (signal) => measure(prepared, { context, signal, options }));
  } finally {
    await prepared.close();
  }
}

async function measure(
  prepared: Prepared,
  given: { context: Context; signal: AbortSignal; options: Invocation<typeof PROBE_OPTIONS>["options"] },
): Promise<number> {
  const { context, signal, options } = given;
  const { client, endpoint, model } = prepared;
  const progress = createProgress(context.io, { quiet: context.globals.quiet });
  let report: ProbeReport;
  const profile = await profileFor(prepared, signal);
  try {
    report = await runBattery({
      client,
      endpoint,
      model: model.id,
      params: model.params,
      clock: context.io.clock,
      history: {
        keepsReasoning: profile.keepsReasoning,
        fields: "chat_template_kwargs" in profile.fields
          ? { chat_template_kwargs: profile.fields["chat_template_kwargs"] }
          : {},
      },
      signal,
      timeoutMs: (options.timeout ?? TIMEOUT) * 1000,
      maxPrompt: options.maxPrompt ?? MAX_PROMPT,
      onNote: (text) => progress.note(text),
      onCheck: async (name) => {
        await progress.stop();
        progress.start(LABELS[name]);
      },
    });
  } finally {
    await progress.stop();
  }
  const error = probeError(report);
  let stored: Stored | null = null;
  if (options.write && error === null && !report.interrupted) {
    const found = { provider: endpoint.provider, model: model.id, learnt: learnt(report) };
    stored = await storeLearnt(context, found);
  }
  await printReport(report, { prepared, profile: profile.rows, stored, context });
  if (report.interrupted) return asAgentcliError(signal.reason).exitCode;
  if (error === null) return 0;
  // The report itself carries the error for programs.
  if (context.globals.json) return error.exitCode;
  return await showError(error, context.io, { json: false, verbose: context.globals.verbose });
}

/** How a session with this model would ask, by what its server tells without being asked for a reply. */
async function profileFor({ client, endpoint, model }: Prepared, signal: AbortSignal): Promise<RequestProfile> {
  if (endpoint.provider === DEMO) return plainProfile(model);
  const { server, window, told } = await findServerWindow(client, endpoint, { model: model.id, signal });
  return requestProfile({
    entry: model,
    temperature: undefined,
    local: endpoint.local,
    contextWindow: model.contextWindow ?? window ?? assumedWindow(endpoint),
    backend: backendOf(server),
    told: told ?? {},
  });
}

async function printReport(
  report: ProbeReport,
  told: { prepared: Prepared; profile: readonly ProfileRow[]; stored: Stored | null; context: Context },
): Promise<void> {
  const { prepared, profile, stored, context } = told;
  const { stdout } = context.io;
  const subject = { endpoint: prepared.endpoint, model: prepared.model.id, profile };
  const text = reportText(report, { ...subject, width: stdout.isTerminal ? stdout.columns() : 80 });
  await print(context, {
    json: jsonReport(report, { ...subject, stored }),
    text: stored === null ? text : `${text}${storedLines(stored).join("\n")}\n`,
  });
}

/** Timeout for the model list when a model is not configured, in milliseconds. */
const LIST_TIMEOUT = 5000;

/** The model under test. */
interface Prepared {
  client: HttpClient;
  endpoint: Endpoint;
  model: ModelEntry;
  /** A sentence about the choice, for stderr. */
  warning?: string;
  /** Ends connections and the demo server. */
  close(): Promise<void>;
}

/** Chooses, as `run` does, and addresses the model. Throws configuration and key errors; leaves nothing open then. */
async function prepare(selector: string | undefined, context: Context): Promise<Prepared> {
  const { io } = context;
  const { configuration } = await configured(context);
  const isLocal = await localityOf(context);
  const endpointOf = async (provider: ProviderEntry) =>
    await resolveEndpoint(provider, { env: io.env, local: isLocal(effectiveBaseUrl(provider, io.env)), stores: io });
  const client = createHttpClient(io);
  let demo: { baseUrl: string; close(): Promise<void> } | undefined;
  const close = async () => {
    await demo?.close();
    client.close();
  };
  try {
    const wanted = { option: selector, environment: io.env("AGENTCLI_MODEL") };
    const { selection, warning } = await selectModel(configuration, wanted, async (provider) => {
      try {
        const list = await listModels(client, await endpointOf(provider), { timeoutMs: LIST_TIMEOUT });
        return list.models.map(({ id }) => id);
      } catch {
        // Whatever is wrong with the server, the checks say it better than its list would.
        return null;
      }
    });
    let { provider } = selection;
    if (provider.name === DEMO) {
      const { startDemo } = await import("../../../demo/server.ts");
      demo = await startDemo();
      provider = { ...provider, baseUrl: demo.baseUrl };
    }
    const endpoint = await endpointOf(provider);
    return { client, endpoint, model: selection.model, warning, close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** One field that was, or already had been, as it was found. */
interface StoredField {
  field: "context_window" | "tool_calls" | "reasoning";
  old: string | number | null;
  new: string | number;
}

/** The result of storing: all measured fields, in the order of the file. */
export interface Stored {
  provider: string;
  model: string;
  path: string;
  /** True if the file changed. */
  changed: boolean;
  fields: StoredField[];
}

/** Stores the fields that were found, under the file's lock; a model that is not configured yet is added. */
async function storeLearnt(
  context: Context,
  found: { provider: string; model: string; learnt: Learnt },
): Promise<Stored> {
  const { provider, model, learnt } = found;
  const fields: StoredField[] = [];
  const { before, after, configuration } = await edit(context, (document) => {
    const models = document.value().providers?.[provider]?.models ?? [];
    const entry = models.find(({ id }) => id === model);
    const wanted = {
      context_window: learnt.contextWindow,
      tool_calls: learnt.toolCalls,
      reasoning: learnt.reasoning,
    };
    for (const field of ["context_window", "tool_calls", "reasoning"] as const) {
      const value = wanted[field];
      if (value !== undefined) fields.push({ field, old: entry?.[field] ?? null, new: value });
    }
    if (fields.length > 0) document.addModel(provider, { id: model, ...wanted });
  });
  return { provider, model, path: configuration.path, changed: before !== after, fields };
}
