/**
 * The keyring of the system as a key store: `secret-tool` on Linux, `security` on macOS, PowerShell on Windows. Keys
 * go to the input of these programs, never to their arguments. Every operation has a time limit.
 */
import { findExecutable, runForText } from "../../platform/process.ts";
import { type KeyStore, readStoredText, storedText, type StoreOutside, storeUnusable } from "./store.ts";
import { statSync } from "../../platform/files.ts";
import { quietly } from "../../platform/real_path.ts";

/** The ways of one system. Texts are single words of ASCII. Each throws `key_store_unusable`. */
interface KeyringProgram {
  /** Null when there is no entry. */
  find(entry: string): Promise<string | null>;
  keep(entry: string, text: string): Promise<void>;
  /** Returns whether there was an entry. */
  drop(entry: string): Promise<boolean>;
}

interface KeyringCall {
  argv: readonly [string, ...string[]];
  /** All variables it gets. */
  env: Record<string, string>;
  stdin?: string;
  /** Milliseconds. */
  timeoutMs: number;
}

/** Under this name entries stand in the keyring. */
const SERVICE = "agentcli";
/** Characters that are read; an entry has a few hundred. */
const OUTPUT_LIMIT = 64 * 1024;

/**
 * Runs the program. One that does not answer in time is ended: a locked keyring asks with a window, and a run without a
 * person would wait forever.
 */
async function callKeyring(call: KeyringCall) {
  const answer = await runForText({
    argv: call.argv,
    cwd: "/",
    env: call.env,
    timeoutMs: call.timeoutMs,
    stdin: call.stdin === undefined ? undefined : new TextEncoder().encode(call.stdin),
    limit: OUTPUT_LIMIT,
  }).catch(() => {
    throw storeUnusable("keyring", "its helper program cannot be started");
  });
  if (answer.ended === "exit") return answer;
  throw storeUnusable("keyring", "it does not respond; it may be locked or waiting for input");
}

/** Longest time for one operation, in milliseconds; ending a hung program adds to it (specification: 5 s). */
const OPERATION_MS = 3_000;
/** Minimum time for the last call of an operation, in milliseconds. */
const LEAST_MS = 200;

/** The keyring of this system. */
export function openKeyring(outside: StoreOutside): KeyStore {
  return {
    async read(provider) {
      const program = programOf(outside);
      const text = await program.find(provider);
      return text === null ? null : readStoredText(text);
    },
    async write(provider, stored) {
      const program = programOf(outside);
      const text = storedText(stored);
      await program.keep(provider, text);
      // Not every program shows by its exit code that it failed.
      if ((await program.find(provider))?.trim() !== text) throw storeUnusable("keyring", "it did not keep the key");
    },
    remove: (provider) => programOf(outside).drop(provider),
  };
}

function programOf(outside: StoreOutside): KeyringProgram {
  const end = outside.clock.monotonic() + OPERATION_MS;
  const timeoutMs = () => Math.max(LEAST_MS, end - outside.clock.monotonic());
  if (outside.os === "windows") return windowsKeyring(outside, { timeoutMs });
  if (outside.os === "darwin") return macosKeyring(outside, { timeoutMs });
  return linuxKeyring(outside, { timeoutMs });
}

/** Fixed locations: a `secret-tool` found through PATH could be anybody's, and it gets the key. */
const PLACES = "/usr/bin:/bin:/usr/local/bin:/run/current-system/sw/bin";

/** Variables the tool needs to find the bus. No display: it must not start anything or prompt. */
const PASSED = ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "HOME"];

/** The keyring of the session's bus. `places` for tests. */
export function linuxKeyring(
  { env }: Pick<StoreOutside, "env">,
  options: { timeoutMs(): number; places?: string },
): KeyringProgram {
  const call = async (words: string[], stdin?: string) => {
    const tool = findExecutable("secret-tool", options.places ?? PLACES, { notBelow: [] });
    if (tool === null) {
      throw storeUnusable(
        "keyring",
        "secret-tool is not installed",
        { hint: "install it (Debian and Ubuntu: libsecret-tools; Fedora and Arch: libsecret), or pass --store file" },
      );
    }
    if (!hasBus(env)) throw storeUnusable("keyring", "there is no session bus (DBUS_SESSION_BUS_ADDRESS)");
    const passed = PASSED.flatMap((name) => {
      const value = env(name);
      return value === undefined ? [] : [[name, value]];
    });
    const answer = await callKeyring({
      argv: [tool, ...words],
      env: Object.fromEntries(passed),
      timeoutMs: options.timeoutMs(),
      stdin,
    });
    // A missing entry is an exit code without a message.
    if (answer.code !== 0 && answer.stderr.trim() !== "") throw storeUnusable("keyring", linuxReason(answer.stderr));
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
      if (code !== 0) throw storeUnusable("keyring", "it did not accept the key");
    },
    drop: async (entry) => (await call(["clear", ...named(entry)])).code === 0,
  };
}

function hasBus(env: StoreOutside["env"]): boolean {
  if ((env("DBUS_SESSION_BUS_ADDRESS") ?? "") !== "") return true;
  const directory = env("XDG_RUNTIME_DIR") ?? "";
  return directory.startsWith("/") && quietly(() => statSync(`${directory}/bus`)) !== null;
}

/** In our words: the tool's message could quote its input. */
function linuxReason(stderr: string): string {
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

const SECURITY = "/usr/bin/security";
/** `errSecItemNotFound` as an exit code. */
const MACOS_NOT_FOUND = 44;
/** Bytes of one line that `security -i` reads. */
const LINE_LIMIT = 4096;

/** The login keychain. */
function macosKeyring({ env }: Pick<StoreOutside, "env">, options: { timeoutMs(): number }): KeyringProgram {
  const call = async (words: string[], stdin?: string) => {
    const answer = await callKeyring({
      argv: [SECURITY, ...words],
      env: { HOME: env("HOME") ?? "/" },
      timeoutMs: options.timeoutMs(),
      stdin,
    });
    if (answer.code !== 0 && answer.code !== MACOS_NOT_FOUND) {
      throw storeUnusable("keyring", "it is locked, or refused");
    }
    return answer;
  };
  const named = (entry: string) => ["-s", SERVICE, "-a", entry];
  return {
    async find(entry) {
      const { code, stdout } = await call(["find-generic-password", ...named(entry), "-w"]);
      return code === 0 ? stdout.trim() : null;
    },
    async keep(entry, text) {
      // On its input, since everybody can see arguments. Name and text are single words that need no quotes.
      const line = `${["add-generic-password", "-U", ...named(entry), "-w", text].join(" ")}\n`;
      if (line.length > LINE_LIMIT) throw storeUnusable("keyring", "the key is too long for it");
      await call(["-i"], line);
    },
    drop: async (entry) => (await call(["delete-generic-password", ...named(entry)])).code === 0,
  };
}

/** The entry's name comes as a variable and the key on the input, so the text of the script is always the same. */
const BEGIN = `$ErrorActionPreference = 'Stop'
[void][Windows.Security.Credentials.PasswordVault,Windows.Security.Credentials,ContentType=WindowsRuntime]
$vault = New-Object Windows.Security.Credentials.PasswordVault
$name = $env:AGENTCLI_ENTRY
function Find { try { $vault.Retrieve('${SERVICE}', $name) } catch { $null } }
`;
const FIND = `${BEGIN}$found = Find
if ($null -eq $found) { exit 3 }
$found.RetrievePassword()
[Console]::Out.Write($found.Password)`;
const KEEP = `${BEGIN}$old = Find
if ($null -ne $old) { $vault.Remove($old) }
$text = [Console]::In.ReadToEnd().Trim()
$vault.Add((New-Object Windows.Security.Credentials.PasswordCredential('${SERVICE}', $name, $text)))`;
const DROP = `${BEGIN}$old = Find
if ($null -eq $old) { exit 3 }
$vault.Remove($old)`;
const WINDOWS_NOT_FOUND = 3;

/** The vault of the user. */
function windowsKeyring({ env }: Pick<StoreOutside, "env">, options: { timeoutMs(): number }): KeyringProgram {
  const root = env("SYSTEMROOT") ?? "C:\\Windows";
  const call = async (script: string, { entry, stdin }: { entry: string; stdin?: string }) => {
    const answer = await callKeyring({
      argv: [
        `${root}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`,
        ...["-NoLogo", "-NoProfile", "-NonInteractive", "-Command", script],
      ],
      env: { SYSTEMROOT: root, USERPROFILE: env("USERPROFILE") ?? root, AGENTCLI_ENTRY: entry },
      timeoutMs: options.timeoutMs(),
      stdin,
    });
    if (answer.code !== 0 && answer.code !== WINDOWS_NOT_FOUND) {
      throw storeUnusable("keyring", "Credential Manager refused");
    }
    return answer;
  };
  return {
    async find(entry) {
      const { code, stdout } = await call(FIND, { entry });
      return code === 0 ? stdout.trim() : null;
    },
    keep: async (entry, text) => void await call(KEEP, { entry, stdin: text }),
    drop: async (entry) => (await call(DROP, { entry })).code === 0,
  };
}
