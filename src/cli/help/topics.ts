/** The topics of `agentcli help`. Lists in them come from the declarations that the program itself uses. */
import { RUNTIMES } from "../../config/base_url.ts";
import { SETTINGS } from "../../config/settings.ts";
import type { PermissionMode, Role } from "../../config/types.ts";
import { EXIT_CODES } from "./text.ts";

/** A part of a topic: a paragraph, two columns, or lines that stay as they are. */
export type Section =
  | { kind: "text"; text: string }
  | { kind: "rows"; heading: string; rows: readonly (readonly [string, string])[] }
  | { kind: "lines"; heading: string; lines: readonly string[] };

export interface Topic {
  name: string;
  brief: string;
  sections: readonly Section[];
}

const text = (words: string): Section => ({ kind: "text", text: words });
const rows = (heading: string, pairs: readonly (readonly [string, string])[]): Section => ({
  kind: "rows",
  heading,
  rows: pairs,
});
const lines = (heading: string, ...given: string[]): Section => ({ kind: "lines", heading, lines: given });

const ROLE_BRIEFS: Record<Role, string> = {
  main: "agent turns",
  compact: "summaries of long sessions",
  subagent: "work delegated to another model",
};

const MODE_BRIEFS: Record<PermissionMode, string> = {
  default: "reads inside the project run; everything else asks on a terminal, and is denied elsewhere",
  acceptEdits: "file changes inside the project run, too",
  plan: "reading only; nothing else can be allowed",
  bypassPermissions: "everything runs, except what a deny rule or the no-cloud rule forbids",
};

const configuration: Topic = {
  name: "configuration",
  brief: "The home, providers.yaml, settings and keys",
  sections: [
    text(
      "All files of the program are in one directory, the home: $AGENTCLI_HOME, or ~/.agentcli. Providers, their models and all settings are in its file providers.yaml, which you can edit by hand: commands that change it keep your comments and order. `agentcli config path` prints its path, `agentcli config schema` its JSON Schema.",
    ),
    rows("Settings (agentcli config set):", SETTINGS.map(({ key, brief }) => [key, brief])),
    rows("Files of the home:", [
      ["providers.yaml", "providers, models, roles, settings"],
      ["projects/", "sessions, and the protection records of projects"],
      ["credentials.json", "keys, only with set-key --store file; credentials.key beside it opens them"],
      ["cache/", "data that can be recreated"],
      ["undo/", "earlier versions of files changed by tools and commands"],
    ]),
    rows("Values of api_key:", [
      ["keyring, file", "the key is stored; agentcli providers set-key writes this"],
      ["$NAME, ${NAME}", "the key is in that environment variable; $$x is a literal $x"],
      ["local", "no key, on a loopback address; the same as no api_key there"],
      ["none", "no key is sent"],
      ["anything else", "the key itself"],
    ]),
    rows("Environment:", [
      ["AGENTCLI_HOME", "the home, an absolute path; it must belong to the user who runs agentcli, including root"],
      ["AGENTCLI_MODEL", "the model to use without --model"],
      ["STUDIO_F_BASE_URL", "overrides the base URL of studio_f"],
      ["STUDIO_F_API_KEY", "the key of the preconfigured provider studio_f"],
      [
        "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY",
        "how remote providers are reached; local ones never use a proxy",
      ],
      ["NO_COLOR, FORCE_COLOR", "no colors, or colors without a terminal"],
    ]),
  ],
};

const models: Topic = {
  name: "models",
  brief: "How the model is chosen, and what roles models have",
  sections: [
    text(
      "A model is named <provider>[:<model or alias>]. The name is split at its first colon, so ids with colons stay whole: runtime_a:qwen3:8b. A model that only one provider has can be named alone, and a model file without its directory. If only a provider is named, its model with role main is used, or its only model.",
    ),
    rows("The first of these that is set decides:", [
      ["1", "--model"],
      ["2", "AGENTCLI_MODEL"],
      ["3", "default_provider and default_model"],
      ["4", "roles.main"],
      ["5", "the only provider that has models"],
      ["6", "the model of the session that --continue or --resume continues"],
      ["7", "the only model that the server of the only provider has"],
    ]),
    rows("Roles (agentcli providers role set):", Object.entries(ROLE_BRIEFS)),
    rows("Fields of a model in providers.yaml besides its id:", [
      ["alias", "a short name for --model, or a list of them"],
      ["role", "main, compact or subagent"],
      ["context_window", "tokens that the server provides; without it, the server is asked"],
      ["max_tokens", "the limit of one response"],
      ["params", "request fields that are sent as they are: { temperature: 0.2 }"],
      ["tool_calls", "native, text (described in the prompt) or none; detected if absent"],
      [
        "reasoning",
        "keep: the model's reasoning is sent back with the history; drop: it is not, which saves tokens; if absent, as the server or the family of the model needs it",
      ],
      ["max_result", "tokens of one tool result, at least 100; an eighth of the window"],
      ["max_reasoning", "tokens of reasoning in one response, 0 for no limit; 4096 or a quarter of a smaller window"],
      [
        "warm_up",
        "true: in a chat the server reads a resumed or summarized session while you type, instead of after it; costs power",
      ],
      ["edit", "replace, or whole: files are rewritten completely, for models that cannot quote part of a file"],
      ["images", "true or false, if the server does not report whether the model accepts images"],
    ]),
    rows(
      "Servers known by name:",
      RUNTIMES.map(({ id, product, baseUrl, aliases: [alias = id] }) => [alias, `${product} (${id}), ${baseUrl}`]),
    ),
    text("The model demo is always available: it is scripted, needs no server, and shows what a turn looks like."),
    lines(
      "Examples:",
      "agentcli init-providers",
      "agentcli config set default_provider runtime_a --yes",
      'agentcli run --model runtime_a:qwen3:8b "What is in this directory?"',
    ),
  ],
};

const noCloud: Topic = {
  name: "no-cloud",
  brief: "Files that only local models may read",
  sections: [
    text(
      "A file .agentclisecret in the root of a project lists what must not leave your machines. Only local models can read it: for other models every tool refuses, and a session that has read it stays with local models.",
    ),
    lines(
      ".agentclisecret:",
      "no-cloud: .env",
      "no-cloud: secrets",
      "local-endpoints: build-server:8080",
    ),
    rows("A provider is local when its address is:", [
      ["localhost, 127.0.0.1, [::1]", "always"],
      ["a host of local-endpoints", "host for any port, host:port for that one"],
    ]),
    text(
      "The home remembers each project that ever had a marker. A removed line still protects, and a host added to local-endpoints later has no effect, until you accept the change with `agentcli secrets trust`.",
    ),
    text(
      "A loopback address does not say where the model runs: cloud models of Ollama and recognized gateways still count as remote, but tunnels (ssh -L and the like) cannot be detected. `agentcli doctor` names the listening process if the system reports it.",
    ),
    text(
      "Commands run by a model run in a sandbox that hides these files; if no sandbox is available, they do not run in such projects.",
    ),
    lines(
      "Examples:",
      "agentcli secrets add .env",
      "agentcli secrets list",
      "agentcli secrets check .env --model runtime_a",
    ),
  ],
};

const permissions: Topic = {
  name: "permissions",
  brief: "What a model may do, and how to allow more",
  sections: [
    rows("Modes (--permission-mode):", Object.entries(MODE_BRIEFS)),
    text(
      "Rules allow or deny single calls, and a deny rule always wins. A rule is the name of a tool, or a name with a pattern in parentheses: a path for tools that work on files, the beginning of a command for Bash. A rule for a command covers that command alone: of commands joined with ; && || or | each needs a rule, and none covers redirections into files, substitutions, or a shell after a pipe.",
    ),
    rows("Rules:", [
      ["Edit", "every change of the tool Edit"],
      ["Write(src/**)", "new files below src"],
      ["Bash(git log:*)", "git log with any arguments"],
      ["Bash(deno test)", "exactly that command"],
    ]),
    rows("Where rules come from:", [
      ["--allowed-tools, --disallowed-tools", "for one run"],
      ["permissions.allow, permissions.deny", "settings, for every run"],
      ["'always' in a chat", "for this project, kept in the home; /permissions removes them"],
    ]),
    text(
      "Without a terminal, nobody can be asked: a call that no rule allows is denied, the model learns that, and the turn continues. The exit code is 6 if the last call of any tool was denied this way.",
    ),
    lines(
      "Examples:",
      'agentcli run --permission-mode acceptEdits "Fix the typo in README.md"',
      "agentcli run --allowed-tools 'Edit,Bash(deno test:*)' \"Make the tests pass\"",
      "agentcli config set permissions.allow '[\"Bash(git status)\"]' --yes",
    ),
  ],
};

const exitCodes: Topic = {
  name: "exit-codes",
  brief: "Meanings of the exit codes",
  sections: [
    rows("Exit codes:", EXIT_CODES),
    text(
      'They never depend on an HTTP status. With --json, the failure itself is an object on standard output: {"error":{"code":…,"message":…,"hint":…}}.',
    ),
  ],
};

export const TOPICS: readonly Topic[] = [configuration, models, noCloud, permissions, exitCodes];
