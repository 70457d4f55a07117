/** `agentcli mcp …`: the MCP servers whose tools a model may use. */
import { KEY_STORES } from "../../config/keys/store.ts";
import { ASSISTANT_IDS } from "../../editor/assistants.ts";
import { RUN_OPTIONS } from "../run/command.ts";
import { choice, command, decimal, flag, group, integer, list, text } from "../command.ts";

const SERVER = { name: "server", brief: "A configured server", completion: "mcp_server" } as const;

export const ADD_OPTIONS = {
  url: text("URL", "Address of a server that speaks streamable HTTP"),
  env: list("NAME=VALUE", "A variable for the program; ${NAME} passes on yours; can be repeated"),
  header: list("NAME: VALUE", "A header for every request; ${NAME} stands for a variable; can be repeated"),
  apiKey: text("KEY", "Sent as a bearer: '$NAME' for an environment variable; for a stored one: mcp set-key"),
  timeout: decimal("SECONDS", "Time limit of one call without a sign of life (default: 60)", { minimum: 1 }),
  network: flag("Give the program the network where commands have none; it then does not see the project"),
  local: flag("Treat a server on loopback as local: it passes nothing on"),
  noCloud: flag("Only local models may read the server's output (label: no-cloud)"),
  direct: list("TOOLS", "Tools to declare as separate functions, e.g. 'search,fetch'; '*' for all"),
  off: list("TOOLS", "Tools that are not offered"),
  replace: flag("Replace an existing server of that name"),
} as const;

export const IMPORT_OPTIONS = {
  replace: flag("Replace existing servers of the same names"),
} as const;

export const SET_KEY_OPTIONS = {
  store: choice(KEY_STORES, "keyring: the system keyring, the default; file: credentials.json in the home"),
} as const;

export const SERVE_OPTIONS = {
  model: RUN_OPTIONS.model,
  http: text("127.0.0.1:PORT", "Serve over HTTP on loopback, at /mcp, instead of standard input and output"),
  audit: flag("Print each answer with its bits to standard error"),
} as const;

export const SESSION_OPTIONS = { model: RUN_OPTIONS.model } as const;

export const ALLOW_OPTIONS = {
  bits: integer("N", "Add to the bits that may be answered in the next 24 hours", { minimum: 1, maximum: 1024 }),
  changes: flag("Let the next task of do_private in this project change the open files that it names"),
  values: flag("Let the local model see values, not only their shapes, for the next question about this project"),
} as const;

const INSTALL = {
  user: flag("For all of your projects instead of this one"),
  dryRun: flag("Show the diff and write nothing"),
  force: flag("Overwrite content written by others or changed by hand"),
} as const;

export const INSTALL_OPTIONS = {
  ...INSTALL,
  program: text("PATH", "The program that the assistant starts (default: agentcli on PATH)", { completion: "file" }),
} as const;

export const UNINSTALL_OPTIONS = {
  ...INSTALL,
  keepGuard: flag("Leave the hook that blocks protected files"),
} as const;

const ASSISTANT = {
  name: "assistant",
  brief: "claude (Claude Code), codex, cursor or windsurf",
  values: [...ASSISTANT_IDS, "windsurf"],
} as const;

export const RELEASE_OPTIONS = {
  lines: text("A-B", "Only these lines of the text"),
} as const;

const HELD = { name: "id", brief: "A held answer, for example r-17" } as const;

export const mcpCommand = group({
  brief: "List, change and try MCP servers",
  detail:
    "Servers are listed under `mcp_servers:` in providers.yaml, and in a project's `.mcp.json` if you approve them. Their tools cost a model about 110 tokens together: it finds them with McpFind and calls them with McpCall; if all fit in 600 tokens, each one is a separate function. Where paths are protected, programs run in the sandbox of commands. See docs/mcp.md.",
  commands: {
    list: command({
      brief: "List the servers, their tools and what they cost in tokens",
      examples: ["agentcli mcp list", "agentcli mcp list --json"],
      load: async () => (await import("./servers.ts")).listServers,
    }),
    show: command({
      brief: "Show one server: what is started, and each tool as the model sees it",
      arguments: [SERVER],
      examples: ["agentcli mcp show files"],
      load: async () => (await import("./servers.ts")).showServer,
    }),
    test: command({
      brief: "Start a server and list its tools; exit 1 if it does not answer",
      arguments: [SERVER],
      examples: ["agentcli mcp test files"],
      connects: "here",
      load: async () => (await import("./servers.ts")).testServer,
    }),
    approve: command({
      brief: "Approve a server of this project's .mcp.json, after showing what it runs",
      detail:
        "The approval is for exactly this command line and, from the first start on, for these tools: another command, other tools or other descriptions are asked about again. It is kept in the home.",
      arguments: [SERVER],
      examples: ["agentcli mcp approve files", "agentcli mcp approve files --yes"],
      load: async () => (await import("./servers.ts")).approve,
    }),
    add: command({
      brief: "Add a server: a program after --, or an address",
      arguments: [
        { name: "name", brief: "Letters, digits, _ and -" },
        { name: "command", brief: "The program and its arguments, after --", optional: true, repeated: true },
      ],
      options: ADD_OPTIONS,
      examples: [
        "agentcli mcp add files -- npx -y @modelcontextprotocol/server-filesystem .",
        "agentcli mcp add hosted --url https://mcp.example.com/mcp --api-key '$HOSTED_TOKEN'",
      ],
      load: async () => (await import("./change.ts")).addServer,
    }),
    remove: command({
      brief: "Remove a server, after confirmation",
      arguments: [SERVER],
      examples: ["agentcli mcp remove files --yes"],
      load: async () => (await import("./change.ts")).removeServer,
    }),
    import: command({
      brief: "Add the servers of another program's file",
      detail:
        "Reads the files of Claude, Cursor, VS Code, LM Studio, Codex, opencode, Qwen, Gemini, Crush, Goose, pi and Windsurf: JSON, TOML or YAML by the name of the file.",
      arguments: [{ name: "file", brief: "For example ~/.cursor/mcp.json", completion: "file" }],
      options: IMPORT_OPTIONS,
      examples: ["agentcli mcp import ~/.cursor/mcp.json", "agentcli mcp import ~/.codex/config.toml"],
      load: async () => (await import("./change.ts")).importServers,
    }),
    serve: command({
      brief: "Serve an assistant that may not see protected files: it asks, a local model answers",
      detail:
        "Speaks MCP on standard input and output; the assistant starts it itself. Its tools answer questions about protected files with one of the values that the question names; all answers of a day together carry 64 bits at most. See docs/private-mcp.md.",
      options: SERVE_OPTIONS,
      examples: ["agentcli mcp serve", "agentcli mcp serve --model local:qwen3 --audit"],
      connects: "here",
      load: async () => (await import("./serve.ts")).serve,
    }),
    session: command({
      brief: "Called by mcp serve: answers one question",
      options: SESSION_OPTIONS,
      examples: [],
      hidden: true,
      connects: "here",
      load: async () => (await import("./serve.ts")).session,
    }),
    pending: command({
      brief: "List the held answers; at a terminal with their texts",
      detail: "A line with ! quotes a protected file.",
      examples: ["agentcli mcp pending"],
      load: async () => (await import("./decide.ts")).pending,
    }),
    release: command({
      brief: "Show a held answer, and release it to clients if you say yes",
      detail:
        "Exactly what is shown goes out, to every client of the project that asks. The release is logged in released.jsonl of the home, without the text. --yes does not answer for you.",
      arguments: [HELD],
      options: RELEASE_OPTIONS,
      examples: ["agentcli mcp release r-17", "agentcli mcp release r-17 --lines 3-9"],
      load: async () => (await import("./decide.ts")).release,
    }),
    keep: command({
      brief: "Keep a held answer to yourself: the client learns only that you kept it",
      arguments: [HELD],
      examples: ["agentcli mcp keep r-17"],
      load: async () => (await import("./decide.ts")).keep,
    }),
    allow: command({
      brief: "Allow clients of mcp serve more, once; asks at the terminal",
      detail: "Each use is logged in released.jsonl of the home. --yes does not answer for you.",
      options: ALLOW_OPTIONS,
      examples: ["agentcli mcp allow --bits 32", "agentcli mcp allow --values"],
      load: async () => (await import("./decide.ts")).allow,
    }),
    install: command({
      brief: "Let an assistant ask about protected files: adds the server, the guard hook and a rule",
      detail:
        "The hook blocks the assistant's own reads of what .agentclisecret protects, and names the tools to use instead. Shows the plan and asks; what others wrote in the same files stays as it is. See docs/private-mcp.md.",
      arguments: [ASSISTANT],
      options: INSTALL_OPTIONS,
      examples: ["agentcli mcp install claude", "agentcli mcp install codex --user --dry-run"],
      load: async () => (await import("./install.ts")).installAssistant,
    }),
    uninstall: command({
      brief: "Remove what install added, unless it was changed since",
      arguments: [ASSISTANT],
      options: UNINSTALL_OPTIONS,
      examples: ["agentcli mcp uninstall claude", "agentcli mcp uninstall windsurf --keep-guard"],
      load: async () => (await import("./install.ts")).uninstallAssistant,
    }),
    "set-key": command({
      brief: "Store the key of a server at an address",
      detail:
        "Asks for the key without showing it, or reads it from standard input. It is sent as a bearer, to this address alone.",
      arguments: [SERVER],
      options: SET_KEY_OPTIONS,
      examples: ["agentcli mcp set-key hosted", "pass show hosted | agentcli mcp set-key hosted --store file"],
      load: async () => (await import("./change.ts")).setKey,
    }),
  },
});
