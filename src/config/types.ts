/** The configuration as the program uses it: providers.yaml after the schema, with every optional list filled in. */

import type { EngineTemplate, McpServerRecord, ModelRecord } from "./schema.ts";

export type { EngineTemplate };

/** Roles of models in a session. Source: specification of providers.yaml. */
export const ROLES = ["main", "compact", "subagent"] as const;
export type Role = typeof ROLES[number];

/** Modes for what runs without a question. Source: specification of the command line, permissions. */
export const PERMISSION_MODES = ["default", "acceptEdits", "plan", "bypassPermissions"] as const;
export type PermissionMode = typeof PERMISSION_MODES[number];

/** Seconds that a check may take by default. */
export const CHECK_TIMEOUT = 300;

/** A key of the file as a field of the program: `context_window` is `contextWindow`. */
type Field<Key extends string> = Key extends `${infer First}_${infer Rest}` ? `${First}${Capitalize<Field<Rest>>}`
  : Key;

/** A record of the file with its keys as fields; the schema says what each of them means. */
type Fields<T> = { [Key in keyof T as Key extends string ? Field<Key> : never]: T[Key] };

/** One entry of a provider's `models:`. */
export type ModelEntry = Fields<Omit<ModelRecord, "alias">> & { aliases: string[] };

/** One entry of `providers:`. */
export interface ProviderEntry {
  name: string;
  /** As written, before `STUDIO_F_BASE_URL`. */
  baseUrl: string;
  /** `keyring`, `file`, `none`, `$NAME`, a literal, or absent. */
  apiKey?: string;
  models: ModelEntry[];
  headers: Record<string, string>;
  /** Seconds. */
  timeout: { connect: number; firstByte: number; idle: number };
  /** The user's word that a gateway on loopback is local anyway. */
  local: boolean;
  caFile?: string;
  /** Absolute path of the file that it stands in, for messages; absent for the built-in ones. */
  file?: string;
}

/**
 * How tools of an MCP server are offered to the model: each as a function of its own, through McpFind and McpCall, or
 * not at all.
 */
export const EXPOSURES = ["direct", "search", "off"] as const;
export type Exposure = typeof EXPOSURES[number];

/** One entry of `mcp_servers:`, or of another program's file in that form. Either `command` or `url` is there. */
export type McpServerEntry =
  & { name: string; network: boolean }
  & Fields<Pick<McpServerRecord, "command" | "cwd" | "url" | "api_key" | "label" | "description">>
  & Required<Pick<McpServerRecord, "args" | "env" | "headers" | "enabled" | "timeout" | "tools" | "local">>;

export interface Configuration {
  /** Absolute path of providers.yaml. */
  path: string;
  /** False when there is no file yet; then everything else is empty. */
  exists: boolean;
  defaultProvider?: string;
  defaultModel?: string;
  /** Selector text per role. */
  roles: Partial<Record<Role, string>>;
  permissions: { allow: string[]; deny: string[] };
  /** The command that checks what a turn changed, and its time limit in seconds; absent for none. */
  check?: { command: string; timeout: number };
  /** How the chat gets the attention of a person; absent: the bell. */
  notify?: "bell" | "osc9" | "off";
  /** Clients of the Agent Client Protocol get what a model says of protected content; absent: they do. */
  acp?: { showProtected: boolean };
  sandbox: { mode: "auto" | "always" | "never"; read: string[]; write: string[]; network: boolean; env: string[] };
  /** Own command templates of `local-model serve`, by name; absent for none. */
  engines?: Record<string, EngineTemplate>;
  /** MCP servers in the order of the file; absent for none. */
  mcpServers?: McpServerEntry[];
  /** In the order of the file. */
  providers: ProviderEntry[];
  /** Odd but usable entries (unknown keys), one sentence each. */
  warnings: string[];
}

export interface Selection {
  provider: ProviderEntry;
  model: ModelEntry;
  /** Says that the server could not tell whether it has the model. */
  warning?: string;
  /** The input that decided, for messages. */
  source: "--model" | "AGENTCLI_MODEL" | "default" | "roles.main" | "only provider" | "session";
}
