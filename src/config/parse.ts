/** Parses and checks the text of providers.yaml. Loads YAML and the schema: import this module lazily. */
import { AgentcliError } from "../errors.ts";
import {
  KEYS,
  knownKeys,
  type McpServerRecord,
  type ModelRecord,
  type ProviderRecord,
  type ProvidersFile,
  schemaIssues,
} from "./schema.ts";
import { didYouMean } from "./suggest.ts";
import {
  CHECK_TIMEOUT,
  type Configuration,
  type McpServerEntry,
  type ModelEntry,
  type ProviderEntry,
  ROLES,
} from "./types.ts";
import { type ParsedYaml, parseYaml, plainValue, positionAt, positionOf, YamlProblem } from "./yaml.ts";
import { MCP_SERVER_NAME, MCP_SERVER_NAME_RULE } from "./mcp_names.ts";
import { baseUrlProblem } from "./base_url.ts";
import { DEMO, PROVIDER_NAME, PROVIDER_NAME_RULE, splitSelector } from "./find.ts";
import { isLocal } from "../boundary/policy/locality.ts";
import { isAbsolute } from "../platform/path.ts";

/** Seconds to wait where a provider says nothing. Source: specification of providers.yaml. */
const TIMEOUT = { connect: 10, firstByte: 600, idle: 300 };

/** Key path as people write it: `providers.runtime_a.models[0].id`. */
export function keyPathText(path: readonly (string | number)[]): string {
  let text = "";
  for (const part of path) text += typeof part === "number" ? `[${part}]` : text === "" ? part : `.${part}`;
  return text;
}

function invalid(path: string, place: { line: number; column: number }, message: string): AgentcliError {
  return new AgentcliError("config_invalid", `${path}:${place.line}:${place.column}: ${message}`, {
    hint: "correct that line; nothing was changed",
  });
}

/** Parses `text` of the file `path`. Text without usable YAML is `config_invalid` with line and column. */
export function readYaml(text: string, path: string): { parsed: ParsedYaml; value: unknown } {
  const replaced = text.indexOf("\ufffd");
  if (replaced >= 0) throw invalid(path, positionAt(text, replaced), "the file is not UTF-8 text");
  try {
    const parsed = parseYaml(text);
    return { parsed, value: plainValue(parsed) };
  } catch (error) {
    if (error instanceof YamlProblem) throw invalid(path, positionAt(text, error.offset), error.message);
    throw error;
  }
}

/**
 * Returns plain data without the keys that were left empty (`models:` with nothing after it), so that an empty key
 * means the same as an absent one, and with `yes` and `no` of switches as true and false. `params` and `engines` stay
 * as they are; a provider that is empty stays, to be reported.
 */
export function withoutEmpty(value: unknown, path: readonly string[] = []): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutEmpty(item, [...path, ""]));
  if (typeof value !== "object" || value === null) return value;
  const isProviders = path.length === 1 && path[0] === "providers";
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    if (key === "params" || key === "engines") return inner === null ? [] : [[key, inner]];
    if (inner === null) return isProviders ? [[key, {}]] : [];
    if (isSwitch(key, path) && (inner === "yes" || inner === "no")) return [[key, inner === "yes"]];
    return [[key, withoutEmpty(inner, [...path, key])]];
  });
  // Not by assignment: `__proto__` must become a key, not the prototype.
  return Object.fromEntries(entries);
}

/** The keys of the schema that are true or false. */
export const SWITCHES: ReadonlySet<string> = new Set([
  "warm_up",
  "images",
  "local",
  "enabled",
  "network",
  "show_protected",
]);

/** Whether a key is a known switch, for which people also write yes and no; not a name that they chose. */
function isSwitch(key: string, path: readonly string[]): boolean {
  return SWITCHES.has(key) && !["env", "headers", "tools"].includes(path.at(-1) ?? "");
}

/** Errors and warnings about plain data. */
interface Findings {
  errors: RuleIssue[];
  warnings: RuleIssue[];
  /** The data, when there are no errors. */
  file: ProvidersFile;
}

/** Checks plain data with the schema and the rules between values. */
export function checkFile(value: unknown): Findings {
  const data = withoutEmpty(value ?? {});
  const issues = schemaIssues(data);
  const unknownRole = (path: (string | number)[]) => path[0] === "roles" && path.length === 2;
  const errors: Findings["errors"] = [];
  const warnings: Findings["warnings"] = [];
  for (const { path, message, unknownKey } of issues) {
    if (unknownKey && unknownRole(path)) {
      errors.push({ path, key: true, message: `expected one of ${ROLES.join(", ")}` });
    } else if (unknownKey) {
      const near = didYouMean(String(path.at(-1)), knownKeys(path));
      warnings.push({ path, key: true, message: `unknown key, kept but not used${near ? `; ${near}` : ""}` });
    } else errors.push({ path, message });
  }
  // The schema has no transforms and only unknown keys are left over, so the data has the schema's type.
  const file = data as ProvidersFile;
  if (errors.length === 0) errors.push(...ruleIssues(file));
  return { errors, warnings, file };
}

/** Parses and checks the whole file. Every failure is `config_invalid` with file, line, column, key path and rule. */
export function parseConfiguration(text: string, path: string): Configuration {
  const { parsed, value } = readYaml(text, path);
  const { errors, warnings, file } = checkFile(value);
  const first = errors[0];
  if (first) {
    const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
    const name = keyPathText(first.path) || "the file";
    throw invalid(path, positionOf(parsed, first.path, first), `${name}: ${first.message}${more}`);
  }
  return {
    ...toConfiguration(file, path),
    warnings: warnings.slice(0, 20).map((warning) => {
      const place = positionOf(parsed, warning.path, warning);
      return `${path}:${place.line}:${place.column}: ${keyPathText(warning.path)}: ${warning.message}`;
    }),
  };
}

function toModel(model: ModelRecord): ModelEntry {
  const fields = KEYS.model.filter((key) => key !== "alias").map((key) => [
    key.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()),
    model[key as keyof ModelRecord],
  ]);
  return { ...Object.fromEntries(fields), aliases: aliasesOf(model.alias) };
}

function toProvider(name: string, provider: ProviderRecord, file: string): ProviderEntry {
  return {
    name,
    file,
    baseUrl: provider.base_url,
    apiKey: provider.api_key,
    models: (provider.models ?? []).map(toModel),
    headers: Object.fromEntries(Object.entries(provider.headers ?? {})),
    timeout: {
      connect: provider.timeout?.connect_s ?? TIMEOUT.connect,
      firstByte: provider.timeout?.first_byte_s ?? TIMEOUT.firstByte,
      idle: provider.timeout?.idle_s ?? TIMEOUT.idle,
    },
    local: provider.local ?? false,
    caFile: provider.ca_file,
  };
}

/** Seconds that a call of an MCP server may take by default. */
const MCP_TIMEOUT = 60;

/** Returns an MCP server as it is used, from its entry in the file. */
function toMcpServer(name: string, server: McpServerRecord): McpServerEntry {
  const { command, args = [], cwd, url, api_key: apiKey, network, label, description } = server;
  return {
    name,
    ...{ command, args, cwd, url, apiKey, label, description },
    env: Object.fromEntries(Object.entries(server.env ?? {})),
    headers: Object.fromEntries(Object.entries(server.headers ?? {})),
    enabled: server.enabled ?? true,
    timeout: server.timeout ?? MCP_TIMEOUT,
    tools: Object.fromEntries(Object.entries(server.tools ?? {})),
    network: network === true || network === "yes",
    local: server.local ?? false,
  };
}

/** The checked file with every optional list filled in. */
export function toConfiguration(file: ProvidersFile, path: string): Configuration {
  const check = typeof file.check === "string" ? { command: file.check, timeout_s: undefined } : file.check;
  const mcpServers = Object.entries(file.mcp_servers ?? {}).map(([name, server]) => toMcpServer(name, server));
  return {
    path,
    exists: true,
    defaultProvider: file.default_provider,
    defaultModel: file.default_model,
    roles: { ...file.roles },
    permissions: { allow: file.permissions?.allow ?? [], deny: file.permissions?.deny ?? [] },
    ...(check === undefined ? {} : { check: { command: check.command, timeout: check.timeout_s ?? CHECK_TIMEOUT } }),
    notify: file.notify,
    ...(file.acp?.show_protected === undefined ? {} : { acp: { showProtected: file.acp.show_protected } }),
    sandbox: {
      mode: file.sandbox?.mode ?? "auto",
      read: file.sandbox?.read ?? [],
      write: file.sandbox?.write ?? [],
      network: file.sandbox?.network ?? false,
      env: file.sandbox?.env ?? [],
    },
    ...(mcpServers.length === 0 ? {} : { mcpServers }),
    // Only where there are some: their names are data, even `__proto__`, and stay own keys.
    ...(file.engines === undefined ? {} : { engines: Object.fromEntries(Object.entries(file.engines)) }),
    providers: Object.entries(file.providers ?? {}).map(([name, provider]) => toProvider(name, provider, path)),
    warnings: [],
  };
}

interface RuleIssue {
  path: (string | number)[];
  /** The expected value; never the value of a key, a header or a URL. */
  message: string;
  /** It is the key that is wrong, not its value. */
  key?: true;
}

/** Aliases of a model record as a list. */
export function aliasesOf(alias: string | string[] | undefined): string[] {
  return alias === undefined ? [] : typeof alias === "string" ? [alias] : alias;
}

function* aliasIssues(name: string, provider: ProviderRecord): Generator<RuleIssue> {
  const models = provider.models ?? [];
  const ids = new Set(models.map((model) => model.id));
  const owners = new Map<string, string>();
  for (const [index, model] of models.entries()) {
    const path = ["providers", name, "models", index, "alias"];
    for (const alias of aliasesOf(model.alias)) {
      const owner = owners.get(alias) ?? (ids.has(alias) && alias !== model.id ? alias : undefined);
      if (owner !== undefined && owner !== model.id) {
        yield { path, message: `the alias ${alias} of ${model.id} already stands for ${owner}` };
      }
      owners.set(alias, model.id);
    }
  }
}

// A field name of HTTP (RFC 9110), and a value without control characters.
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function* headerIssues(path: string[], headers: Record<string, string> = {}): Generator<RuleIssue> {
  for (const [header, value] of Object.entries(headers)) {
    if (!HEADER_NAME.test(header)) {
      yield { path: [...path, "headers", header], key: true, message: "expected a header name" };
    } else if (typeof value !== "string" || !HEADER_VALUE.test(value)) {
      yield { path: [...path, "headers", header], message: "expected a value that is valid in an HTTP header" };
    }
  }
}

function* providerIssues(name: string, provider: ProviderRecord): Generator<RuleIssue> {
  const path = ["providers", name];
  if (!PROVIDER_NAME.test(name)) {
    yield { path, key: true, message: `a provider name consists of ${PROVIDER_NAME_RULE}` };
  }
  if (name === DEMO) yield { path, key: true, message: `the name ${DEMO} is reserved for the built-in demo` };
  const problem = baseUrlProblem(provider.base_url);
  if (problem !== null) yield { path: [...path, "base_url"], message: problem };
  yield* headerIssues(path, provider.headers);
  if (provider.ca_file !== undefined && !isAbsolute(provider.ca_file)) {
    yield { path: [...path, "ca_file"], message: "expected an absolute path" };
  }
  yield* aliasIssues(name, provider);
}

function* mcpServerIssues(name: string, server: McpServerRecord): Generator<RuleIssue> {
  const path = ["mcp_servers", name];
  if (!MCP_SERVER_NAME.test(name)) {
    yield { path, key: true, message: `the name of an MCP server consists of ${MCP_SERVER_NAME_RULE}` };
  }
  if ((server.command === undefined) === (server.url === undefined)) {
    yield { path, message: "expected either command or url" };
  }
  const address = server.url === undefined ? undefined : URL.parse(server.url);
  if (address === null || (address !== undefined && !/^https?:$/.test(address.protocol))) {
    yield { path: [...path, "url"], message: "expected an http or https address" };
  } else if (address !== undefined && (address.username !== "" || address.password !== "")) {
    yield { path: [...path, "url"], message: "expected an address without a user name and password; use api_key" };
  }
  if (server.local === true && !isLocal(server.url ?? "", [])) {
    yield { path: [...path, "local"], message: "only a server at localhost, 127.0.0.1 or [::1] can be local" };
  }
  yield* headerIssues(path, server.headers);
}

/** Every broken rule, in the order of the file. */
function* ruleIssues(file: ProvidersFile): Generator<RuleIssue> {
  if (file.default_provider !== undefined && !PROVIDER_NAME.test(file.default_provider)) {
    yield { path: ["default_provider"], message: `expected a provider name: ${PROVIDER_NAME_RULE}` };
  }
  for (const [role, selector] of Object.entries(file.roles ?? {})) {
    const parts = splitSelector(selector);
    if (parts === null || !(PROVIDER_NAME.test(parts.provider))) {
      yield { path: ["roles", role], message: "expected <provider>[:<model or alias>]" };
    }
  }
  for (const name of Object.keys(file.engines ?? {})) {
    if (PROVIDER_NAME.test(name)) continue;
    yield { path: ["engines", name], key: true, message: `the name of an engine consists of ${PROVIDER_NAME_RULE}` };
  }
  for (const [name, server] of Object.entries(file.mcp_servers ?? {})) yield* mcpServerIssues(name, server);
  for (const [name, provider] of Object.entries(file.providers ?? {})) yield* providerIssues(name, provider);
}
