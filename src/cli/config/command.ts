/** `agentcli config …`: settings of providers.yaml. */
import { command, flag, group } from "../command.ts";

const KEY = { name: "key", brief: "A setting, for example default_model", completion: "setting" } as const;

export const SCHEMA_OPTIONS = {
  protocol: flag("Print the schema of the stream-json events instead"),
} as const;

export const configCommand = group({
  brief: "Read and change settings",
  commands: {
    set: command({
      brief: "Change a setting",
      detail:
        "Shows the old and new value and asks for confirmation; without a terminal, --yes is required. A list setting takes one entry or a JSON list.",
      arguments: [KEY, { name: "value", brief: "The new value", completion: "setting_value" }],
      examples: [
        "agentcli config set default_provider runtime_a --yes",
        "agentcli config set default_model qwen3:8b --yes",
        "agentcli config set roles.compact runtime_a:qwen3:1.7b --yes",
      ],
      load: async () => (await import("./run.ts")).setSetting,
    }),
    get: command({
      brief: "Print the value of a setting; exit 1 if it is not set",
      arguments: [KEY],
      examples: ["agentcli config get default_model"],
      load: async () => (await import("./run.ts")).getSetting,
    }),
    list: command({
      brief: "Print all settings that have a value",
      examples: ["agentcli config list", "agentcli config list --json"],
      load: async () => (await import("./run.ts")).listSettings,
    }),
    unset: command({
      brief: "Remove a setting",
      arguments: [KEY],
      examples: ["agentcli config unset default_model"],
      load: async () => (await import("./run.ts")).unsetSetting,
    }),
    path: command({
      brief: "Print the path of providers.yaml",
      examples: ["agentcli config path"],
      load: async () => (await import("./run.ts")).printPath,
    }),
    schema: command({
      brief: "Print the JSON Schema of providers.yaml",
      options: SCHEMA_OPTIONS,
      examples: ["agentcli config schema", "agentcli config schema --protocol"],
      load: async () => (await import("./run.ts")).printSchema,
    }),
  },
});
