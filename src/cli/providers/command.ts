/** `agentcli providers …`: the servers, their models and roles. */
import { choice, command, flag, group, integer, text } from "../command.ts";
import { KEY_STORES } from "../../config/keys/store.ts";

export const PROBE_OPTIONS = {
  write: flag("Write the results to providers.yaml: context_window, tool_calls, reasoning"),
  timeout: integer("SECONDS", "Time limit for all checks, in seconds (default: 300)", { minimum: 1, maximum: 86_400 }),
  maxPrompt: integer("TOKENS", "Longest prompt used to verify the context window, in tokens (default: 32768)", {
    minimum: 512,
    maximum: 10_000_000,
  }),
} as const;

const probeCommand = command({
  brief: "Measure one model: window, speed, tool calls, edits",
  detail:
    "Sends about twenty requests with made-up text, none of your own. The server may load the model, and a provider that charges for tokens charges for these. Exit 0 if the model responds, whatever else it can do. `stop on abort` says little about a server that handles several requests at once.",
  arguments: [{
    name: "model",
    brief: "<provider>[:<model or alias>]; default: the model that `run` uses",
    completion: "model",
    optional: true,
  }],
  options: PROBE_OPTIONS,
  examples: [
    "agentcli providers probe demo",
    "agentcli providers probe runtime_a:qwen3:8b --write",
    "agentcli providers probe runtime_b --max-prompt 8192 --timeout 120 --json",
  ],
  connects: "here",
  load: async () => (await import("./probe/run.ts")).run,
});

const PROVIDER = { name: "provider", brief: "A configured provider", completion: "provider" } as const;
const ROLE = { name: "role", brief: "main, compact or subagent", completion: "role" } as const;

export const ADD_OPTIONS = {
  baseUrl: text("URL", "Base URL with its path, for example http://localhost:1919/v1"),
  type: text("TYPE", "API type: openai_compat, the default and only one"),
  apiKey: text("KEY", "The key, '$NAME' for an environment variable, or local or none for servers without keys"),
  model: text("ID", "A model that the server serves"),
  replace: flag("Replace an existing provider of that name, including its key and models"),
} as const;

export const SET_KEY_OPTIONS = {
  store: choice(KEY_STORES, "keyring: the system keyring, the default; file: credentials.json in the home"),
} as const;

export const MODEL_ADD_OPTIONS = {
  role: text("ROLE", "What the model does: main, compact or subagent", { completion: "role" }),
  contextWindow: integer("TOKENS", "Context window that the server provides, in tokens", {
    minimum: 1,
    maximum: 1_000_000_000,
  }),
  alias: text("NAME", "A short name for --model"),
} as const;

const modelCommands = group({
  brief: "The models of a provider",
  commands: {
    add: command({
      brief: "Add a model, or update the given fields",
      arguments: [PROVIDER, { name: "model_id", brief: "The id as the server lists it" }],
      options: MODEL_ADD_OPTIONS,
      examples: [
        "agentcli providers model add runtime_a qwen3:8b --role main --context-window 32768",
        "agentcli providers model add runtime_a qwen3-coder:30b --alias coder",
      ],
      load: async () => (await import("./models.ts")).addModel,
    }),
    list: command({
      brief: "List the configured models",
      arguments: [{ ...PROVIDER, optional: true }],
      examples: ["agentcli providers model list", "agentcli providers model list runtime_a --json"],
      load: async () => (await import("./models.ts")).listModels,
    }),
    remove: command({
      brief: "Remove a model from the configuration",
      arguments: [PROVIDER, { name: "model", brief: "Its id or alias", completion: "model" }],
      examples: ["agentcli providers model remove runtime_a qwen3:8b"],
      load: async () => (await import("./models.ts")).removeModel,
    }),
  },
});

const roleCommands = group({
  brief: "Assign roles to models",
  commands: {
    set: command({
      brief: "Assign a role to a model",
      arguments: [ROLE, { name: "model", brief: "<provider>[:<model or alias>]", completion: "model" }],
      examples: ["agentcli providers role set compact runtime_a:qwen3:1.7b"],
      load: async () => (await import("./models.ts")).setRole,
    }),
    list: command({
      brief: "List the roles and their models",
      examples: ["agentcli providers role list"],
      load: async () => (await import("./models.ts")).listRoles,
    }),
    unset: command({
      brief: "Remove a role; the session's model does that work again",
      arguments: [ROLE],
      examples: ["agentcli providers role unset compact"],
      load: async () => (await import("./models.ts")).unsetRole,
    }),
  },
});

export const providersCommand = group({
  brief: "List, change and check model servers",
  commands: {
    list: command({
      brief: "List the providers and their models",
      examples: ["agentcli providers list", "agentcli providers list --json"],
      load: async () => (await import("./run.ts")).listProviders,
    }),
    add: command({
      brief: "Add a provider",
      detail: "A name consists of lowercase letters, digits, `_`, `.` and `-`. Never asks for confirmation.",
      arguments: [{ name: "name", brief: "Name of the provider" }],
      options: ADD_OPTIONS,
      examples: [
        "agentcli providers add engine_e --base-url http://localhost:1919/v1 --api-key local --model my-model",
        "agentcli providers add hosted --base-url https://api.example.com/v1 --api-key '$HOSTED_KEY'",
      ],
      load: async () => (await import("./run.ts")).addProvider,
    }),
    remove: command({
      brief: "Remove a provider, after confirmation",
      arguments: [PROVIDER],
      examples: ["agentcli providers remove engine_e --yes"],
      load: async () => (await import("./run.ts")).removeProvider,
    }),
    "set-key": command({
      brief: "Store the key of a provider",
      detail:
        "Asks for the key without showing it, or reads it from standard input. The key is bound to the provider's name and current address: if the address changes, the key is no longer sent and must be set again. The file is encrypted with a key stored beside it, which only protects it from a casual look.",
      arguments: [PROVIDER],
      options: SET_KEY_OPTIONS,
      examples: [
        "agentcli providers set-key engine_e",
        "pass show engine_e | agentcli providers set-key engine_e --store file",
      ],
      load: async () => (await import("./keys.ts")).setKey,
    }),
    "unset-key": command({
      brief: "Remove the stored key of a provider",
      arguments: [PROVIDER],
      examples: ["agentcli providers unset-key engine_e"],
      load: async () => (await import("./keys.ts")).unsetKey,
    }),
    validate: command({
      brief: "Check that keys resolve and servers respond; exit 1 if one does not",
      arguments: [{ ...PROVIDER, optional: true, repeated: true }],
      examples: ["agentcli providers validate", "agentcli providers validate runtime_a --json"],
      connects: "here",
      load: async () => (await import("./run.ts")).validateProviders,
    }),
    probe: probeCommand,
    model: modelCommands,
    role: roleCommands,
  },
});
