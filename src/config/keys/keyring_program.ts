/** Running the small program that speaks with the keyring of the system. The key goes to its input, never to its arguments. */
import { run } from "../../platform/process.ts";
import { storeUnusable } from "./store.ts";

/** The ways of one system. Texts are single words of ASCII. Each throws `key_store_unusable`. */
export interface KeyringProgram {
  /** Null when there is no entry. */
  find(entry: string): Promise<string | null>;
  keep(entry: string, text: string): Promise<void>;
  /** Whether there was an entry. */
  drop(entry: string): Promise<boolean>;
}

/** One call of the program. */
export interface KeyringCall {
  argv: readonly [string, ...string[]];
  /** All variables it gets. */
  env: Record<string, string>;
  stdin?: string;
  /** Milliseconds. */
  timeoutMs: number;
}

/** What it said. */
export interface KeyringAnswer {
  code: number;
  stdout: string;
  stderr: string;
}

/** Under this name entries stand in the keyring. */
export const SERVICE = "agentcli";
/** Characters that are read; an entry has a few hundred. */
const OUTPUT_LIMIT = 64 * 1024;

/**
 * Runs the program. One that does not answer in time is ended: a locked keyring asks with a window, and a run without a
 * person would wait for ever.
 */
export async function callKeyring(call: KeyringCall): Promise<KeyringAnswer> {
  const decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  const said = { stdout: "", stderr: "" };
  const outcome = await run({
    argv: call.argv,
    cwd: "/",
    env: call.env,
    timeoutMs: call.timeoutMs,
    ...(call.stdin === undefined ? {} : { stdin: new TextEncoder().encode(call.stdin) }),
    onOutput(bytes, stream) {
      if (said[stream].length < OUTPUT_LIMIT) said[stream] += decoders[stream].decode(bytes, { stream: true });
    },
  }).catch(() => {
    throw storeUnusable("keyring", "its program cannot be started");
  });
  if (outcome.ended !== "exit") throw storeUnusable("keyring", "it does not answer; it is locked, or asks somebody");
  return { code: outcome.code, ...said };
}
