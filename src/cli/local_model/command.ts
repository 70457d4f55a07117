/** `agentcli local-model`: start the server of a local model, see what runs, end it. */
import { command, flag, group, integer, type Options, text } from "../command.ts";

const VLLM = { group: "Several GPUs or machines (runtime_c)" };

export const SERVE_OPTIONS = {
  engine: text("ID", "Engine to start: runtime_a to runtime_d, engine_e, or a template of your own", {
    completion: "engine",
  }),
  model: text("MODEL", "Model id, or a model file or directory", { completion: "file" }),
  port: integer("N", "Port to listen on (default: that of the engine)", { minimum: 1, maximum: 65_535 }),
  host: text("ADDRESS", "Address to listen on (default: 127.0.0.1, this machine only)"),
  contextWindow: integer("TOKENS", "Context window of one conversation, in tokens", {
    minimum: 256,
    maximum: 100_000_000,
  }),
  parallel: integer("N", "Concurrent conversations (default: 1, or as the engine decides)", {
    minimum: 1,
    maximum: 4096,
  }),
  apiKey: text("KEY", "API key that clients must send; prefer '$NAME', an environment variable"),
  download: flag("Let the engine download models: its offline options are not passed"),
  tensorParallel: integer("N", "GPUs of each machine that share the model", { minimum: 1, maximum: 4096, ...VLLM }),
  pipelineParallel: integer("N", "Machines that share the model", { minimum: 1, maximum: 4096, ...VLLM }),
  ray: flag("Distribute the model over machines with Ray", VLLM),
  dryRun: flag("Start nothing; print the command and its variables"),
  detach: flag("Run in the background; see local-model status and stop"),
  register: flag("Add the server and its models to providers.yaml"),
} as const satisfies Options;

export const STOP_OPTIONS = {
  all: flag("Stop all engines started with --detach"),
} as const satisfies Options;

const serveCommand = command({
  brief: "Start a local model server",
  detail:
    "Prints the command, runs it, and reports when the model is ready. Without --detach, it runs until Ctrl-C and shows the log. If a server of the same engine is already running, it is used as it is. Options for the engine itself follow --.",
  arguments: [{
    name: "engine-option",
    brief: "After --: passed through to the engine",
    optional: true,
    repeated: true,
  }],
  options: SERVE_OPTIONS,
  examples: [
    "agentcli local-model serve --engine runtime_a --model qwen3:8b --register",
    "agentcli local-model serve --engine runtime_d --model ./model.gguf --detach",
    "agentcli local-model serve --engine runtime_d --model ./model.gguf --dry-run -- --threads 4",
    "agentcli local-model serve --engine runtime_c --help",
  ],
  moreHelp: async (options) => (await import("./engine_help.ts")).engineHelp(options),
  load: async () => (await import("./serve.ts")).run,
});

const statusCommand = command({
  brief: "Show engines started with --detach",
  examples: ["agentcli local-model status", "agentcli local-model status --json"],
  load: async () => (await import("./detached.ts")).printStatus,
});

const stopCommand = command({
  brief: "Stop engines started with --detach",
  detail: "Stops the process and its children, and only if it is still the process that was started.",
  arguments: [{ name: "engine", brief: "A name of local-model status", optional: true, completion: "engine" }],
  options: STOP_OPTIONS,
  examples: ["agentcli local-model stop runtime_d", "agentcli local-model stop --all"],
  load: async () => (await import("./detached.ts")).stopEngines,
});

export const localModelCommand = group({
  brief: "Start and stop local model servers",
  commands: { serve: serveCommand, status: statusCommand, stop: stopCommand },
});
