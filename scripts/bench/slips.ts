/**
 * `deno task slips`: what becomes of the slips of small models. A scripted model makes each once and comes back only
 * where the program's answer names the next call. Prints a row for each; exit code 1 when one that must come right does
 * not.
 *
 * Options: `--json`, `--only <words>` (rows whose name has them).
 */
import { perform, readLine } from "../script.ts";
import { PENDING, SLIPS } from "./slip_kinds.ts";
import { runSlip, type SlipResult } from "./slip_run.ts";

function show({ kind, rounds, wrong }: SlipResult): string {
  const ended = wrong === null ? "right" : "WRONG";
  const why = wrong === null ? "" : `: ${wrong}`;
  const note = !PENDING.includes(kind) ? "" : wrong === null ? " (no longer pending)" : " (pending)";
  return `${ended}  ${String(rounds).padStart(2)}  ${kind}${why}${note}`;
}

async function slips(args: readonly string[]): Promise<void> {
  const { flags, values } = readLine(args, { json: "flag", only: "value" });
  const json = flags.has("json");
  const words = values.only?.[0] ?? "";
  const results: SlipResult[] = [];
  const started = performance.now();
  if (!json) console.log("       requests");
  for (const slip of SLIPS.filter(({ kind }) => kind.includes(words))) {
    const result = await runSlip(slip);
    results.push(result);
    if (!json) console.log(show(result));
  }
  const right = results.filter(({ wrong }) => wrong === null).length;
  const rounds = results.reduce((sum, result) => sum + result.rounds, 0);
  const share = Math.round(100 * right / results.length);
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  if (json) console.log(JSON.stringify({ right, share, rounds, results }, null, 2));
  else console.log(`${right} of ${results.length} right (${share} %), ${rounds} requests, ${seconds} s`);
  if (results.some(({ kind, wrong }) => wrong !== null && !PENDING.includes(kind))) Deno.exit(1);
}

if (import.meta.main) await perform(import.meta.url, slips);
