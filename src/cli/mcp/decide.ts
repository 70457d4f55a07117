/**
 * Runs what the user decides about the answers of `mcp serve`: always at a terminal, since an assistant can run
 * commands.
 */
import { projectRootOf, protectedAround } from "../../boundary/policy/project.ts";
import { ruleOfHeld } from "../../boundary/policy/protection_rule.ts";
import { LeakScanner } from "../../boundary/scan/leak_scanner.ts";
import { AgentcliError } from "../../errors.ts";
import { openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { dirname } from "../../platform/path.ts";
import { placeOf } from "../../private/facts.ts";
import { HeldAnswers, logRelease } from "../../private/held.ts";
import { Budget } from "../../private/budget.ts";
import { bits } from "../../private/outcome.ts";
import { clean } from "../../terminal/clean.ts";
import { confirm } from "../../terminal/prompt.ts";
import type { Context, Invocation } from "../command.ts";
import type { ALLOW_OPTIONS, RELEASE_OPTIONS } from "./command.ts";
import { notice, print } from "../result.ts";

/** Runs the command. */
export async function allow({ options, context }: Invocation<typeof ALLOW_OPTIONS>): Promise<void> {
  const { io, globals } = context;
  if (options.bits === undefined && !options.values && !options.changes) {
    throw new AgentcliError("usage", "what to allow is not said", { hint: "give --bits N, --values or --changes" });
  }
  const home = await openHome(io);
  const budget = new Budget(home, io.clock);
  const at = () => ({ now: io.clock.now() });
  if (options.bits !== undefined) {
    await agreed(context, `Let ${options.bits} more bits about protected files out in the next 24 hours?`);
    await logRelease(home, { what: "bits added", bits: options.bits }, at());
    await budget.add(options.bits * 1000);
    await notice(context, `${bits(await budget.left())} bits are left`);
  }
  const project = projectRootOf(globals.cwd, io);
  if (options.changes) {
    await agreed(context, `Let the next task in ${clean(project)} change the open files that it names?`);
    await logRelease(home, { what: "changes of open files allowed once", project }, at());
    await budget.allowChanges(placeOf(project));
    await notice(
      context,
      "the next task may change open files; what a model writes into them is looked through as ever",
    );
  }
  if (!options.values) return;
  await agreed(context, `Let the local model see values for the next question about ${clean(project)}?`);
  await logRelease(home, { what: "values allowed once", project }, at());
  await budget.showValues(placeOf(project));
  await notice(context, "the next question sees values");
}

/** Runs `mcp pending`: what waits, with its text where a person looks at it. */
export async function pending({ context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const held = await heldHere(context);
  const waiting = (await held.all()).filter(({ state }) => state === "waiting");
  const json = { waiting: waiting.map(({ id, question, client, at }) => ({ id, question, client, time: timeOf(at) })) };
  await print(context, { json, message: waiting.length === 0 ? "no answer of this project waits" : undefined });
  if (globals.json || waiting.length === 0) return;
  for (const { id, question, client, at } of waiting) {
    await io.stdout.write(`${id}  ${timeOf(at)}  ${clean(client) || "unnamed client"}: ${clean(question)}\n`);
    if (!isAtTerminal(io)) continue;
    const text = await held.text(id).catch((error) => `(${error.message})`);
    await io.stdout.write(await marked(text, context) + "\n");
  }
  await notice(context, "agentcli mcp release ID sends one (with --lines A-B a part of it); mcp keep ID keeps it here");
}

/** Runs `mcp release`. */
export async function release(
  { options, arguments: [id = ""], context }: Invocation<typeof RELEASE_OPTIONS>,
): Promise<void> {
  const { io } = context;
  requireTerminal(io);
  const held = await heldHere(context);
  const { client } = await held.waitingOne(id);
  const whole = await held.text(id);
  const text = options.lines === undefined ? whole : linesOf(whole, options.lines);
  await io.stdout.write(await marked(text, context) + "\n");
  const asking = client === "" ? "a client without a name" : `a client that calls itself "${clean(client)}"`;
  await agreed(context, `Give exactly this to all clients of mcp serve in this project? It was asked for by ${asking}`);
  await held.release(id, text, { isWhole: text === whole });
  await notice(context, `${id} is released`);
}

/** Runs `mcp keep`. */
export async function keep({ arguments: [id = ""], context }: Invocation): Promise<void> {
  await (await heldHere(context)).keep(id);
  await notice(context, `${id} stays here`);
}

async function heldHere({ io, globals }: Context): Promise<HeldAnswers> {
  return new HeldAnswers(await openHome(io), { root: projectRootOf(globals.cwd, io), clock: io.clock });
}

function timeOf(at: number): string {
  return new Date(at).toISOString();
}

/** Lines `A-B` of a text, from 1. Throws `usage` for an invalid range. */
function linesOf(text: string, range: string): string {
  const [, from = "", to = from] = /^(\d+)(?:-(\d+))?$/.exec(range) ?? [];
  const lines = text.split("\n");
  const [first, last] = [Number(from), Number(to)];
  if (from === "" || first < 1 || last < first || last > lines.length) {
    throw new AgentcliError("usage", `--lines ${range.slice(0, 20)}: the text has lines 1-${lines.length}`);
  }
  return lines.slice(first - 1, last).join("\n");
}

/** The lines with numbers; `!` marks those that quote a protected file. */
async function marked(text: string, { io, globals }: Context): Promise<string> {
  const quotes = await quotedLines(io, { cwd: globals.cwd, text });
  const lines = clean(text, { multiline: true }).split("\n");
  return lines.map((line, at) => `${quotes.has(at) ? "!" : " "} ${String(at + 1).padStart(3)}  ${line}`).join("\n");
}

/** Returns which lines of a text, from 0, quote a protected file of the project. */
async function quotedLines(
  io: Pick<Io, "env" | "os">,
  { cwd, text }: { cwd: string; text: string },
): Promise<ReadonlySet<number>> {
  const protection = await protectedAround(cwd, io);
  // A home inside of the project has the text itself.
  const files = () => [...protection.files()].filter((path) => ruleOfHeld(dirname(path)) === null);
  const scanner = new LeakScanner({ files, named: (path) => protection.named(path), version: 0 }, { root: cwd });
  const since = performance.now();
  const quoted = new Set<number>();
  for (const [at, line] of text.split("\n").entries()) {
    if (await scanner.check([line], { once: true, since }) !== null) quoted.add(at);
  }
  return quoted;
}

function isAtTerminal({ stdin, stdout, stderr }: Context["io"]): boolean {
  return stdin.isTerminal && stdout.isTerminal && stderr.isTerminal;
}

function requireTerminal(io: Context["io"]): void {
  if (isAtTerminal(io)) return;
  throw new AgentcliError("permission_denied", "this is decided at a terminal, by a person", {
    hint: "run it yourself, in a terminal of your own",
  });
}

/** Throws unless a person says yes; `--yes` is no answer, since an assistant can type it too. */
async function agreed({ io }: Context, question: string): Promise<void> {
  requireTerminal(io);
  if (!await confirm(io, question)) throw new AgentcliError("permission_denied", "nothing was changed");
}
