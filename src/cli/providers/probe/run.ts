/** Measures one model, tells what was found, and stores it when asked to. */
import { DEMO } from "../../../config/selector.ts";
import { AgentcliError } from "../../../errors.ts";
import { openHome } from "../../../platform/home.ts";
import { runBattery } from "../../../provider/probe/battery.ts";
import { learnt, probeError, type ProbeReport } from "../../../provider/probe/findings.ts";
import { createProgress } from "../../../terminal/progress.ts";
import { jsonText } from "../../../terminal/json_text.ts";
import { type Interrupt, listenForInterrupt } from "../../../runtime/interrupt.ts";
import { notice, showError, warn } from "../../output.ts";
import type { Context, Invocation } from "../../verb.ts";
import { LABELS } from "./labels.ts";
import { jsonReport } from "./json.ts";
import { prepare, type Prepared } from "./prepare.ts";
import { type Stored, storeLearnt } from "./store.ts";
import { reportText, storedLines } from "./text.ts";
import type { PROBE_OPTIONS } from "./verb.ts";

/** Seconds for everything. */
const TIMEOUT = 300;
/** Tokens of the longest prompt. */
const MAX_PROMPT = 32_768;

/**
 * Runs the verb. 0 when the model replies, else the exit code of what kept it from replying; 130 and 143 after a signal,
 * with what was found so far told.
 */
export async function run(
  { options, arguments: words, context }: Invocation<typeof PROBE_OPTIONS>,
): Promise<number> {
  const selector = words[0] ?? "";
  if (options.write && selector.split(":")[0] === DEMO) {
    throw new AgentcliError("usage", `${DEMO} is built in: there is nothing to write for it`);
  }
  const prepared = await prepare(selector, context);
  const interrupt = listenForInterrupt(context.io, undefined);
  try {
    if (prepared.warning !== undefined) await warn(context, prepared.warning);
    const { provider, local } = prepared.endpoint;
    if (provider === DEMO) {
      await notice(context, "demo is a fixed script, not a language model: it can do little of this");
    }
    if (!local) await notice(context, `${provider} is not local: it may charge for the tokens of this`);
    const work = measure(prepared, { context, interrupt, options });
    return await Promise.race([work, interrupt.forced]);
  } finally {
    interrupt.end();
    await prepared.close();
  }
}

interface Given {
  context: Context;
  interrupt: Interrupt;
  options: Invocation<typeof PROBE_OPTIONS>["options"];
}

async function measure(prepared: Prepared, given: Given): Promise<number> {
  const { context, interrupt, options } = given;
  const { client, endpoint, model } = prepared;
  const progress = createProgress(context.io, { quiet: context.globals.quiet });
  let report: ProbeReport;
  try {
    report = await runBattery({
      client,
      endpoint,
      model: model.id,
      ...(model.params === undefined ? {} : { params: model.params }),
      clock: context.io.clock,
      signal: interrupt.signal,
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
    stored = await storeLearnt(await openHome(context.io), found);
  }
  await tell(report, { prepared, stored, context });
  if (report.interrupted) return signalCode(interrupt);
  if (error === null) return 0;
  // The report itself carries the error for programs.
  if (context.globals.json) return error.exitCode;
  return await showError(error, context.io, { json: false, verbose: context.globals.verbose });
}

function signalCode({ signal }: Interrupt): number {
  return signal.reason instanceof AgentcliError ? signal.reason.exitCode : 130;
}

async function tell(
  report: ProbeReport,
  told: { prepared: Prepared; stored: Stored | null; context: Context },
): Promise<void> {
  const { prepared, stored, context } = told;
  const { io, globals } = context;
  const subject = { endpoint: prepared.endpoint, model: prepared.model.id };
  if (globals.json) return await io.stdout.write(jsonText(jsonReport(report, { ...subject, stored })));
  const width = io.stdout.isTerminal ? io.stdout.columns() : 80;
  await io.stdout.write(reportText(report, { ...subject, width }));
  if (stored !== null) await io.stdout.write(storedLines(stored).join("\n") + "\n");
}
