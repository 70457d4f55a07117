/**
 * `deno task docs`: writes docs/protocol.md from the schema of the protocol. With `--check` it writes nothing and exits
 * 1 when the page is not up to date.
 */
import { clientOptionNames } from "../src/cli/protocol/command_line.ts";
import { controlJsonSchema, eventJsonSchema } from "../src/protocol/schema.ts";
import { perform, readLine, ScriptError } from "./script.ts";

const FILE = new URL("../docs/protocol.md", import.meta.url);

/** The part of JSON Schema that zod writes here. */
interface Schema {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: Schema | boolean;
}

/** A type in one line, as a reader of JSON would write it. */
function typeText(schema: Schema): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  const either = schema.anyOf ?? schema.oneOf;
  if (either !== undefined) return either.map(typeText).join(" or ");
  if (schema.type === "array") return schema.items === undefined ? "list" : `list of ${typeText(schema.items)}`;
  if (schema.properties !== undefined) {
    const required = new Set(schema.required ?? []);
    const fields = Object.entries(schema.properties).map(([name, field]) =>
      `${name}${required.has(name) ? "" : "?"}: ${typeText(field)}`
    );
    return `{${fields.join(", ")}}`;
  }
  if (schema.type === "object") {
    return typeof schema.additionalProperties === "object"
      ? `object of ${typeText(schema.additionalProperties)}`
      : "object";
  }
  return Array.isArray(schema.type) ? schema.type.join(" or ") : schema.type ?? "anything";
}

function nameOf(schema: Schema): string {
  const { type, subtype } = schema.properties ?? {};
  const parts = [type, subtype].filter((part) => part !== undefined).map((part) => typeText(part).replaceAll('"', ""));
  return parts.join(" / ");
}

/** One table of fields an event. */
function sectionOf(schema: Schema): string {
  const required = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {})
    .filter(([name]) => name !== "type" && name !== "subtype")
    .map(([name, field]) => `| \`${name}\`${required.has(name) ? "" : " (may be absent)"} | ${escaped(field)} |`);
  return `### ${nameOf(schema)}\n\n| field | value |\n|---|---|\n${rows.join("\n")}\n`;
}

function escaped(field: Schema): string {
  return typeText(field).replaceAll("|", "\\|").replaceAll("{", "\\{").replaceAll("<", "\\<");
}

function sections(schema: Schema): string {
  return (schema.anyOf ?? []).map(sectionOf).join("\n");
}

function document(): string {
  return `# stream-json

<!-- Written by scripts/protocol_docs.ts from src/protocol/schema.ts. -->

\`agentcli --input-format stream-json --output-format stream-json\` (also \`agentcli run\` with these options) is one
session: JSON lines on standard input, and nothing but JSON lines on standard output. Notices go to standard error.
\`agentcli config schema --protocol\` prints the events as JSON Schema.

## Standard input

| type | fields | meaning |
|---|---|---|
| \`user\` | \`message: {role, content: text or blocks}\`, \`session_id\` (ignored), \`uuid?\` | a turn; while one runs, it goes in after the next tool results, or is queued |
| \`control_request\` | \`request_id\`, \`request: {subtype, …}\` | answered at once, also while a turn runs |
| \`control_response\` | \`response: {subtype: "success" or "error", request_id, response?, error?}\` | the answer to a question |
| \`control_cancel_request\`, \`keep_alive\` | | accepted and ignored |

Lines end with LF and may have up to 64 MiB. A line that cannot be read is reported on standard error and skipped; only if
the very first one is not JSON does the program end, with exit code 2. At the end of input it finishes the running turn
and the queued ones, then ends.

A message that begins with \`/\` and the name of a workflow or skill of the project stands for the text of that file, with the
words behind the name as its arguments; \`/server:prompt\` stands for a prompt of an MCP server. \`slash_commands\` of \`init\` names them all, and \`commands\` of the answer to \`initialize\` those of the project. Any other \`/word\` is text.

| request | fields | answer |
|---|---|---|
| \`initialize\` | \`systemPrompt?\`, \`appendSystemPrompt?\`, \`hooks?\`, \`sdkMcpServers?\` | \`commands, agents, output_style, available_output_styles, models, account\` |
| \`interrupt\` | | \`still_queued\`: the \`uuid\`s of queued messages |
| \`set_model\` | \`model\`: a selector, an id or an alias; \`default\` | empty; takes effect with the next turn |
| \`set_permission_mode\` | \`mode\` | \`mode\`; takes effect with the next call |
| \`mcp_status\` | | \`mcpServers: [{name, status}]\` |
| \`list_models\` | | \`models\` |
| anything else | | an error with \`error_code: "unsupported_request"\` |

Hooks are \`PreToolUse\`, \`PostToolUse\`, \`UserPromptSubmit\` and \`Stop\`. A \`PreToolUse\` hook that fails, times out
(\`timeout\` in seconds, 60 by default) or cannot be called counts as a veto. Deny rules and the boundary apply whatever a
hook or a client says. Once a session has read protected content, its content is not passed to the client's hooks and
tools.

## Events

Every event has \`session_id\` and \`uuid\`. Each turn ends with exactly one \`result\`, also on failures and signals. A
message that goes into a running turn has no result of its own: it comes back as \`user\` with \`isReplay\` and its \`uuid\`
once the model has it. One that is refused there gets a turn of its own, which says why. A response that breaks off is
requested once more: after \`api_retry\` the message that was begun is closed and does not count, and another one begins.

${sections(eventJsonSchema())}
## Control lines

${sections(controlJsonSchema())}
## Options of clients

Without a command, a line with \`-p\`, \`--print\`, \`--input-format\` or \`--output-format\` takes the options of
\`agentcli run\`, and these. They are accepted for compatibility and have no effect, or the one that the recipes describe:
${
    clientOptionNames().map((name) => `\`--${name}\``).join(", ")
  }. Any other option is reported on standard error and ignored.
`;
}

/** As `deno fmt` has it, so that both checks agree. */
async function formatted(text: string): Promise<string> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["fmt", "--quiet", "--ext", "md", "-"],
    cwd: new URL("..", import.meta.url),
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(text));
  await writer.close();
  const { success, stdout } = await child.output();
  if (!success) throw new Error("deno fmt failed");
  return new TextDecoder().decode(stdout);
}

if (import.meta.main) {
  await perform(import.meta.url, async (args) => {
    const checks = readLine(args, { check: "flag" }).flags.has("check");
    const text = await formatted(document());
    if (!checks) {
      await Deno.mkdir(new URL(".", FILE), { recursive: true });
      await Deno.writeTextFile(FILE, text);
    } else if (await Deno.readTextFile(FILE).catch(() => "") !== text) {
      throw new ScriptError("docs/protocol.md is not what the schema says: run `deno task docs`");
    }
  });
}
