/** macOS: the login keychain, through `security`. Written from its manual page and not run on macOS yet. */
import { callKeyring, type KeyringProgram, SERVICE } from "./keyring_program.ts";
import { type StoreOutside, storeUnusable } from "./store.ts";

const SECURITY = "/usr/bin/security";
/** `errSecItemNotFound` as an exit code. */
const NOT_FOUND = 44;
/** Bytes of one line that `security -i` reads. */
const LINE_LIMIT = 4096;

/** The login keychain. */
export function macosKeyring({ env }: Pick<StoreOutside, "env">, options: { timeoutMs(): number }): KeyringProgram {
  const call = async (words: string[], stdin?: string) => {
    const answer = await callKeyring({
      argv: [SECURITY, ...words],
      env: { HOME: env("HOME") ?? "/" },
      timeoutMs: options.timeoutMs(),
      ...(stdin === undefined ? {} : { stdin }),
    });
    if (answer.code !== 0 && answer.code !== NOT_FOUND) throw storeUnusable("keyring", "it is locked, or refused");
    return answer;
  };
  const named = (entry: string) => ["-s", SERVICE, "-a", entry];
  return {
    async find(entry) {
      const { code, stdout } = await call(["find-generic-password", ...named(entry), "-w"]);
      return code === 0 ? stdout.trim() : null;
    },
    async keep(entry, text) {
      // On its input, since arguments can be seen by everybody. Name and text are single words that need no quotes.
      const line = `${["add-generic-password", "-U", ...named(entry), "-w", text].join(" ")}\n`;
      if (line.length > LINE_LIMIT) throw storeUnusable("keyring", "the key is too long for it");
      await call(["-i"], line);
    },
    drop: async (entry) => (await call(["delete-generic-password", ...named(entry)])).code === 0,
  };
}
