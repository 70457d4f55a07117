/**
 * The servers of a session: where each is configured, and the variables that are put into its values when it is used.
 */
import { shellQuoted } from "../shell/quote.ts";
import { sha256 } from "../platform/digest.ts";
import { storeOf, variableOf } from "../config/endpoint.ts";
import { MCP_SERVER_NAME } from "../config/mcp_names.ts";
import { type Exposure, EXPOSURES, type McpServerEntry } from "../config/types.ts";
import { fieldsOf, isRecord, type JsonRecord, membersOf } from "../platform/record.ts";
import { AgentcliError } from "../errors.ts";

/** Who configured a server: the user's own file, the project's, the command line, or a client of a protocol. */
export type ServerOrigin = "user" | "project" | "command line" | "client";

export interface McpServer extends McpServerEntry {
  origin: ServerOrigin;
}

/** A server of another file that cannot be used, and why; one clause. */
export interface ServerProblem {
  name: string;
  problem: string;
}

/** Servers of one file; more are not read. */
const MOST_SERVERS = 100;

/** Keys under which programs keep their servers. */
const HOLDERS = ["mcpServers", "mcp_servers", "servers", "mcp", "extensions"];

/** Returns the servers of a parsed file in any of the known forms; empty for none. */
export function readServers(value: unknown): { servers: McpServerEntry[]; problems: ServerProblem[] } {
  const file = fieldsOf(value);
  const holder = HOLDERS.find((key) => isRecord(file[key]));
  const entries = Object.entries(fieldsOf(holder === undefined ? undefined : file[holder])).slice(0, MOST_SERVERS);
  const read = entries.map(([name, entry]) => readServer(name, entry));
  return {
    servers: read.flatMap((one) => "entry" in one ? [one.entry] : []),
    problems: read.flatMap((one) => "problem" in one ? [one] : []),
  };
}

/** Reads one entry in the format of any supported program. */
export function readServer(given: string, value: unknown): { entry: McpServerEntry } | ServerProblem {
  const name = serverName(given);
  const fields = fieldsOf(value);
  const problem = (text: string): ServerProblem => ({ name: given.slice(0, 64), problem: text });
  if (name === null) return problem("its name has no letters or digits");
  const words = membersOf(fields.command).filter((word) => typeof word === "string");
  const command = first(fields, ["command", "cmd"]) ?? words[0];
  const url = first(fields, ["url", "httpUrl", "serverUrl", "uri"]);
  if (isSse(fields)) {
    return problem("the SSE transport of 2024 is not supported; does it have a streamable HTTP address?");
  }
  if ((command === undefined) === (url === undefined)) return problem("it has neither a command nor an address");
  const args = [...words.slice(1), ...membersOf(fields.args).map(String)];
  const env = texts(fields.env, fields.environment, fields.envs);
  const headers = texts(fields.headers, fields.http_headers);
  const values = [command ?? "", url ?? "", ...args, ...Object.values(env), ...Object.values(headers)];
  if (values.some((text) => /\$\{input:|\$\(/.test(text))) {
    return problem("it asks for an input or runs a command for a value; write a variable (${NAME}) instead");
  }
  const token = first(fields, ["bearer_token_env_var"]);
  const cwd = first(fields, ["cwd"]);
  return {
    entry: {
      name,
      command: command && plain(command),
      args: args.map(plain),
      env: mapped(env),
      cwd: cwd && plain(cwd),
      url: url && plain(url),
      headers: mapped(headers),
      apiKey: token === undefined ? first(fields, ["api_key"]) : `$${token}`,
      enabled: fields.enabled !== false && fields.disabled !== true,
      timeout: timeoutOf(fields),
      tools: toolsOf(fields),
      network: fields.network === true || fields.network === "yes",
      local: fields.local === true,
      label: fields.label === "no-cloud" ? "no-cloud" : undefined,
      description: first(fields, ["description"]),
    },
  };
}

function first(fields: JsonRecord, names: readonly string[]): string | undefined {
  return names.map((name) => fields[name]).find((value): value is string => typeof value === "string" && value !== "");
}

function isSse(fields: JsonRecord): boolean {
  return [fields.type, fields.transport].includes("sse") || fields.httpUrl === undefined && fields.url !== undefined &&
      typeof fields.url === "string" && /\/sse\/?$/.test(fields.url) && fields.type === undefined;
}

/** The name as a part of tool names; null for one without a usable character. */
function serverName(given: string): string | null {
  const name = given.replace(/[^A-Za-z0-9-]+/g, "_").replace(/_{2,}/g, "_").slice(0, 32).replace(/^[_-]+|[_-]+$/g, "");
  return MCP_SERVER_NAME.test(name) ? name : null;
}

function texts(...values: unknown[]): Record<string, string> {
  const entries = values.flatMap((value) => Object.entries(fieldsOf(value)));
  return Object.fromEntries(
    entries.filter(([, text]) => ["string", "number", "boolean"].includes(typeof text))
      .map(([name, text]) => [name, String(text)]),
  );
}

/** Editors' fields for what is the default here: servers start in the project, with the variables of the user. */
const PLACES: readonly [name: string, meaning: string][] = [["${workspaceFolder}", "."], ["${userHome}", "${HOME}"]];

/** `${env:X}` and `{env:X}` are `${X}` elsewhere. */
function plain(text: string): string {
  const variables = text.replace(/\$?\{env:(\w+)\}/g, "${$1}");
  return PLACES.reduce((all, [name, meaning]) => all.replaceAll(name, () => meaning), variables);
}

function mapped(values: Record<string, string>): Record<string, string> {
  // A value that is `$NAME` as a whole is a variable where only whole values can be.
  return Object.fromEntries(
    Object.entries(values).map(([name, text]) => [name, plain(text).replace(/^\$(\w+)$/, "${$1}")]),
  );
}

/** Programs write seconds or milliseconds: nobody intends a call of two hours, or of less than a second. */
function timeoutOf(fields: JsonRecord): number {
  const given = fields.tool_timeout_sec ?? fields.timeout;
  if (typeof given !== "number" || !(given > 0)) return 60;
  return Math.min(given > 3_600 ? given / 1_000 : given, 86_400);
}

/** Names in pi for what has another name here. */
const PI_EXPOSURES: Readonly<Record<string, Exposure>> = {
  direct: "direct",
  deferred: "search",
  codemode: "search",
  hidden: "off",
};

/** Of the whole server and of single tools; being found by search is the default. */
function piExposures({ exposure, toolExposure }: JsonRecord): [string, Exposure][] {
  const ofServer: [string, unknown][] = exposure === "direct" || exposure === "hidden" ? [["*", exposure]] : [];
  return [...ofServer, ...Object.entries(fieldsOf(toolExposure))].flatMap(([name, word]) =>
    typeof word === "string" && Object.hasOwn(PI_EXPOSURES, word) ? [[name, PI_EXPOSURES[word] ?? "search"]] : []
  );
}

function toolsOf(fields: JsonRecord): Record<string, Exposure> {
  const tools = Object.entries(fieldsOf(fields.tools)).filter((one): one is [string, Exposure] =>
    (EXPOSURES as readonly unknown[]).includes(one[1])
  );
  const only = membersOf(fields.includeTools ?? fields.enabled_tools).filter((name) => typeof name === "string");
  const without = membersOf(fields.excludeTools ?? fields.disabled_tools).filter((name) => typeof name === "string");
  return Object.fromEntries<Exposure>([
    ...only.length === 0 ? [] : [...only.map((name): [string, Exposure] => [name, "search"]), ["*", "off"] as const],
    ...without.map((name): [string, Exposure] => [name, "off"]),
    ...piExposures(fields),
    ...tools,
  ]);
}

/** The source of variables, and those that no server may have. */
interface Variables {
  env(name: string): string | undefined;
  /** Names that hold keys of providers. */
  secret: readonly string[];
}

/**
 * A server with its variables resolved: what is started or reached. `apiKey` is the key itself; absent where a store
 * holds it.
 */
export type ResolvedServer = Pick<McpServerEntry, "command" | "args" | "env" | "cwd" | "url" | "headers" | "apiKey">;

/** Resolves variables. Throws `config_invalid` for one that is not set, and for one that holds a key. */
export function resolveServer(server: McpServer, variables: Variables): ResolvedServer {
  const valueOf = (name: string, otherwise?: string): string => {
    // A project must not get a key by naming its variable: the user's own file may.
    if (server.origin !== "user" && variables.secret.includes(name)) {
      throw unusable(server, `it names the variable ${name}, which holds a key of yours`);
    }
    const value = variables.env(name) || otherwise;
    if (value === undefined) throw unusable(server, `the variable ${name} is not set`);
    return value;
  };
  // A client of a protocol has resolved its own.
  const put = (text: string): string =>
    server.origin === "client"
      ? text
      : text.replace(/\$\{(\w+)(?::-((?:[^}$]|\$(?!\{))*))?\}/g, (_, name: string, otherwise?: string) =>
        valueOf(name, otherwise));
  const all = (values: Record<string, string>) =>
    Object.fromEntries(Object.entries(values).map(([name, text]) => [name, put(text)]));
  const maybe = (text: string | undefined) => text === undefined ? undefined : put(text);
  return {
    command: maybe(server.command),
    args: server.args.map(put),
    env: all(server.env),
    cwd: maybe(server.cwd),
    url: maybe(server.url),
    headers: all(server.headers),
    apiKey: keyStoreOf(server) === null ? keyOf(server, valueOf) : undefined,
  };
}

/** Returns the store that holds the key: a project's file cannot name one of the user's. */
export function keyStoreOf({ origin, apiKey }: McpServer): "keyring" | "file" | null {
  return origin === "user" ? storeOf({ apiKey }) : null;
}

function keyOf({ origin, apiKey }: McpServer, valueOf: (name: string) => string): string | undefined {
  const variable = origin === "client" ? null : variableOf(apiKey?.trim() ?? "");
  return variable === null ? apiKey : valueOf(variable);
}

function unusable({ name }: McpServer, why: string): AgentcliError {
  return new AgentcliError("config_invalid", `the MCP server ${name} cannot be used: ${why}`, {
    hint: `set the variable, or change the server: agentcli mcp show ${name}`,
  });
}

/** Returns the command line or the address as a person sees it: variables by their names, never their values. */
export function shownServer({ command, args, url }: McpServerEntry): string {
  if (url !== undefined) return url;
  return [command ?? "", ...args].map((word) => /^[\w@%+=:,./~${}-]+$/.test(word) ? word : shellQuoted(word)).join(" ");
}

/** Returns everything that decides what is started or reached: a person approves each of these fields. */
export function decidingFields(server: McpServerEntry) {
  const { command, args, env, cwd, url, headers, network, apiKey, label, description } = server;
  // The description goes to the model.
  const decisive = { command, args, env: sorted(env), cwd, url, headers: sorted(headers), network, apiKey, label };
  return { ...decisive, description };
}

/** Returns a digest of {@link decidingFields}. */
export async function serverHash(server: McpServerEntry): Promise<string> {
  return await sha256(JSON.stringify(decidingFields(server)));
}

function sorted(values: Record<string, string>): [string, string][] {
  return Object.entries(values).sort(([one], [other]) => one < other ? -1 : 1);
}
