/** The command lines of one start of an engine: programs found on this machine, arguments and variables. */
import { type Asking, reachableHost } from "../../engine/asking.ts";
import type { Checked } from "../../engine/request.ts";
import { buildEnvironment, buildWords, type Command, type Engine, type LeftOut } from "../../engine/engine.ts";
import type { Home } from "../../platform/home.ts";
import type { Context, Values } from "../command.ts";
import type { SERVE_OPTIONS } from "./command.ts";
import type { ReadyCommand } from "../../engine/running.ts";
import { engineEnvironment, findInstalled, type Installed } from "../../engine/installed.ts";
import { shownCommand, type ShownVariable, withoutKeys } from "../../engine/quote.ts";
import { variableOf } from "../../config/endpoint.ts";
import { AgentcliError } from "../../errors.ts";

/** Everything that is known before anything is started. */
export interface ServeTask extends Pick<Values<typeof SERVE_OPTIONS>, "apiKey" | "register" | "detach" | "download"> {
  context: Context;
  home: Home;
  engine: Engine;
  checked: Checked;
  /** The engine's own options. */
  own: readonly string[];
  asking: Asking;
  /** Name of the record of `--detach`. */
  recordName: string;
  /** Variables that hold keys of providers. */
  secret: readonly string[];
}

/** Commands that can be run, and what to say of them. */
export interface Prepared {
  start: ReadyCommand[];
  /** Empty for a child, which is simply ended. */
  stop: ReadyCommand[];
  /** All variables for them. */
  env: Record<string, string>;
  /** The commands as they can be copied, without keys. */
  shown: string[];
  /** The variables that are set, without keys. */
  variables: Record<string, string>;
  leftOut: LeftOut[];
}

function notInstalled(task: ServeTask): AgentcliError {
  const { engine, context } = task;
  const names = [...new Set(candidatesOf(task).flat().flatMap(({ programs }) => programs))];
  return new AgentcliError("provider_error", `${engine.id} needs ${names.join(" or ")}, which is not on PATH`, {
    hint: engine.install[context.io.os],
  });
}

/** Alternatives for each call that starts the engine. */
function candidatesOf({ engine, checked }: ServeTask): (readonly Command[])[] {
  if (engine.running.kind === "child") return [engine.running.commands];
  return needed(engine.running.start, checked.values).map((command) => [command]);
}

function needed(commands: readonly Command[], values: ServeTask["checked"]["values"]): Command[] {
  return commands.filter(({ needs }) => needs === undefined || values[needs] !== undefined);
}

/**
 * Finds the programs and builds the words. `absent` says what to do without a program: `fail` is `provider_error` with
 * how to install it, `assume` builds the first one unchecked.
 */
export async function prepareCommands(
  task: ServeTask,
  options: { absent: "fail" | "assume" },
): Promise<Prepared & { installed: boolean }> {
  const { engine, context: { io, globals }, checked: { values }, asking } = task;
  const set = buildEnvironment(engine, values);
  const env = engineEnvironment(io.environment(), { set, secret: task.secret, download: task.download });
  const search = { path: io.env("PATH") ?? "", io, env, cwd: globals.cwd, signal: asking.signal };
  const built: { argv: [string, ...string[]]; shown: string[]; mayFail: boolean; leftOut: LeftOut[] }[] = [];
  let installed = true;
  const add = async (candidates: readonly Command[]) => {
    const found = await findInstalled(candidates, search) ?? assumed(candidates);
    if (found === null) return;
    if (found.program === "") installed = false;
    const { words, leftOut } = buildWords(found.command, {
      values,
      help: found.help,
      own: task.own,
      unchecked: found.program === "",
    });
    built.push({
      argv: [found.program, ...words],
      shown: withoutKeys([found.name, ...words]),
      mayFail: found.command.mayFail === true,
      leftOut,
    });
  };
  for (const candidates of candidatesOf(task)) await add(candidates);
  if (!installed && options.absent === "fail") throw notInstalled(task);
  const start = built.splice(0);
  if (engine.running.kind === "service") {
    for (const command of needed(engine.running.stop, values)) await add([command]);
  }
  const leftOut = start.flatMap((command) => command.leftOut);
  refuseDroppedAddress(task, leftOut);
  const variables = shownVariables(task, set);
  return {
    start,
    stop: built,
    env,
    shown: start.map(({ shown }) => shownCommand({ argv: shown, variables }, io.os)),
    variables: Object.fromEntries(
      variables.map((each) => [each.name, "variable" in each ? `$${each.variable}` : each.value]),
    ),
    leftOut,
    installed,
  };
}

function assumed(candidates: readonly Command[]): Installed | null {
  const [command] = candidates;
  const [name] = command?.programs ?? [];
  return command === undefined || name === undefined ? null : { command, name, program: "", help: null };
}

/** A requested address must not be dropped: the engine would listen somewhere else. */
function refuseDroppedAddress(task: ServeTask, leftOut: readonly LeftOut[]): void {
  const { host } = task.checked.address;
  const dropped = leftOut.find(({ flag }) => flag.endsWith(` ${host}`));
  if (dropped === undefined || reachableHost(host) === "127.0.0.1" && host !== "0.0.0.0") return;
  throw new AgentcliError(
    "provider_error",
    `the installed ${task.engine.product} cannot listen on ${host}`,
    {
      hint: "omit --host",
    },
  );
}

function shownVariables(task: ServeTask, set: Readonly<Record<string, string>>): ShownVariable[] {
  const key = task.checked.values.api_key;
  const variable = variableOf(task.apiKey ?? "");
  return Object.entries(set).map(([name, value]): ShownVariable => {
    if (key === undefined || !value.includes(key)) return { name, value };
    return variable === null ? { name, value: "<the key>" } : { name, variable };
  });
}
