/** The part of `local-model serve --help` that is about engines: all of them, or the one that `--engine` names. */
import type { GivenOption } from "../command_line.ts";
import { runtimeCalled } from "../../config/base_url.ts";
import { grouped } from "../../platform/number.ts";
import { type Command, type Engine, fill, type Values } from "../../engine/engine.ts";
import { allEngines, applicableOptions, engineNamed } from "../../engine/request.ts";

/** Placeholders for values in the help. */
const SAMPLE: Values = {
  model: "<model>",
  model_path: "<file>",
  model_id: "<id>",
  name: "<name>",
  host: "127.0.0.1",
  url_host: "127.0.0.1",
  port: "<port>",
  context_window: "<tokens>",
  context_total: "<tokens>",
  parallel: "<n>",
  api_key: "<key>",
  tensor_parallel: "<gpus>",
  pipeline_parallel: "<machines>",
  ray: "ray",
  tool_parser: "<parser>",
  offline: "1",
};

/** Paragraphs for the help, from the options of the line. An unknown engine is `usage`. */
export function engineHelp(options: readonly GivenOption[]): string {
  const named = options.findLast(({ name }) => name === "engine")?.value;
  if (named !== undefined && !isOwn(named)) return engineText(engineNamed(named, {}));
  return ["Engines:", ...allEngines({}).map(engineText), OWN].join("\n\n");
}

/** A name that no built-in engine can have is a template of the user, which the general text describes. */
function isOwn(name: string): boolean {
  return !/^(?:runtime|engine|studio)_/.test(name) && runtimeCalled(name) === undefined;
}

function engineText(engine: Engine): string {
  const model = engine.model.required ? "--model (needed)" : "--model";
  const { running } = engine;
  const commands = running.kind === "child" ? running.commands : running.start;
  const variables = Object.entries(engine.environment)
    .map(([name, text]) => `${name}=${fill(text, { ...SAMPLE, port: String(engine.port) }) ?? ""}`);
  const window = engine.contextWindow === undefined ? [] : [`default window: ${grouped(engine.contextWindow)} tokens`];
  return [
    `${engine.product} (${engine.id}), port ${engine.port}`,
    ...commands.map((command, at) =>
      `  ${at > 0 && running.kind === "child" ? "or: " : ""}${commandText(command, engine)}`
    ),
    ...(variables.length === 0 ? [] : [`  variables: ${variables.join(" ")}`]),
    `  options: ${[model, "--port", ...applicableOptions(engine)].join(", ")}`,
    ...window.map((text) => `  ${text}`),
    ...engine.notes.map((note) => `  ${note}`),
  ].join("\n");
}

function commandText(command: Command, engine: Engine): string {
  const values = { ...SAMPLE, port: String(engine.port) };
  const words = command.words.map((word) => fill(word, values) ?? word);
  const options = command.options.map((option) => {
    const value = option.value === undefined ? "" : ` ${fill(option.value, values) ?? option.value}`;
    return option.required && !/\{(?:model|tensor|pipeline|ray)/.test(option.value ?? "")
      ? `${option.flag}${value}`
      : `[${option.flag}${value}]`;
  });
  return [command.programs[0], ...words, ...options].join(" ");
}

const OWN = `Own engines: a template in providers.yaml, started with --engine <name>:
  engines:
    sglang:
      command: [python, -m, sglang.launch_server, --model-path, "{model}", --host, "{host}", --port, "{port}", --context-length, "{context_window}"]
      ready: /health
      port: 30000
      env: { HF_HUB_OFFLINE: "1" }
  {model}, {host}, {port} and {context_window} are replaced; each entry stays one word, no shell reads it.`;
