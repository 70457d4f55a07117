/** `agentcli local-model`: start the server of a local model, see what runs, end it. */
import { command, flag, group, integer, type Options, text } from "../command.ts";

const VLLM = { group: "Several cards or machines (runtime_c)" };

export const SERVE_OPTIONS = {
  engine: text("ID", "What to start: runtime_a to runtime_d, engine_e, or a template of yours", {
    completion: "engine",
  }),
  model: text("MODEL", "Id of a model, or a file or directory with one", { completion: "file" }),
  port: integer("N", "Port to listen on (default: the usual one of the engine)", { minimum: 1, maximum: 65_535 }),
  host: text("ADDRESS", "Address to listen on (default: 127.0.0.1, this machine alone)"),
  contextWindow: integer("TOKENS", "Tokens of one conversation", { minimum: 256, maximum: 100_000_000 }),
  parallel: integer("N", "Conversations at the same time (default: 1, or as the engine decides)", {
    minimum: 1,
    maximum: 4096,
  }),
  apiKey: text("KEY", "Key that requests must carry; better as '$NAME', a variable"),
  download: flag("Let the engine fetch models: leaves out its offline switches"),
  tensorParallel: integer("N", "Cards of each machine that share the model", { minimum: 1, maximum: 4096, ...VLLM }),
  pipelineParallel: integer("N", "Machines that share the model", { minimum: 1, maximum: 4096, ...VLLM }),
  ray: flag("Spread it over machines with Ray", VLLM),
  dryRun: flag("Start nothing; print the command and its variables"),
  detach: flag("Leave it running; see local-model status and stop"),
  register: flag("Add the server and its models to providers.yaml"),
} as const satisfies Options;

export const STOP_OPTIONS = {
  all: flag("End everything that was started with --detach"),
} as const satisfies Options;

const serveCommand = command({
  brief: "Start the server of a local model",
  detail:
    "Prints the command, runs it, and says when the model can be asked. Without --detach it runs until Ctrl-C, and its log is shown. A server of the same engine that is there already is used as it is. Options of the engine itself follow after --.",
  arguments: [{
    name: "engine-option",
    brief: "After --: passed to the engine as it is",
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
  brief: "Show what was started with --detach",
  arguments: [],
  options: {},
  examples: ["agentcli local-model status", "agentcli local-model status --json"],
  load: async () => (await import("./detached.ts")).printStatus,
});

const stopCommand = command({
  brief: "End what was started with --detach",
  detail: "Ends the process and all it started, and only when it is still the one that was started.",
  arguments: [{ name: "engine", brief: "A name of local-model status", optional: true, completion: "engine" }],
  options: STOP_OPTIONS,
  examples: ["agentcli local-model stop runtime_d", "agentcli local-model stop --all"],
  load: async () => (await import("./detached.ts")).stopEngines,
});

export const localModelCommand = group({
  brief: "Start and end servers of local models",
  commands: { serve: serveCommand, status: statusCommand, stop: stopCommand },
});
