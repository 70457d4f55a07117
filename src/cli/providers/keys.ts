/** Runs `agentcli providers set-key` and `unset-key`. */
import { findConfigured } from "../../config/find.ts";
import { checkedKey, storeOf } from "../../config/endpoint.ts";
import { boundOrigin, openKeyStore } from "../../config/keys/stored_key.ts";
import type { KeyStoreName } from "../../config/keys/store.ts";
import { AgentcliError } from "../../errors.ts";
import { configured, edit, notice, print, warn } from "../result.ts";
import type { Context, Invocation } from "../command.ts";
import type { SET_KEY_OPTIONS } from "./command.ts";
import { RUNTIMES, STUDIO } from "../../config/base_url.ts";
import type { Io } from "../../platform/io.ts";
import { readWhole } from "../../platform/text.ts";
import { askHidden } from "../../terminal/prompt.ts";
import type { ProviderEntry } from "../../config/types.ts";

const PLACES: Record<KeyStoreName, string> = { keyring: "the system keyring", file: "credentials.json" };

/** Runs the command. A store that cannot be used is `key_store_unusable`: there is no fallback. */
export async function setKey(
  { options, arguments: words, context }: Invocation<typeof SET_KEY_OPTIONS>,
): Promise<void> {
  const { io } = context;
  const provider = findConfigured((await configured(context)).configuration, words[0] ?? "");
  const { name } = provider;
  const place = options.store ?? "keyring";
  const store = await openKeyStore(place, io);
  // Before asking for the key: nobody should type one that cannot be stored.
  await withAdvice(name, () => store.read(name).catch((error) => ignoreUnreadable(error, place)));
  const key = await readKey(io, name);
  const origin = boundOrigin(provider, io.env);
  await withAdvice(name, () => store.write(name, { origin, key }));
  const before = storeOf(provider);
  try {
    await edit(context, (document) => document.setProviderField(name, { key: "api_key", value: place }));
  } catch (error) {
    // A key without an entry would stay there forever.
    if (before !== place) await store.remove(name).catch(() => {});
    throw error;
  }
  if (before !== null && before !== place) await dropStoredKey(provider, context);
  await print(context, {
    json: { name, store: place, origin, change: "stored" },
    text: `stored the key of ${name} in ${PLACES[place]}, for ${origin}\n`,
  });
  if (place === "file") {
    await notice(
      context,
      "the file protects the key only from a casual look: anyone who can read the home can read it",
    );
  }
}

/** For an entry of the file that does not open, a new key is the cure; writing reports everything else. */
function ignoreUnreadable(error: unknown, place: KeyStoreName): null {
  if (place === "file" && error instanceof AgentcliError && error.code === "key_store_unusable") return null;
  throw error;
}

/** Puts the provider's name into the advice. */
async function withAdvice<T>(name: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof AgentcliError) || error.hint === undefined) throw error;
    throw new AgentcliError(error.code, error.message, { hint: error.hint.replace("<name>", name), cause: error });
  }
}

/**
 * Runs the command; a provider without a stored key is no failure. Throws `key_store_unusable`, and changes nothing
 * then.
 */
export async function unsetKey({ arguments: words, context }: Invocation): Promise<void> {
  const { io } = context;
  const provider = findConfigured((await configured(context)).configuration, words[0] ?? "");
  const { name } = provider;
  const place = storeOf(provider);
  if (place === null) {
    const json = { name, store: null, change: "unchanged" };
    return await print(context, { json, message: `${name} has no stored key` });
  }
  await (await openKeyStore(place, io)).remove(name);
  // The studio goes back to the variable it is shipped with; it has no keyless placeholder (seed §5).
  const value = name === STUDIO.id ? RUNTIMES.find(({ id }) => id === name)?.apiKey : undefined;
  await edit(context, (document) => document.setProviderField(name, { key: "api_key", value }));
  await print(context, {
    json: { name, store: place, change: "removed" },
    text: `removed the key of ${name} from the ${place}\n`,
  });
}

/** Bytes of standard input; keys have a few hundred at most. */
const INPUT_LIMIT = 64 * 1024;

/**
 * The key for `provider`, trimmed; `group` holds the command that asks. Throws `usage` for none, or for one that a
 * header cannot carry.
 */
export async function readKey(io: Io, provider: string, group: "providers" | "mcp" = "providers"): Promise<string> {
  const text = io.stdin.isTerminal ? await askHidden(io, `Key for ${provider}: `) : await readPiped(io.stdin);
  if (text === null || text.trim() === "") {
    throw new AgentcliError("usage", "no key was given", {
      hint: `type it when asked, or pipe it in: … | agentcli ${group} set-key ${provider}`,
    });
  }
  const { key, problem } = checkedKey("literal", text);
  if (key !== undefined) return key;
  throw new AgentcliError("usage", problem ?? "invalid key", {
    hint: "a key is one line of printable ASCII characters",
  });
}

async function readPiped(stdin: Io["stdin"]): Promise<string> {
  const bytes = await readWhole(stdin, INPUT_LIMIT);
  if (bytes === null) throw new AgentcliError("usage", "standard input is too long for a key");
  return new TextDecoder().decode(bytes);
}

/**
 * Removes the stored key of `provider`, if its entry says that it has one; a store that cannot be used is a warning.
 */
export async function dropStoredKey(provider: ProviderEntry, context: Context): Promise<void> {
  const place = storeOf(provider);
  if (place === null) return;
  try {
    await (await openKeyStore(place, context.io)).remove(provider.name);
  } catch (error) {
    if (!(error instanceof AgentcliError)) throw error;
    await warn(context, `the key of ${provider.name} may still be in the ${place}: ${error.message}`);
  }
}
