/** Runs `agentcli providers probe`: measures one model, prints the report, and stores it with `--write`. */
import { DEMO } from "../../../config/find.ts";
import { AgentcliError, asAgentcliError } from "../../../errors.ts";
import { findServerWindow } from "../../../agent/context/window.ts";
import { assumedWindow } from "../../../agent/context/tokens.ts";
import { backendOf } from "../../../provider/backends/backends.ts";
import { plainProfile, type RequestProfile, requestProfile } from "../../../provider/profiles/profile.ts";
import { runBattery } from "../../../provider/probe/battery.ts";
import { type Learnt, learnt, probeError, type ProbeReport } from "../../../provider/probe/findings.ts";
import { createProgress } from "../../../terminal/paced_output.ts";
import { interruptible } from "../../../runtime/interrupt.ts";
import { reachProviders } from "../../../runtime/model.ts";
import { showError } from "../../output.ts";
import { configured, edit, notice, print, warn, withClient } from "../../result.ts";
import type { Context, Invocation } from "../../command.ts";
import { jsonReport, LABELS, reportText, storedLines } from "./report.ts";
import type { PROBE_OPTIONS } from "../command.ts";
import { selectModel } from "../../../config/select.ts";
import type { ModelEntry } from "../../../config/types.ts";
import type { HttpClient } from "../../../provider/http/client.ts";
import type { Endpoint } from "../../../provider/types.ts";
import { localEndpointsOf } from "../../secrets/context.ts";

/** Seconds for everything. */
const TIMEOUT = 300;
/** Tokens of the longest prompt. */
const MAX_PROMPT = 32_768;

/**
 * Runs the command. 0 when the model replies, else the exit code of its failure; 130 and 143 after a signal,
 * and reports what was found so far.
 */
export async function run(
  { options, arguments: [selector], context }: Invocation<typeof PROBE_OPTIONS>,
): Promise<number> {
  return await withClient(context, async (client) => {
    const { provider, model, warning, endpointOf } = await choose(client, selector, context);
    const { name } = provider;
    if (warning !== undefined) await warn(context, warning);
    if (name === DEMO && options.write) {
      throw new AgentcliError("usage", `${DEMO} is built in: there is nothing to write for it`);
    }
    if (name === DEMO) {
      await notice(context, "demo is a fixed script, not a language model: most checks do not apply to it");
    }
    const demo = name === DEMO ? await (await import("../../../demo/server.ts")).startDemo() : null;
    try {
      const endpoint = await endpointOf(demo === null ? provider : { ...provider, baseUrl: demo.baseUrl });
      if (!endpoint.local) {
        await notice(context, `${name}:${model.id} is remote: ${name} may charge for these requests`);
      }
      const subject = { client, endpoint, model };
      return await interruptible(context, (signal) => measure(subject, { context, signal, options }));
    } finally {
      await demo?.close();
    }
  });
}

/** The model under test. */
interface Subject {
  client: HttpClient;
  endpoint: Endpoint;
  model: ModelEntry;
}

async function measure(
  subject: Subject,
  given: { context: Context; signal: AbortSignal; options: Invocation<typeof PROBE_OPTIONS>["options"] },
): Promise<number> {
  const { context, signal, options } = given;
  const { client, endpoint, model } = subject;
  const progress = createProgress(context.io, { quiet: context.globals.quiet });
  let report: ProbeReport;
  const profile = await profileFor(subject, signal);
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
  const { stdout } = context.io;
  const shown = { endpoint, model: model.id, profile: profile.rows };
  const text = reportText(report, { ...shown, width: stdout.isTerminal ? stdout.columns() : 80 });
  await print(context, {
    json: jsonReport(report, { ...shown, stored }),
    text: stored === null ? text : `${text}${storedLines(stored).join("\n")}\n`,
  });
  if (report.interrupted) return asAgentcliError(signal.reason).exitCode;
  if (error === null) return 0;
  // The report itself carries the error for programs.
  if (context.globals.json) return error.exitCode;
  return await showError(error, context.io, { json: false, verbose: context.globals.verbose });
}

/** How a session with this model would ask, by what its server says without being asked for a reply. */
async function profileFor({ client, endpoint, model }: Subject, signal: AbortSignal): Promise<RequestProfile> {
  if (endpoint.provider === DEMO) return plainProfile(model);
  const { server, window, facts } = await findServerWindow(client, endpoint, { model: model.id, signal });
  return requestProfile({
    entry: model,
    temperature: undefined,
    local: endpoint.local,
    contextWindow: model.contextWindow ?? window ?? assumedWindow(endpoint),
    backend: backendOf(server),
    facts: facts ?? {},
  });
}

/** Chooses as `run` does. Throws configuration errors; the endpoint of a provider throws those of its key. */
async function choose(client: HttpClient, selector: string | undefined, context: Context) {
  const { io } = context;
  const { configuration } = await configured(context);
  const reach = reachProviders(client, { io, localEndpoints: await localEndpointsOf(context) });
  const wanted = { option: selector, environment: io.env("AGENTCLI_MODEL") };
  return { ...await selectModel(configuration, wanted, reach.servedModels), endpointOf: reach.endpointOf };
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
