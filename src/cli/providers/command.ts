/** `agentcli providers …`: the servers, their models and roles. */
import { choice, command, flag, group, integer, text } from "../command.ts";
import { KEY_STORES } from "../../config/keys/store.ts";

export const PROBE_OPTIONS = {
  write: flag("Store what was found in providers.yaml: context_window, tool_calls, reasoning"),
  timeout: integer("SECONDS", "Longest time for everything (default: 300)", { minimum: 1, maximum: 86_400 }),
  maxPrompt: integer("TOKENS", "Longest prompt that is sent to prove the window (default: 32768)", {
    minimum: 512,
    maximum: 10_000_000,
  }),
} as const;

const probeCommand = command({
  brief: "Measure one model: window, speed, tool calls, edits",
  detail:
    "Sends about twenty requests with made-up text, nothing of yours. The server may load the model for it, and a provider that charges for tokens charges for these. Exit 0 when the model replies, whatever else it can do. Of a server that writes several replies at once, `stop on abort` says little.",
  arguments: [{ name: "model", brief: "<provider>[:<model or alias>]", completion: "model" }],
  options: PROBE_OPTIONS,
  examples: [
    "agentcli providers probe demo",
    "agentcli providers probe runtime_a:qwen3:8b --write",
    "agentcli providers probe runtime_b --max-prompt 8192 --timeout 120 --json",
  ],
  connects: true,
  load: async () => (await import("./probe/run.ts")).run,
});

const PROVIDER = { name: "provider", brief: "A configured provider", completion: "provider" } as const;
const ROLE = { name: "role", brief: "main, compact or subagent", completion: "role" } as const;

export const ADD_OPTIONS = {
  baseUrl: text("URL", "Address with its path, for example http://localhost:1919/v1"),
  type: text("TYPE", "How the server is spoken to: openai_compat, the default"),
  apiKey: text("KEY", "A literal, '$NAME' for a variable, or local or none for servers without keys"),
  model: text("ID", "A model the server has"),
  replace: flag("Replace a provider of that name as a whole, its key and models too"),
} as const;

export const SET_KEY_OPTIONS = {
  store: choice(KEY_STORES, "keyring: the keyring of the system, the default; file: credentials.json in the home"),
} as const;

export const MODEL_ADD_OPTIONS = {
  role: text("ROLE", "What the model does: main, compact or subagent", { completion: "role" }),
  contextWindow: integer("TOKENS", "Tokens the server really gives", { minimum: 1, maximum: 1_000_000_000 }),
  alias: text("NAME", "A short name for --model"),
} as const;

const modelCommands = group({
  brief: "The models of a provider",
  commands: {
    add: command({
      brief: "Add a model, or update the fields given",
      arguments: [PROVIDER, { name: "model_id", brief: "The id the server lists" }],
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
      options: {},
      examples: ["agentcli providers model list", "agentcli providers model list runtime_a --json"],
      load: async () => (await import("./models.ts")).listModels,
    }),
    remove: command({
      brief: "Remove a model from the configuration",
      arguments: [PROVIDER, { name: "model", brief: "Its id or alias", completion: "model" }],
      options: {},
      examples: ["agentcli providers model remove runtime_a qwen3:8b"],
      load: async () => (await import("./models.ts")).removeModel,
    }),
  },
});

const roleCommands = group({
  brief: "Which model does which work",
  commands: {
    set: command({
      brief: "Give a role to a model",
      arguments: [ROLE, { name: "model", brief: "<provider>[:<model or alias>]", completion: "model" }],
      options: {},
      examples: ["agentcli providers role set compact runtime_a:qwen3:1.7b"],
      load: async () => (await import("./models.ts")).setRole,
    }),
    list: command({
      brief: "List the roles and who has them",
      arguments: [],
      options: {},
      examples: ["agentcli providers role list"],
      load: async () => (await import("./models.ts")).listRoles,
    }),
    unset: command({
      brief: "Take a role away; the model of the session does that work again",
      arguments: [ROLE],
      options: {},
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
      arguments: [],
      options: {},
      examples: ["agentcli providers list", "agentcli providers list --json"],
      load: async () => (await import("./run.ts")).listProviders,
    }),
    add: command({
      brief: "Add a provider",
      detail: "A name is made of lower-case letters, digits, `_`, `.` and `-`. Never asks.",
      arguments: [{ name: "name", brief: "What to call it" }],
      options: ADD_OPTIONS,
      examples: [
        "agentcli providers add engine_e --base-url http://localhost:1919/v1 --api-key local --model my-model",
        "agentcli providers add hosted --base-url https://api.example.com/v1 --api-key '$HOSTED_KEY'",
      ],
      load: async () => (await import("./run.ts")).addProvider,
    }),
    remove: command({
      brief: "Remove a provider, after asking",
      arguments: [PROVIDER],
      options: {},
      examples: ["agentcli providers remove engine_e --yes"],
      load: async () => (await import("./run.ts")).removeProvider,
    }),
    "set-key": command({
      brief: "Store the key of a provider",
      detail:
        "Asks for the key without showing it, or reads it from standard input. It is bound to the provider's name and the address it has now: after the address changes it is not sent, and has to be set again. The file is encrypted with a key that lies beside it, which only hides it from a casual look.",
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
      options: {},
      examples: ["agentcli providers unset-key engine_e"],
      load: async () => (await import("./keys.ts")).unsetKey,
    }),
    validate: command({
      brief: "Check that keys resolve and servers answer; exit 1 when one does not",
      arguments: [{ ...PROVIDER, optional: true, repeated: true }],
      options: {},
      examples: ["agentcli providers validate", "agentcli providers validate runtime_a --json"],
      connects: true,
      load: async () => (await import("./run.ts")).validateProviders,
    }),
    probe: probeCommand,
    model: modelCommands,
    role: roleCommands,
  },
});
