/**
 * The shape of providers.yaml: what is checked, and what `config schema` prints. Loads the schema
 * library; import it lazily, it is not needed while the cache holds.
 */
import * as z from "./zod.ts";
import { PROVIDER_NAME } from "./find.ts";
import { EXPOSURES, ROLES } from "./types.ts";

const text = z.string().min(1, { error: "expected a text that is not empty" });
const texts = z.array(text);
const seconds = z.number().positive().max(86_400);
const count = z.int().positive().max(1_000_000_000);

const model = z.strictObject({
  id: text.describe("Model id as the server lists it."),
  alias: z.union([text, texts], { error: "expected a name or a list of names" }).optional()
    .describe("Short names for --model; unique within the provider."),
  role: z.enum(ROLES).optional().describe("What the model does: main, compact or subagent."),
  context_window: count.optional().describe("Tokens the server really gives."),
  max_tokens: count.optional().describe("Reply limit in tokens."),
  params: z.record(z.string(), z.unknown()).optional().describe("Request fields sent as they are."),
  tool_calls: z.enum(["native", "text", "none"]).optional().describe("How the model calls tools; normally found out."),
  reasoning: z.enum(["keep", "drop"]).optional().describe(
    "keep: what the model reasoned is sent back with the history; drop: it is not; default: as the model needs it.",
  ),
  max_reasoning: z.int().min(0).max(1_000_000_000).optional().describe(
    "Most tokens of reasoning in one reply; 0 for no limit; default 4096, or a quarter of a smaller window.",
  ),
  max_result: z.int().min(100).max(1_000_000_000).optional().describe(
    "Most tokens of one tool result; default an eighth of the window.",
  ),
  edit: z.enum(["replace", "whole"]).optional().describe("How the model edits files."),
  warm_up: z.boolean().optional().describe(
    "Whether the server reads a resumed or summarized session ahead of the next prompt; default false.",
  ),
  images: z.boolean().optional().describe("Whether the model supports image input; many servers tell it themselves."),
});

const provider = z.strictObject({
  type: z.literal("openai_compat").optional().describe("The adapter; the only one so far."),
  base_url: text.meta({
    description: "With its path prefix, for example http://localhost:11434/v1.",
    format: "uri",
    pattern: "^[Hh][Tt][Tt][Pp][Ss]?://[^?#@]+$",
  }),
  api_key: z.string().optional().describe("A literal, $VARIABLE, keyring, file, or none for a server without keys."),
  models: z.array(model).optional(),
  headers: z.record(z.string(), z.string()).optional().describe("Sent with every request."),
  timeout: z.strictObject({
    connect_s: seconds.optional(),
    first_byte_s: seconds.optional(),
    idle_s: seconds.optional(),
  }).optional().describe("Seconds."),
  local: z.boolean().optional().describe("A recognized gateway on loopback is local all the same."),
  ca_file: text.optional().describe("Absolute path of a PEM file with an own certificate authority."),
});

const engine = z.strictObject({
  command: z.array(text).min(1, { error: "expected a list of words with the program first" })
    .describe("Program and arguments; {model} {host} {port} {context_window} are replaced."),
  ready: z.string().regex(/^\/[^\s#]*$/, { error: "expected a path that starts with /" }).optional()
    .describe("Path that answers 200 once the engine is ready; default /v1/models."),
  port: z.int().min(1).max(65_535).optional().describe("Port unless --port says otherwise."),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).optional()
    .describe("Variables that the engine gets besides yours; the same words are replaced."),
});

const mcpServer = z.strictObject({
  command: text.optional().describe("Program of a server that is started here."),
  args: z.array(z.string()).optional(),
  env: z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string()).optional()
    .describe("All variables that it gets besides PATH, HOME and their kind; ${NAME} is replaced."),
  cwd: text.optional().describe("Where it starts; default: the project."),
  url: text.meta({ description: "Address of a server that speaks streamable HTTP.", pattern: "^https?://[^?#@]+" })
    .optional(),
  headers: z.record(z.string(), z.string()).optional().describe("Sent with every request; ${NAME} is replaced."),
  api_key: z.string().optional().describe("Sent as a bearer: $VARIABLE, keyring, file, or a literal."),
  enabled: z.boolean().optional(),
  timeout: seconds.optional().describe("Seconds that one call may take without a sign of life; default 60."),
  tools: z.record(z.string(), z.enum(EXPOSURES)).optional()
    .describe("By tool, * for the others: direct (each declared as a function), search (through McpFind), off."),
  network: z.union([z.boolean(), z.enum(["yes", "no"])], { error: "expected yes or no" }).optional()
    .describe("Whether a program keeps the network where paths are protected; it does not see the project then."),
  local: z.boolean().optional().describe("A server on loopback passes nothing on to others."),
  label: z.literal("no-cloud").optional().describe("Only local models may read the server's output."),
  description: text.optional().describe("One line for the model."),
});

const providersFile = z.strictObject({
  version: z.literal(1).optional().describe("Version of this format."),
  default_provider: text.meta({ pattern: PROVIDER_NAME.source, description: "Provider used without --model." })
    .optional(),
  default_model: text.optional().describe("Model id, alias or <provider>:<model> used without --model."),
  roles: z.strictObject({ main: text.optional(), compact: text.optional(), subagent: text.optional() }).optional()
    .describe("Which model does which work: <provider>[:<model or alias>]."),
  check: z.union([text, z.strictObject({ command: text, timeout_s: z.number().min(1).max(600).optional() })], {
    error: "expected a command, or command and timeout_s",
  }).optional().describe("Command that runs after a turn that changed files; a failure goes back to the model."),
  notify: z.enum(["bell", "osc9", "off"]).optional()
    .describe(
      "How a chat tells you that a long turn ended or a question waits: the bell, a desktop notification, or not at all.",
    ),
  acp: z.strictObject({ show_protected: z.boolean().optional() }).optional()
    .describe("What editors get over the Agent Client Protocol; they keep transcripts of their own."),
  sandbox: z.strictObject({
    mode: z.enum(["auto", "always", "never"]).optional(),
    read: texts.optional(),
    write: texts.optional(),
    network: z.boolean().optional(),
    env: texts.optional(),
  }).optional(),
  engines: z.record(z.string().meta({ pattern: PROVIDER_NAME.source }), engine).optional()
    .describe("Command templates for local-model serve."),
  mcp_servers: z.record(z.string().meta({ pattern: PROVIDER_NAME.source }), mcpServer).optional()
    .describe("MCP servers, whose tools the model may use."),
  permissions: z.strictObject({ allow: texts.optional(), deny: texts.optional() }).optional()
    .describe("Rules such as Bash(git status) or Write(migrations/**)."),
  providers: z.record(z.string().meta({ pattern: PROVIDER_NAME.source }), provider).optional(),
});

/** The keys in their usual order. */
export const KEYS = {
  file: Object.keys(providersFile.shape),
  provider: Object.keys(provider.shape),
  model: Object.keys(model.shape),
};

/** The file after the check, before defaults. */
export type ProvidersFile = z.infer<typeof providersFile>;
export type ProviderRecord = z.infer<typeof provider>;
export type ModelRecord = z.infer<typeof model>;
/** One engine of it: how a model server is started. */
export type EngineTemplate = z.infer<typeof engine>;
export type McpServerRecord = z.infer<typeof mcpServer>;

/** Something the schema does not accept. */
interface SchemaIssue {
  path: (string | number)[];
  /** The expected value; never the actual one. */
  message: string;
  /** An unknown key: kept, with a warning. */
  unknownKey: boolean;
}

/** Returns the schema errors of plain data, in the order of the file's keys. */
export function schemaIssues(value: unknown): SchemaIssue[] {
  const result = providersFile.safeParse(value);
  if (result.success) return [];
  return result.error.issues.flatMap((issue): SchemaIssue[] => {
    const path = issue.path.map((part) => typeof part === "number" ? part : String(part));
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({ path: [...path, key], message: "is not a known key", unknownKey: true }));
    }
    const message = issue.message.replace(/^[^:]*: (?=expected)/, "").replace(
      /, received undefined$/,
      ", found nothing",
    );
    return [{ path, message, unknownKey: false }];
  });
}

/** The part of a JSON Schema that leads to the keys that it knows. */
interface SchemaNode {
  properties?: Record<string, SchemaNode>;
  additionalProperties?: SchemaNode | false;
  items?: SchemaNode;
  anyOf?: SchemaNode[];
}

/** The valid keys beside an unknown one, for "did you mean"; `path` is that of the unknown key. */
export function knownKeys(path: readonly (string | number)[]): string[] {
  let node = z.toJSONSchema(providersFile) as SchemaNode | undefined;
  for (const step of path.slice(0, -1)) {
    const below = node?.items ?? node?.properties?.[step] ?? (node?.additionalProperties || undefined);
    node = below?.anyOf?.find(({ properties }) => properties !== undefined) ?? below;
  }
  return Object.keys(node?.properties ?? {});
}

/** The JSON Schema of providers.yaml, for editors. */
export function jsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(providersFile);
  return { ...schema, title: "providers.yaml", description: "Providers, models, roles and settings of agentcli." };
}
