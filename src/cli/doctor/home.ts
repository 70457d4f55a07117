/** The home, the configuration in it, and where keys are. */
import { isLiteralKey, storeOf } from "../../config/key.ts";
import { loadConfiguration } from "../../config/load.ts";
import { SETTINGS } from "../../config/settings.ts";
import type { Configuration } from "../../config/types.ts";
import { asAgentcliError } from "../../errors.ts";
import { diskAdvice, diskReason } from "../../platform/disk_failure.ts";
import { stat } from "../../platform/files.ts";
import { openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { dirname } from "../../platform/path.ts";
import { obstacleToWriting } from "../../platform/temporary.ts";
import { settingWarnings } from "../config/warnings.ts";
import type { Check } from "./check.ts";

/** The check of what failed with an error that can be shown, a permission of Deno that is missing too. Throws bugs. */
export function failed(id: Check["id"], error: unknown): Check {
  const { code, message, hint } = asAgentcliError(error);
  if (code === "internal") throw error;
  return { id, state: "fail", message, ...(hint === undefined ? {} : { hint }) };
}

/** Whether the home can be used. Opening it tightens modes that are too loose. */
export async function checkHome(io: Io): Promise<Check> {
  try {
    const { path } = await openHome(io);
    const status = await stat(path);
    if (status === null) return await checkHomeToMake(path);
    const mode = status.mode === null ? "" : ` (mode ${status.mode.toString(8).padStart(4, "0")})`;
    if (status.mode !== null && (status.mode & 0o300) !== 0o300) {
      return { id: "home", state: "fail", message: `${path} cannot be written${mode}`, hint: `chmod 700 '${path}'` };
    }
    return unwritable(path, path) ?? { id: "home", state: "ok", message: `${path}${mode}`, facts: { path } };
  } catch (error) {
    return failed("home", error);
  }
}

async function checkHomeToMake(path: string): Promise<Check> {
  let place = dirname(path);
  while (await stat(place) === null && place !== dirname(place)) place = dirname(place);
  return unwritable(place, path) ?? { id: "home", state: "ok", message: `${path}, not made yet`, facts: { path } };
}

/** The failure of a home when nothing can be made in `place`. A permission of Deno may cover the home and not `place`. */
function unwritable(place: string, home: string): Check | null {
  const obstacle = obstacleToWriting(place);
  const reason = diskReason(obstacle);
  if (reason === null) return null;
  const advice = diskAdvice(obstacle) ?? `check the owner and the permissions of ${place}`;
  const message = place === home ? `${home} cannot be written: ${reason}` : `${home} cannot be made: ${reason}`;
  return { id: "home", state: "fail", message, hint: `${advice}, or set AGENTCLI_HOME` };
}

/** The configuration, or the check that says why there is none. */
export async function readConfiguration(io: Io): Promise<Configuration | Check> {
  try {
    return await loadConfiguration(await openHome(io));
  } catch (error) {
    return failed("configuration", error);
  }
}

/** What is odd about the configuration. */
export function checkConfiguration(configuration: Configuration): Check {
  const { path, exists, providers } = configuration;
  if (!exists) return { id: "configuration", state: "ok", message: `${path}, not written yet`, facts: { path } };
  const odd = [
    ...configuration.warnings,
    ...SETTINGS.flatMap(({ key }) => settingWarnings(key, configuration).map((warning) => `${key}: ${warning}`)),
  ];
  if (odd.length > 0) {
    return { id: "configuration", state: "warn", message: odd.join("; "), hint: `edit ${path}`, facts: { path } };
  }
  const count = providers.length === 1 ? "1 provider" : `${providers.length} providers`;
  return { id: "configuration", state: "ok", message: `${path}, ${count}`, facts: { path } };
}

/** Where keys are. A keyring is asked only when a provider has its key there: it may be locked, and ask somebody. */
export async function checkKeyStore(configuration: Configuration, io: Io): Promise<Check> {
  const stores = [...new Set(configuration.providers.map(storeOf).filter((store) => store !== null))];
  const literal = configuration.providers.filter(({ apiKey }) => apiKey !== undefined && isLiteralKey(apiKey.trim()));
  const clear = literal.length === 0
    ? ""
    : `; in clear in providers.yaml: ${literal.map(({ name }) => name).join(", ")} (set-key is safer)`;
  const facts = { stores };
  try {
    const { openKeyStore } = await import("../../config/keys/open_store.ts");
    // Whether the keys themselves are there is said of each provider.
    for (const store of stores) await (await openKeyStore(store, io)).read("doctor");
  } catch (error) {
    return { ...failed("key_store", error), facts };
  }
  const used = stores.length === 0 ? "no key is stored" : `in use: ${stores.join(", ")}`;
  return { id: "key_store", state: "ok", message: used + clear, facts };
}
