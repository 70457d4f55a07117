/**
 * Windows: Credential Manager (web credentials), through the PowerShell that is part of the system. Written from the
 * documentation of `PasswordVault` and not run on Windows yet.
 */
import { callKeyring, type KeyringProgram, SERVICE } from "./keyring_program.ts";
import { type StoreOutside, storeUnusable } from "./store.ts";

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
const NOT_FOUND = 3;

/** The vault of the user. */
export function windowsKeyring({ env }: Pick<StoreOutside, "env">, options: { timeoutMs(): number }): KeyringProgram {
  const root = env("SYSTEMROOT") ?? "C:\\Windows";
  const call = async (script: string, { entry, stdin }: { entry: string; stdin?: string }) => {
    const answer = await callKeyring({
      argv: [
        `${root}\\System32\\WindowsPowerShell\\v1.0\\powershell.exe`,
        ...["-NoLogo", "-NoProfile", "-NonInteractive", "-Command", script],
      ],
      env: { SYSTEMROOT: root, USERPROFILE: env("USERPROFILE") ?? root, AGENTCLI_ENTRY: entry },
      timeoutMs: options.timeoutMs(),
      ...(stdin === undefined ? {} : { stdin }),
    });
    if (answer.code !== 0 && answer.code !== NOT_FOUND) throw storeUnusable("keyring", "Credential Manager refused");
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
