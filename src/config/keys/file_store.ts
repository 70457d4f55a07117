/**
 * `credentials.json` of the home: keys under AES-GCM, with the key of that beside them in `credentials.key`. This hides
 * them from a casual look and from searches for keys, not from whoever can read the home. Source: specification of
 * keys.
 */
import type { Home } from "../../platform/home.ts";
import { quietly } from "../../platform/real_path.ts";
import { fieldsOf, isRecord, parseJson } from "../../platform/record.ts";
import { type KeyStore, type StoredKey, storeUnusable } from "./store.ts";

const FILE = "credentials.json";
const KEY_FILE = "credentials.key";
const CIPHER = "AES-GCM";
const KEY_BYTES = 32;
/** As the standard of the mode recommends (NIST SP 800-38D). */
const NONCE_BYTES = 12;

interface Entry {
  origin: string;
  nonce: string;
  data: string;
}
type Entries = Map<string, Entry>;

/** The store in `home`. Concurrent writers lose nothing; a file that cannot be read is never overwritten. */
export function openFileStore(home: Home): KeyStore {
  return {
    async read(provider) {
      const entry = (await readEntries(home)).get(provider);
      return entry === undefined ? null : await open(await keptCipherKey(home), { provider, entry });
    },
    async write(provider, stored) {
      await home.locked(FILE, async () => {
        const entries = await readEntries(home);
        const cipherKey = entries.size === 0 ? await anyCipherKey(home) : await keptCipherKey(home);
        await writeEntries(home, entries.set(provider, await seal(cipherKey, { provider, stored })));
      });
    },
    async remove(provider) {
      // Without a file there is nothing to lock, and no home to create.
      if (await home.read(FILE) === null) return false;
      return await home.locked(FILE, async () => {
        const entries = await readEntries(home);
        if (!entries.delete(provider)) return false;
        await writeEntries(home, entries);
        return true;
      });
    },
  };
}

async function readEntries(home: Home): Promise<Entries> {
  const text = await home.read(FILE);
  if (text === null) return new Map();
  const entries = parseEntries(text);
  if (entries !== null) return entries;
  throw storeUnusable("file", `${home.file(FILE)} is damaged`, { hint: "remove that file and set the keys anew" });
}

function parseEntries(text: string): Entries | null {
  const { version, entries } = fieldsOf(parseJson(text));
  if (version !== 1 || !isRecord(entries)) return null;
  const found = Object.entries(entries);
  return found.every((pair): pair is [string, Entry] => isEntry(pair[1])) ? new Map(found) : null;
}

function isEntry(value: unknown): boolean {
  const { origin, nonce, data } = fieldsOf(value);
  return [origin, nonce, data].every((text) => typeof text === "string");
}

async function writeEntries(home: Home, entries: Entries): Promise<void> {
  await home.write(FILE, JSON.stringify({ version: 1, entries: Object.fromEntries(entries) }, null, 2) + "\n");
}

/**
 * The key file's key, created when there is none. Only inside the lock, and only while nothing depends on an older one.
 */
async function anyCipherKey(home: Home): Promise<CryptoKey> {
  if (await home.read(KEY_FILE) === null) {
    await home.write(KEY_FILE, crypto.getRandomValues(new Uint8Array(KEY_BYTES)).toBase64() + "\n");
  }
  return await keptCipherKey(home);
}

async function keptCipherKey(home: Home): Promise<CryptoKey> {
  const bytes = fromBase64((await home.read(KEY_FILE) ?? "").trim());
  if (bytes?.length !== KEY_BYTES) {
    throw storeUnusable(
      "file",
      `${home.file(KEY_FILE)} is missing or damaged`,
      { hint: `put it back, or remove it with ${FILE} and set the keys anew` },
    );
  }
  return await crypto.subtle.importKey("raw", bytes, CIPHER, false, ["encrypt", "decrypt"]);
}

/** Name and origin are part of what is authenticated: an entry moved to another provider does not open. */
function cipherOf(entry: { provider: string; origin: string; nonce: Uint8Array<ArrayBuffer> }) {
  const additionalData = new TextEncoder().encode(JSON.stringify([entry.provider, entry.origin]));
  return { name: CIPHER, iv: entry.nonce, additionalData };
}

async function seal(
  cipherKey: CryptoKey,
  { provider, stored: { origin, key } }: { provider: string; stored: StoredKey },
): Promise<Entry> {
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const cipher = cipherOf({ provider, origin, nonce });
  const data = await crypto.subtle.encrypt(cipher, cipherKey, new TextEncoder().encode(key));
  return { origin, nonce: nonce.toBase64(), data: new Uint8Array(data).toBase64() };
}

async function open(
  cipherKey: CryptoKey,
  { provider, entry }: { provider: string; entry: Entry },
): Promise<StoredKey> {
  const [nonce, data] = [fromBase64(entry.nonce), fromBase64(entry.data)];
  try {
    if (nonce === null || data === null) throw new TypeError("not base64");
    const plain = await crypto.subtle.decrypt(cipherOf({ provider, origin: entry.origin, nonce }), cipherKey, data);
    return { origin: entry.origin, key: new TextDecoder().decode(plain) };
  } catch {
    throw storeUnusable("file", "the stored key does not open", {
      hint: `set it anew: agentcli providers set-key ${provider} --store file`,
    });
  }
}

function fromBase64(text: string): Uint8Array<ArrayBuffer> | null {
  return quietly(() => Uint8Array.fromBase64(text));
}
