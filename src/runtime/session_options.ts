/** What a session is made from, whatever surface it serves. */
import type { PermissionMode } from "../config/types.ts";
import type { StoreOptions } from "./store_options.ts";

/** The options of one session. A surface has its own way to ask for them; lists are empty where nothing is asked for. */
export interface SessionOptions extends StoreOptions {
  /** `provider`, `provider:model` or `demo`; absent: the configured model. */
  model?: string | undefined;
  /** Tokens of one reply, at most. */
  maxTokens?: number | undefined;
  temperature?: number | undefined;
  /** Replaces the system prompt. */
  systemPrompt?: string | undefined;
  appendSystemPrompt?: string | undefined;
  /** Lets the next prompt that holds protected content go to a remote model, once. */
  allowProtectedPrompt: boolean;
  /** Files that are attached to the first prompt. */
  file: readonly string[];
  /** Directories besides the project that tools may use. */
  addDir: readonly string[];
  permissionMode?: PermissionMode | undefined;
  allowedTools: readonly string[];
  disallowedTools: readonly string[];
  /** Names of the tools that are offered; `none` for none. */
  tools: readonly string[];
  /** Replies of one turn, at most. */
  maxTurns?: number | undefined;
  /** Seconds of one turn, at most. */
  timeout?: number | undefined;
}
