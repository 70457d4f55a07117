/** `agentcli run`: one agent turn. */
import { PERMISSION_MODES } from "../../config/types.ts";
import { choice, command, decimal, flag, integer, list, text, type Values } from "../command.ts";

export const OUTPUT_FORMATS = ["text", "json", "stream-json"] as const;
const INPUT_FORMATS = ["text", "stream-json"] as const;

const MODEL = "Model";
const OUTPUT = "Output";
const PERMISSIONS = "Permissions and tools";
const LIMITS = "Limits";
const PROMPT = "Prompt";
const SESSION = "Session";

/** Options of one turn; `chat` and protocol mode take the same. */
export const RUN_OPTIONS = {
  model: text(
    "PROVIDER[:MODEL]",
    "Model to use: a provider, optionally with a model id or alias; 'demo' needs no server",
    { group: MODEL, completion: "model", letter: "m" },
  ),
  maxTokens: integer("N", "Limit one response to N tokens", { group: MODEL, minimum: 1 }),
  temperature: decimal("X", "Sampling temperature", { group: MODEL, maximum: 5 }),
  systemPrompt: text("TEXT", "Replace the system prompt", { group: PROMPT }),
  appendSystemPrompt: text("TEXT", "Add to the system prompt", { group: PROMPT }),
  allowProtectedPrompt: flag("Send a prompt with protected content to a remote provider, this once", {
    group: PROMPT,
  }),
  file: list("PATH", "Attach a text file or an image (PNG, JPEG, WebP) to the prompt; can be repeated", {
    group: PROMPT,
    completion: "file",
  }),
  addDir: list("DIR", "Let tools use an additional directory; can be repeated", {
    group: PERMISSIONS,
    completion: "directory",
  }),
  permissionMode: choice(
    PERMISSION_MODES,
    "What runs without asking: default (reads), acceptEdits (also file changes), plan (changes nothing and ends with a plan), bypassPermissions (everything)",
    { group: PERMISSIONS },
  ),
  allowedTools: list("RULES", "Allow without asking, e.g. 'Edit,Bash(git log:*)'", {
    group: PERMISSIONS,
  }),
  disallowedTools: list("RULES", "Deny, e.g. 'Bash' or 'Write(migrations/**)'", { group: PERMISSIONS }),
  tools: list("NAMES", "Offer only these tools; 'none' for none", { group: PERMISSIONS }),
  outputFormat: choice(OUTPUT_FORMATS, "text: the answer; json: one result object; stream-json: one event per line", {
    group: OUTPUT,
  }),
  inputFormat: choice(
    INPUT_FORMATS,
    "text: the prompt; stream-json: messages and control requests, one JSON object per line, until end of input",
    { group: OUTPUT },
  ),
  permissionPromptTool: text("stdio", "With stream-json input: ask the client when no rule decides", {
    group: PERMISSIONS,
  }),
  mcpConfig: list(
    "FILE|JSON",
    "MCP servers for this session: a JSON file with mcpServers, or the JSON itself; can be repeated",
    {
      group: PERMISSIONS,
    },
  ),
  includePartialMessages: flag("With stream-json: include partial messages as they arrive", { group: OUTPUT }),
  check: text(
    "COMMAND",
    "Run this after a turn that changed files, and tell the model when it fails; 'none' for none",
    {
      group: LIMITS,
    },
  ),
  maxTurns: integer("N", "Stop after N model responses (exit 7)", { group: LIMITS, minimum: 1 }),
  timeout: decimal("SECONDS", "Stop after this time (exit 7); no limit by default", { group: LIMITS, minimum: 0.001 }),
  resume: text("SESSION", "Resume a stored session, by its id or a prefix of it; without one, chat shows a list", {
    group: SESSION,
    completion: "session",
    letter: "r",
    alone: true,
  }),
  continue: flag("Continue the last session of this project", { group: SESSION, letter: "c" }),
  forkSession: flag(
    "With --resume or --continue: continue in a copy; for a remote model, the copy ends before protected content",
    { group: SESSION },
  ),
  sessionId: text("UUID", "Id for the new session", { group: SESSION }),
  noSessionPersistence: flag("Do not store the session", { group: SESSION }),
} as const;

/** The options as they were given. */
export type RunOptions = Values<typeof RUN_OPTIONS>;

export const runCommand = command({
  brief: "Run one agent turn",
  detail:
    "The prompt is the argument, standard input (with no argument or '-'), or both joined. Reading inside the project is always allowed. File changes and commands need your permission on a terminal, and are denied elsewhere unless an option or a rule allows them. 'agentcli -p' (--print) is short for it.",
  arguments: [{ name: "prompt", brief: "What to do; @FILE attaches a file, '-' reads standard input", optional: true }],
  options: {
    ...RUN_OPTIONS,
    explain: flag("Show how requests would be made (window, sampling, reasoning), and send none", { group: OUTPUT }),
  },
  examples: [
    'agentcli run --model demo "Read README.md and tell me what this is"',
    'agentcli run --model runtime_a:qwen3:8b "Explain how main.ts starts"',
    "agentcli run --explain --model runtime_a",
    'git diff | agentcli run "Write a commit message" --output-format json',
  ],
  connects: "here",
  load: () =>
    Promise.resolve(async (invocation) =>
      invocation.options.explain
        ? await (await import("./explain.ts")).explain(invocation)
        : await (await import("./run.ts")).run(invocation)
    ),
});
