/** Linux: the Secret Service (GNOME Keyring, KWallet, KeePassXC), through `secret-tool` of libsecret. */
import { stat } from "../../platform/files.ts";
import { findExecutable } from "../../platform/process.ts";
import { callKeyring, type KeyringAnswer, type KeyringProgram, SERVICE } from "./keyring_program.ts";
import { type StoreOutside, storeUnusable } from "./store.ts";

/** Fixed places: a `secret-tool` found through PATH could be anybody's, and it gets the key. */
const PLACES = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin";

/** What the tool needs to find the bus. No display: nothing is to be started for it, and nobody asked by it. */
const PASSED = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "HOME"];

/** The keyring of the session's bus. `places` for tests. */
export function linuxKeyring(
  { env }: Pick<StoreOutside, "env">,
  options: { timeoutMs(): number; places?: string },
): KeyringProgram {
  const call = async (words: string[], stdin?: string): Promise<KeyringAnswer> => {
    const tool = await findExecutable("secret-tool", options.places ?? PLACES, { notBelow: [] });
    if (tool === null) {
      throw storeUnusable(
        "keyring",
        "secret-tool is not installed",
        { hint: "install it (Debian and Ubuntu: libsecret-tools; Fedora and Arch: libsecret), or pass --store file" },
      );
    }
    if (!await hasBus(env)) throw storeUnusable("keyring", "there is no session bus (DBUS_SESSION_BUS_ADDRESS)");
    const passed = PASSED.flatMap((name) => {
      const value = env(name);
      return value === undefined ? [] : [[name, value]];
    });
    const answer = await callKeyring({
      argv: [tool, ...words],
      env: Object.fromEntries(passed),
      timeoutMs: options.timeoutMs(),
      ...(stdin === undefined ? {} : { stdin }),
    });
    // An entry that is not there is an exit code without a word.
    if (answer.code !== 0 && answer.stderr.trim() !== "") throw storeUnusable("keyring", reasonOf(answer.stderr));
    return answer;
  };
  const named = (entry: string) => ["service", SERVICE, "provider", entry];
  return {
    async find(entry) {
      const { code, stdout } = await call(["lookup", ...named(entry)]);
      return code === 0 && stdout !== "" ? stdout : null;
    },
    async keep(entry, text) {
      const { code } = await call(["store", "--label", `agentcli: key of ${entry}`, ...named(entry)], text);
      if (code !== 0) throw storeUnusable("keyring", "it did not take the key");
    },
    drop: async (entry) => (await call(["clear", ...named(entry)])).code === 0,
  };
}

async function hasBus(env: StoreOutside["env"]): Promise<boolean> {
  if ((env("DBUS_SESSION_BUS_ADDRESS") ?? "") !== "") return true;
  const directory = env("XDG_RUNTIME_DIR") ?? "";
  return directory.startsWith("/") && await stat(`${directory}/bus`).catch(() => null) !== null;
}

/** In our words: what the tool says could quote what it was given. */
function reasonOf(stderr: string): string {
  if (/not provided by any|ServiceUnknown|was not found/i.test(stderr)) {
    return "no keyring service runs on the session bus";
  }
  if (/could not connect|cannot autolaunch|connection refused|no such file/i.test(stderr)) {
    return "the session bus cannot be reached";
  }
  if (/locked|dismissed|prompt/i.test(stderr)) return "it is locked";
  if (/object does not exist|no such object|collection/i.test(stderr)) return "it has no collection to store into";
  return "its service gave an error";
}
