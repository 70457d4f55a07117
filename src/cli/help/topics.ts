/** The topics of `agentcli help`. Lists in them come from the declarations that the program itself uses. */
import { RUNTIMES } from "../../config/base_url.ts";
import { SETTINGS } from "../../config/settings.ts";
import type { PermissionMode, Role } from "../../config/types.ts";
import { EXIT_CODES } from "./text.ts";

/** A part of a topic: a paragraph, two columns, or lines that stand as they are. */
export type Section =
  | { kind: "text"; text: string }
  | { kind: "rows"; heading: string; rows: readonly (readonly [string, string])[] }
  | { kind: "lines"; heading: string; lines: readonly string[] };

/** One topic. */
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
  subagent: "work that is handed to another model",
};

const MODE_BRIEFS: Record<PermissionMode, string> = {
  default: "reading inside the project runs; everything else is asked for on a terminal, and denied elsewhere",
  acceptEdits: "changes to files inside the project run too",
  plan: "reading only; nothing else can be allowed",
  bypassPermissions: "everything runs, except what a deny rule or the no-cloud rule forbids",
};

const configuration: Topic = {
  name: "configuration",
  brief: "The home, providers.yaml, settings and keys",
  sections: [
    text(
      "Everything of the program lies in one directory, the home: $AGENTCLI_HOME, or ~/.agentcli. Providers, their models and all settings are in its file providers.yaml, which you may edit by hand: the commands that change it keep your comments and order. `agentcli config path` prints where it is, `agentcli config schema` what may be in it.",
    ),
    rows("Settings (agentcli config set):", SETTINGS.map(({ key, brief }) => [key, brief])),
    rows("Files of the home:", [
      ["providers.yaml", "providers, models, roles, settings"],
      ["projects/", "sessions, and what projects with a marker may do"],
      ["credentials.json", "keys, only with set-key --store file; credentials.key beside it opens them"],
      ["cache/", "what can be found out again"],
      ["undo/", "earlier versions of files that tools changed"],
    ]),
    rows("What api_key of a provider says:", [
      ["keyring, file", "the key is stored; agentcli providers set-key writes this"],
      ["$NAME, ${NAME}", "the key is in that environment variable; $$x is a literal $x"],
      ["local", "no key, on a loopback address; the same as no api_key there"],
      ["none", "no key is sent"],
      ["anything else", "the key itself"],
    ]),
    rows("Environment:", [
      ["AGENTCLI_HOME", "the home, an absolute path; it has to belong to the user who runs agentcli, root included"],
      ["AGENTCLI_MODEL", "which model answers when --model is not given"],
      ["STUDIO_F_BASE_URL", "overrides the base URL of studio_f"],
      ["STUDIO_F_API_KEY", "the key of studio_f as it is shipped"],
      [
        "HTTP_PROXY, HTTPS_PROXY, ALL_PROXY, NO_PROXY",
        "how remote providers are reached; local ones never use a proxy",
      ],
      ["NO_COLOR, FORCE_COLOR", "no colours, or colours without a terminal"],
    ]),
  ],
};

const models: Topic = {
  name: "models",
  brief: "Which model answers, and what models are for",
  sections: [
    text(
      "A model is named <provider>[:<model or alias>]. The name is split at its first colon, so ids with colons stay whole: runtime_a:qwen3:8b. Without a model the provider's model with role main is taken, or its only one.",
    ),
    rows("The first that is set decides:", [
      ["1", "--model"],
      ["2", "AGENTCLI_MODEL"],
      ["3", "default_provider and default_model"],
      ["4", "roles.main"],
      ["5", "the only provider that has models"],
      ["6", "the model of the session that --continue or --resume goes on with"],
    ]),
    rows("Roles (agentcli providers role set):", Object.entries(ROLE_BRIEFS)),
    rows("What providers.yaml may say of a model besides its id:", [
      ["alias", "a short name for --model, or a list of them"],
      ["role", "main, compact or subagent"],
      ["context_window", "tokens that the server really gives; without it the server is asked"],
      ["max_tokens", "the limit of one reply"],
      ["params", "fields of the request that are sent as they are: { temperature: 0.2 }"],
      ["tool_calls", "native, text (described in the prompt) or none; without it that is found out"],
      [
        "reasoning",
        "keep: what the model reasoned goes back to the server with the history, as DeepSeek wants it beside tool calls; drop, as without it: it does not, which saves room",
      ],
      ["edit", "replace, or whole: files are written anew, for models that cannot quote a part of one"],
      ["images", "true or false, where the server does not tell whether the model sees"],
    ]),
    rows(
      "Servers that are known by name:",
      RUNTIMES.map(({ id, product, baseUrl }) => [id, `${product}, ${baseUrl}`]),
    ),
    text("The model demo is always there: it is scripted, needs no server, and shows what a turn looks like."),
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
      "A file .agentclisecret in the root of a project names what must not leave your machines. What it names is readable to local models only: to others every tool refuses it, and a session that has read it stays with local models.",
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
      "The home remembers each project that ever had a marker. A line that is taken out still protects, and a host of local-endpoints that was not there when the project was first seen has no effect, until you say so with `agentcli secrets trust`.",
    ),
    text(
      "A loopback address does not say where the model runs: cloud models of Ollama and recognized gateways count as remote all the same, tunnels (ssh -L and the like) cannot be seen. `agentcli doctor` names the process that listens there where the system tells.",
    ),
    text(
      "Commands of a model run in a sandbox that hides these files; where there is none, they do not run in such projects.",
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
      "Rules allow or deny single calls, and a deny rule always wins. A rule is the name of a tool, or a name with a pattern in parentheses: a path for tools of files, the beginning of a command for Bash. A rule for a command covers that command alone, not others joined to it with ; && | or the like.",
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
    ]),
    text(
      "Without a terminal nobody can be asked: what no rule allows is denied at once, the model is told, and the turn goes on. The exit code is 6 when the last call of some tool was denied like that.",
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
  brief: "What the exit code of the program says",
  sections: [
    rows("Exit codes:", EXIT_CODES),
    text(
      'They are never derived from an HTTP status. With --json the failure itself is an object on standard output: {"error":{"code":…,"message":…,"hint":…}}.',
    ),
  ],
};

/** Every topic, in the order of the list. */
export const TOPICS: readonly Topic[] = [configuration, models, noCloud, permissions, exitCodes];
