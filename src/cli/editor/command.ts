/** `agentcli editor …`: rules, workflows, skills, hooks and servers for an editor's assistant. */
import { DIALECT_IDS, KINDS, SCOPES } from "../../editor/dialect.ts";
import { choice, command, flag, group, list, type Options, text } from "../command.ts";

export const PLACE_OPTIONS = {
  dialect: choice(
    DIALECT_IDS,
    "The editor (default: the one used before in this project, else the one whose files it has, else ide)",
  ),
  systemDir: text("DIR", "The editor's system-wide directory", { completion: "directory" }),
} as const satisfies Options;

export const CHANGE_OPTIONS = {
  ...PLACE_OPTIONS,
  dryRun: flag("Show the diff and write nothing"),
  force: flag("Overwrite content written by others or changed by hand"),
} as const satisfies Options;

export const DOCTOR_OPTIONS = {
  ...PLACE_OPTIONS,
  foreign: flag("Also run hooks and servers written by others: they are programs with your permissions"),
} as const satisfies Options;

export const ADD_OPTIONS = {
  ...CHANGE_OPTIONS,
  scope: choice(SCOPES, "For this project (default), for all your projects (default of mcp), or for all users"),
  file: text("FILE", "The content (default, and for -: standard input)", { completion: "file" }),
  dir: text("DIR", "Folder of a skill with its files", { completion: "directory", group: "Skills" }),
  shared: flag("Put the skill into .agents/skills, which several assistants read", { group: "Skills" }),
  trigger: choice(["always_on", "model_decision", "glob", "manual"], "When the rule is active", { group: "Rules" }),
  globs: text("GLOBS", "Files the rule applies to, separated by commas", { group: "Rules" }),
  description: text("TEXT", "Purpose of a rule or workflow", { group: "Rules" }),
  event: list("EVENT", "Event of a hook, such as pre_run_command", { completion: "hook_event", group: "Hooks" }),
  command: text("LINE", "Bash command line of a custom hook, or program of a server", {
    group: "Hooks and servers",
  }),
  powershell: text("LINE", "PowerShell command line of a custom hook", { group: "Hooks" }),
  showOutput: flag("Show the output of a custom hook", { group: "Hooks" }),
  workingDirectory: text("DIR", "Working directory of a custom hook", { group: "Hooks" }),
  set: list("NAME=VALUE", "Parameter of a built-in hook", { group: "Hooks" }),
  arg: list("WORD", "Argument of a server's program", { group: "Servers" }),
  env: list("NAME=VALUE", "Variable of a server's program", { group: "Servers" }),
  serverUrl: text("URL", "Address of a server", { group: "Servers" }),
  header: list("NAME=VALUE", "Header of requests to a server", { group: "Servers" }),
} as const satisfies Options;

export const REMOVE_OPTIONS = {
  ...CHANGE_OPTIONS,
  scope: choice(SCOPES, "Only what is installed in this scope"),
  all: flag("Everything that was installed here"),
} as const satisfies Options;

export const IMPORT_OPTIONS = {
  ...PLACE_OPTIONS,
  take: flag("Adopt what is named: from then on it is checked and upgraded, and remove returns it as it was found"),
  all: flag("Adopt everything that can be adopted"),
} as const satisfies Options;

export const PERSONA_OPTIONS = {
  ...CHANGE_OPTIONS,
  from: text("FILE", "The persona: markdown, with or without frontmatter", { completion: "file" }),
  scope: choice(SCOPES, "For this project (default), for all your projects, or for all users"),
} as const satisfies Options;

export const HOOK_OPTIONS = {
  set: list("NAME=VALUE", "Parameter"),
} as const satisfies Options;

const ARTIFACT = { name: "artifact", brief: "Name, or kind:name" } as const;
const INSTALLED = { ...ARTIFACT, completion: "installed_artifact", optional: true, repeated: true } as const;
const FOREIGN = { ...ARTIFACT, completion: "foreign_artifact", optional: true, repeated: true } as const;

export const editorCommand = group({
  brief: "Install rules, workflows, skills, hooks and servers for an editor's assistant, and maintain them",
  detail:
    "Every change is planned, shown file by file, and then applied as a whole; --dry-run shows the diff. Content written by others is kept byte for byte. Removing restores what was there before. See docs/editor.md.",
  commands: {
    init: command({
      brief: "Install a starter set: instructions, the no-cloud guard, a workflow and a skill",
      options: CHANGE_OPTIONS,
      examples: ["agentcli editor init", "agentcli editor init --dialect windsurf --dry-run"],
      load: async () => (await import("./add.ts")).initEditor,
    }),
    add: command({
      brief: "Add or update one artifact",
      detail:
        "Built-in hooks: no-cloud-guard, audit-log, setup-worktree, format-on-write, session-note. Server keys are only ever written as ${env:NAME}.",
      arguments: [
        { name: "kind", brief: "rule, workflow, skill, hook, mcp (a server) or instructions", values: KINDS },
        {
          name: "name",
          brief: "Its name; for instructions: a directory of the project, or the editor's old rules file",
          optional: true,
          completion: "scaffold",
        },
      ],
      options: ADD_OPTIONS,
      examples: [
        "agentcli editor add rule style --file style.md --trigger glob --globs '**/*.ts'",
        "agentcli editor add workflow ship --description 'Ship a release' --file -",
        "agentcli editor add skill review --dir skills/review",
        "agentcli editor add instructions packages/api --file notes.md",
        "agentcli editor add hook no-cloud-guard",
        "agentcli editor add hook format-on-write --set formatter='deno fmt'",
        "agentcli editor add hook mine --event pre_run_command --command 'bash check.sh' --powershell '& ./check.ps1'",
        "agentcli editor add mcp files --command npx --arg=-y --arg some-server --env API_KEY='$NAME'",
        "agentcli editor add mcp docs --server-url https://mcp.example.com --header 'Authorization=Bearer ${NAME}'",
      ],
      load: async () => (await import("./add.ts")).addArtifact,
    }),
    plan: command({
      brief: "Show what apply would do",
      options: PLACE_OPTIONS,
      examples: ["agentcli editor plan"],
      load: async () => (await import("./apply.ts")).showPlan,
    }),
    apply: command({
      brief: "Restore everything that is installed",
      options: CHANGE_OPTIONS,
      examples: ["agentcli editor apply --yes"],
      load: async () => (await import("./apply.ts")).applyInstalled,
    }),
    check: command({
      brief: "Report drift; exit 1 if anything differs from what was installed, or would not load",
      options: PLACE_OPTIONS,
      examples: ["agentcli editor check", "agentcli editor check --json"],
      load: async () => (await import("./inspect.ts")).checkArtifacts,
    }),
    list: command({
      brief: "Show what the editor finds, who owns it, and what takes precedence",
      options: PLACE_OPTIONS,
      examples: ["agentcli editor list", "agentcli editor list --json"],
      load: async () => (await import("./inspect.ts")).listArtifacts,
    }),
    show: command({
      brief: "Show one artifact",
      arguments: [{ ...ARTIFACT, completion: "artifact" }],
      options: PLACE_OPTIONS,
      examples: ["agentcli editor show hook:no-cloud-guard"],
      load: async () => (await import("./inspect.ts")).showArtifact,
    }),
    remove: command({
      brief: "Remove what was installed and has not been changed since",
      detail:
        "Adopted content was not written by agentcli, so it stays as it was found; --force removes it for good, as well as content changed by hand.",
      arguments: [INSTALLED],
      options: REMOVE_OPTIONS,
      examples: ["agentcli editor remove hook:no-cloud-guard", "agentcli editor remove --all --yes"],
      load: async () => (await import("./apply.ts")).removeArtifacts,
    }),
    doctor: command({
      brief: "Run every installed hook with recorded input and check its response; find what does not load",
      detail:
        "Runs what agentcli installed, unless it was changed since. Programs from others are run only with --foreign or after confirmation. Servers at an address are contacted only on this machine; nothing is sent anywhere else.",
      options: DOCTOR_OPTIONS,
      examples: ["agentcli editor doctor", "agentcli editor doctor --foreign --json"],
      load: async () => (await import("./doctor.ts")).run,
    }),
    import: command({
      brief: "Show artifacts written by others or by hand, and adopt them on request",
      detail:
        "Adopting changes no file: from then on, editor check watches it, apply restores it, add updates it without --force, and remove returns it as it was found.",
      arguments: [FOREIGN],
      options: IMPORT_OPTIONS,
      examples: [
        "agentcli editor import",
        "agentcli editor import --take rule:style hook:format",
        "agentcli editor import --all --dialect windsurf",
      ],
      load: async () => (await import("./import.ts")).run,
    }),
    persona: command({
      brief: "Install an agent persona as a skill",
      arguments: [{ name: "name", brief: "Name of the skill" }],
      options: PERSONA_OPTIONS,
      examples: ["agentcli editor persona reviewer --from reviewer.md"],
      load: async () => (await import("./add.ts")).addPersona,
    }),
    hook: command({
      brief: "Called by the installed hooks",
      arguments: [
        { name: "scaffold", brief: "The hook" },
        { name: "event", brief: "The event" },
        { name: "assistant", brief: "Whose event it is, where it is none of an editor", optional: true },
      ],
      options: HOOK_OPTIONS,
      examples: [],
      hidden: true,
      load: async () => (await import("./hook.ts")).run,
    }),
  },
});
