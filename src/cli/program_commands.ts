/**
 * Declarations of the commands about the program itself: help, completions, settings, checks, servers and models to
 * find.
 */
import { command, flag, group, integer, list, text } from "./command.ts";

export const authCommand = group({
  brief: "Report whether a session can start, for protocol clients",
  commands: {
    status: command({
      brief: "Print the provider in use and the source of its key",
      examples: ["agentcli auth status --json"],
      load: async () => (await import("./auth_status.ts")).run,
    }),
  },
});

/** Shells with a completion script. */
export const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;
export type Shell = typeof SHELLS[number];

export const COMPLETE_OPTIONS = {
  word: text("WORD", "The word being typed, up to the cursor", { hidden: true }),
  line: text("LINE", "The whole line up to the cursor, in place of the words", { hidden: true }),
  breaks: text("SIGNS", "Where the shell splits words", { hidden: true }),
} as const;

export const completionsCommand = command({
  brief: "Print a completion script for a shell",
  detail:
    'Providers, models, roles, settings and sessions are looked up on each completion; no server is contacted. To enable it, add a line to the startup file of your shell: for bash and zsh  eval "$(agentcli completions bash)"  with the name of the shell, for fish  agentcli completions fish | source',
  arguments: [{ name: "shell", brief: SHELLS.join(", "), values: SHELLS }],
  examples: ["agentcli completions bash", "agentcli completions fish"],
  load: async () => (await import("./completions/scripts.ts")).run,
});

export const completeCommand = command({
  brief: "Print the completions at the cursor",
  arguments: [{ name: "word", brief: "A word before the cursor", optional: true, repeated: true }],
  options: COMPLETE_OPTIONS,
  examples: [],
  hidden: true,
  load: async () => (await import("./completions/complete.ts")).run,
});

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
      load: async () => (await import("./config.ts")).setSetting,
    }),
    get: command({
      brief: "Print the value of a setting; exit 1 if it is not set",
      arguments: [KEY],
      examples: ["agentcli config get default_model"],
      load: async () => (await import("./config.ts")).getSetting,
    }),
    list: command({
      brief: "Print all settings that have a value",
      examples: ["agentcli config list", "agentcli config list --json"],
      load: async () => (await import("./config.ts")).listSettings,
    }),
    unset: command({
      brief: "Remove a setting",
      arguments: [KEY],
      examples: ["agentcli config unset default_model"],
      load: async () => (await import("./config.ts")).unsetSetting,
    }),
    path: command({
      brief: "Print the path of providers.yaml",
      examples: ["agentcli config path"],
      load: async () => (await import("./config.ts")).printPath,
    }),
    schema: command({
      brief: "Print the JSON Schema of providers.yaml",
      options: SCHEMA_OPTIONS,
      examples: ["agentcli config schema", "agentcli config schema --protocol"],
      load: async () => (await import("./config.ts")).printSchema,
    }),
  },
});

export const doctorCommand = command({
  brief: "Check the installation and its configuration; exit 1 if a check fails",
  detail:
    "Prints one line per check, [OK ], [WARN] or [FAIL], followed by what to do about it. Contacts the configured servers, checks that protected files can be hidden from commands, and runs a turn with the built-in model. With --json, prints {ok, version, checks: [{id, state, message, hint, facts}]}: state is ok, warn or fail; id is version, home, configuration, key_store, providers, provider (one for each), boundary, sandbox, git, ripgrep, shell, terminal, proxy, telemetry or demo.",
  examples: ["agentcli doctor", "agentcli doctor --json"],
  load: async () => (await import("./doctor/run.ts")).run,
});

export const helpCommand = command({
  brief: "Print help for a command or a topic: configuration, models, no-cloud, permissions, exit-codes",
  arguments: [
    { name: "topic", brief: "A topic or a command", optional: true, repeated: true, completion: "topic" },
  ],
  examples: ["agentcli help", "agentcli help no-cloud", "agentcli help providers add"],
  load: async () => (await import("./help/run.ts")).showHelp,
});

export const versionCommand = command({
  brief: "Print the version, commit, build form and runtime",
  examples: ["agentcli version", "agentcli version --json"],
  load: async () => (await import("./help/run.ts")).showVersion,
});

export const INIT_PROVIDERS_OPTIONS = {
  dryRun: flag("Print the changes as a diff and write nothing"),
  timeout: integer("MS", "Timeout for each address, in milliseconds (default: 2000)", {
    minimum: 1,
    maximum: 600_000,
  }),
  host: list("HOST", "Search this host instead of localhost, with or without a port; can be repeated"),
} as const;

export const initProvidersCommand = command({
  brief: "Find local model servers and write providers.yaml",
  detail:
    "Queries the default ports of local model servers for their models, with plain requests and no key. Your entries in providers.yaml stay as they are: new models are added; missing models are reported and kept. On a terminal, offers to choose a default model if none is set; --yes skips the question.",
  options: INIT_PROVIDERS_OPTIONS,
  examples: [
    "agentcli init-providers",
    "agentcli init-providers --dry-run",
    "agentcli init-providers --host 192.168.1.20 --timeout 5000",
  ],
  connects: "here",
  load: async () => (await import("./init_providers/run.ts")).run,
});

export const modelsCommand = group({
  brief: "Suggest models that fit this machine",
  commands: {
    suggest: command({
      brief: "Suggest up to three models that fit this machine, with the commands to get them",
      detail:
        "Reads the memory of the machine and of its graphics card, and compares it with a dated table in this program. Nothing is downloaded, and no network is used.",
      examples: ["agentcli models suggest", "agentcli models suggest --json"],
      load: async () => (await import("./models.ts")).suggestModels,
    }),
  },
});

export const UPGRADE_OPTIONS = {
  from: text("URL", "Address of the releases (default: the one this program was released at)"),
} as const;

export const upgradeCommand = command({
  brief: "Look up whether there is a newer release; changes nothing",
  detail:
    "The only command that looks for new versions, and only when you run it: one request, which says nothing about you or your project. Prints what to run if there is a newer release. An address of GitHub releases is looked up with GitHub's API; any other address is a folder with a NOTES.md of a release.",
  options: UPGRADE_OPTIONS,
  examples: ["agentcli upgrade", "agentcli upgrade --from https://mirror.example.com/agentcli/latest --json"],
  load: async () => (await import("./upgrade.ts")).lookUpRelease,
});
