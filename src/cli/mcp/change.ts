/** Runs `agentcli mcp add`, `remove`, `import` and `set-key`. */
import { readRegularFile } from "../../boundary/reader.ts";
import { openKeyStore } from "../../config/keys/stored_key.ts";
import type { McpServerRecord } from "../../config/schema.ts";
import type { Exposure, McpServerEntry } from "../../config/types.ts";
import { AgentcliError } from "../../errors.ts";
import { keyName } from "../../mcp/http.ts";
import { startsOwnServer } from "../../mcp/own_server.ts";
import { readServers } from "../../mcp/server.ts";
import { userHomeOf } from "../../platform/home.ts";
import { join, resolve } from "../../platform/path.ts";
import { clean } from "../../terminal/clean.ts";
import type { Context, Invocation } from "../command.ts";
import { configured, confirmed, edit, notice, print, warn } from "../result.ts";
import { readKey } from "../providers/keys.ts";
import { unknownServer } from "./servers.ts";
import type { ADD_OPTIONS, IMPORT_OPTIONS, SET_KEY_OPTIONS } from "./command.ts";

/** Runs the command. A mistake in the name or the values is `config_invalid`, and nothing is written. */
export async function addServer(
  { options, arguments: [name = "", ...words], context }: Invocation<typeof ADD_OPTIONS>,
): Promise<void> {
  const { url, apiKey, timeout, network, local, noCloud, replace } = options;
  const [program, ...args] = words;
  if (startsOwnServer({ command: program, args })) {
    throw new AgentcliError("usage", "that is the server of agentcli itself, which is for other programs", {
      hint: "add it to one: agentcli mcp install claude",
    });
  }
  if ((program === undefined) === (url === undefined)) {
    throw new AgentcliError("usage", "give either a program or --url", {
      hint: `agentcli mcp add ${clean(name) || "NAME"} -- PROGRAM ARGUMENTS`,
    });
  }
  const tools: [string, Exposure][] = [
    ...namesIn(options.direct).map((tool): [string, Exposure] => [tool, "direct"]),
    ...namesIn(options.off).map((tool): [string, Exposure] => [tool, "off"]),
  ];
  const server = filled({
    command: program,
    args,
    url,
    env: pairs(options.env, "="),
    headers: pairs(options.header, ":"),
    api_key: apiKey,
    timeout,
    network: network || undefined,
    local: local || undefined,
    label: noCloud ? "no-cloud" : undefined,
    tools: Object.fromEntries(tools),
  });
  await edit(context, (document) => {
    const exists = Object.hasOwn(document.value().mcp_servers ?? {}, name);
    if (exists && !replace) throw taken(name);
    document.setSetting(`mcp_servers.${name}`, server);
  });
  await print(context, { json: { name, change: "added" }, text: `added ${clean(name)}\n` });
  await notice(context, `try it: agentcli mcp test ${clean(name)}`);
}

function taken(name: string): AgentcliError {
  return new AgentcliError("config_invalid", `there is an MCP server ${name} already`, {
    hint: "pass --replace to replace it as a whole, or choose another name",
  });
}

function namesIn(values: readonly string[]): string[] {
  return values.flatMap((value) => value.split(",")).map((name) => name.trim()).filter((name) => name !== "");
}

/** Returns the fields with a value: no undefined ones, no empty lists and tables. */
function filled(fields: { [K in keyof McpServerRecord]: McpServerRecord[K] | undefined }): McpServerRecord {
  const isEmpty = (value: unknown) =>
    value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function pairs(values: readonly string[], sign: string): Record<string, string> {
  return Object.fromEntries(values.map((value) => {
    const at = value.indexOf(sign);
    if (at > 0) return [value.slice(0, at).trim(), value.slice(at + 1).trim()];
    throw new AgentcliError("usage", `expected NAME${sign}VALUE`, { hint: "the value may name a variable: ${NAME}" });
  }));
}

/** Returns a server of the user's own file. Throws `usage` for an unknown one. */
async function ownServer(context: Context, name: string): Promise<McpServerEntry> {
  const servers = (await configured(context)).configuration.mcpServers ?? [];
  const found = servers.find((server) => server.name === name);
  if (found !== undefined) return found;
  throw unknownServer(name, { names: servers.map((server) => server.name), where: "in providers.yaml" });
}

/** Runs the command. Returns 1 where the person said no. */
export async function removeServer({ arguments: [name = ""], context }: Invocation): Promise<number> {
  const server = await ownServer(context, name);
  if (!await confirmed(context, `Remove ${name} from the configuration?`)) return 1;
  await edit(context, (document) => void document.unsetSetting(`mcp_servers.${name}`));
  if (server.apiKey === "keyring" || server.apiKey === "file") {
    const place = server.apiKey;
    await (await openKeyStore(place, context.io)).remove(keyName(name)).catch(() =>
      warn(context, `the key of ${name} may still be in the ${place}`)
    );
  }
  await print(context, { json: { name, change: "removed" }, text: `removed ${name}\n` });
  return 0;
}

const FILE_LIMIT = 4 * 1024 * 1024;

/** Runs the command. Returns 1 where a server of the file could not be imported. */
export async function importServers(
  { options, arguments: [file = ""], context }: Invocation<typeof IMPORT_OPTIONS>,
): Promise<number> {
  const { servers, problems } = readServers(await dataOf(file, context));
  const added: string[] = [];
  const left = problems.map(({ name, problem }) => ({ name, problem }));
  await edit(context, (document) => {
    for (const server of servers) {
      const exists = Object.hasOwn(document.value().mcp_servers ?? {}, server.name);
      if (startsOwnServer(server)) {
        left.push({ name: server.name, problem: "it is the server of agentcli itself, for other programs" });
        continue;
      }
      if (exists && !options.replace) {
        left.push({ name: server.name, problem: "there is one of that name (--replace replaces it)" });
        continue;
      }
      document.setSetting(`mcp_servers.${server.name}`, recordOf(server));
      added.push(server.name);
    }
  });
  const text = `added ${added.map((name) => clean(name)).join(", ")}\n`;
  const shown = added.length > 0 ? { text } : { message: "no server was added" };
  await print(context, { json: { added, left_out: left }, ...shown });
  for (const { name, problem } of left) await warn(context, `${name} is left out: ${problem}`);
  return left.length === 0 && (added.length > 0 || servers.length > 0) ? 0 : 1;
}

async function dataOf(file: string, { io, globals }: Context): Promise<unknown> {
  const path = /^~[/\\]/.test(file) ? join(userHomeOf(io) ?? "", file.slice(1)) : resolve(globals.cwd, file);
  const read = readRegularFile(path, { display: file, limit: FILE_LIMIT });
  if ("refused" in read) throw new AgentcliError("usage", read.message, { hint: "give the file of another program" });
  const text = new TextDecoder().decode(read.bytes);
  try {
    if (/\.toml$/i.test(path)) return (await import("./toml.ts")).parseServersToml(text);
    if (/\.ya?ml$/i.test(path)) {
      const { parseYaml, plainValue } = await import("../../config/yaml.ts");
      return plainValue(parseYaml(text));
    }
    const { dataOf: valueOf, parseJsonTree } = await import("../../editor/resources/json_tree.ts");
    return valueOf(parseJsonTree(text));
  } catch {
    throw new AgentcliError("usage", `${clean(file)} cannot be read as JSON, TOML or YAML`, {
      hint: "the name of the file says which of them it is",
    });
  }
}

function recordOf(server: McpServerEntry): McpServerRecord {
  const { command, args, env, cwd, url, headers, apiKey, enabled, timeout, tools, network, label, description } =
    server;
  return filled({
    ...{ command, args, url, env, cwd, headers, api_key: apiKey },
    enabled: enabled ? undefined : false,
    timeout: timeout === 60 ? undefined : timeout,
    ...{ tools, network: network || undefined, label, description },
  });
}

/** Runs the command. A store that cannot be used is `key_store_unusable`: there is no fallback. */
export async function setKey(
  { options, arguments: [name = ""], context }: Invocation<typeof SET_KEY_OPTIONS>,
): Promise<void> {
  const { io } = context;
  const { url } = await ownServer(context, name);
  if (url === undefined) {
    throw new AgentcliError("usage", `${name} is a program, which gets its keys as variables`, {
      hint: `env: { NAME: "\${NAME}" } in providers.yaml, under mcp_servers.${name}`,
    });
  }
  const place = options.store ?? "keyring";
  const store = await openKeyStore(place, io);
  const key = await readKey(io, name, "mcp");
  const { origin } = new URL(url);
  await store.write(keyName(name), { origin, key });
  await edit(context, (document) => document.setSetting(`mcp_servers.${name}.api_key`, place));
  const json = { name, store: place, origin, change: "stored" };
  await print(context, { json, text: `stored the key of ${name}, for ${origin}\n` });
}
