/**
 * Checks of the machine and the project: home, configuration, keys, programs, terminal, proxies, protected paths,
 * sandbox.
 */
import { projectRootOf } from "../../boundary/policy/project.ts";
import { isLiteralKey, storeOf } from "../../config/endpoint.ts";
import { SETTINGS, settingWarnings } from "../../config/settings.ts";
import type { Configuration } from "../../config/types.ts";
import { AgentcliError, asAgentcliError } from "../../errors.ts";
import { diskAdvice, diskReason } from "../../platform/disk_failure.ts";
import { entriesSync, statSync } from "../../platform/files.ts";
import { homePath, openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { counted } from "../../platform/number.ts";
import { dirname, join } from "../../platform/path.ts";
import { obstacleToWriting } from "../../platform/temporary.ts";
import { copyingVariables } from "../../boundary/policy/environment.ts";
import { isMissingPermission, runtimeFacts } from "../../platform/runtime.ts";
import { readProxySettings } from "../../provider/http/route.ts";
import { VERSION } from "../version.ts";
import { findProgram } from "../../boundary/programs.ts";
import { runForText } from "../../platform/process.ts";
import { MARKER_NAME, readMarker } from "../../boundary/policy/marker.ts";
import { describeReport } from "../../runtime/marker_report.ts";
import { findCheckedBackend } from "../../boundary/sandbox/self_check.ts";
import { exists, quietly } from "../../platform/real_path.ts";
import { openProjectContext, reportOf } from "../secrets/context.ts";
import type { Context } from "../command.ts";
import { configured } from "../result.ts";

/** `fail`: the program cannot work because of it. `warn`: it can, but not as it should. */
export type CheckState = "ok" | "warn" | "fail";

/** The result of one check. The names of `id` are public: programs read them from `--json`. */
export interface Check {
  id:
    | "version"
    | "home"
    | "configuration"
    | "key_store"
    | "providers"
    | "provider"
    | "boundary"
    | "sandbox"
    | "mcp"
    | "git"
    | "ripgrep"
    | "shell"
    | "terminal"
    | "proxy"
    | "telemetry"
    | "demo";
  state: CheckState;
  /** One line, not cleaned yet. */
  message: string;
  /** Advice in one line, for every state but ok. */
  hint?: string | undefined;
  /** Further facts for `--json`. */
  facts?: Record<string, unknown> | undefined;
}

/** The worst of some states; `ok` for none. */
export function worst(states: readonly CheckState[]): CheckState {
  return states.includes("fail") ? "fail" : states.includes("warn") ? "warn" : "ok";
}

/** Returns the result of a check: ok without a hint, and by default a warning with one. */
export function check(
  id: Check["id"],
  message: string,
  { hint, state = hint === undefined ? "ok" : "warn", facts }: Partial<Pick<Check, "hint" | "state" | "facts">> = {},
): Check {
  return { id, state, message, hint, facts };
}

/** Returns the check for a failure that can be shown, such as a missing permission of Deno. Throws bugs. */
export function failed(id: Check["id"], error: unknown): Check {
  const { code, message, hint } = asAgentcliError(error);
  if (code === "internal") throw error;
  return check(id, message, { hint, state: "fail" });
}

/** Checks that the home can be used. Opening it tightens modes that are too loose. */
export async function checkHome(io: Io): Promise<Check> {
  try {
    const { path } = await openHome(io);
    const status = statSync(path);
    if (status === null) return checkHomeToMake(path);
    const mode = status.mode === null ? "" : ` (mode ${status.mode.toString(8).padStart(4, "0")})`;
    if (status.mode !== null && (status.mode & 0o300) !== 0o300) {
      return check("home", `${path} is not writable${mode}`, { hint: `chmod 700 '${path}'`, state: "fail" });
    }
    return unwritable(path, path) ?? check("home", `${path}${mode}`, { facts: { path } });
  } catch (error) {
    return failed("home", error);
  }
}

function checkHomeToMake(path: string): Check {
  let place = dirname(path);
  while (statSync(place) === null && place !== dirname(place)) place = dirname(place);
  return unwritable(place, path) ?? check("home", `${path}, not created yet`, { facts: { path } });
}

/**
 * The failure of a home when nothing can be made in `place`. A permission of Deno may cover the home and not `place`.
 */
function unwritable(place: string, home: string): Check | null {
  const obstacle = obstacleToWriting(place);
  const reason = diskReason(obstacle);
  if (reason === null) return null;
  const advice = diskAdvice(obstacle) ?? `check the owner and the permissions of ${place}`;
  const message = place === home ? `${home} is not writable: ${reason}` : `${home} cannot be created: ${reason}`;
  return check("home", message, { hint: `${advice}, or set AGENTCLI_HOME`, state: "fail" });
}

/** The configuration, or the check that says why there is none. */
export async function readConfiguration(io: Io): Promise<Configuration | Check> {
  try {
    return (await configured({ io })).configuration;
  } catch (error) {
    return failed("configuration", error);
  }
}

/** Reports the warnings of the configuration. */
export function checkConfiguration(configuration: Configuration): Check {
  const { path, exists, providers } = configuration;
  if (!exists) return check("configuration", `${path}, not created yet`, { facts: { path } });
  const odd = [
    ...configuration.warnings,
    ...SETTINGS.flatMap(({ key }) => settingWarnings(key, configuration).map((warning) => `${key}: ${warning}`)),
  ];
  if (odd.length > 0) return check("configuration", odd.join("; "), { hint: `edit ${path}`, facts: { path } });
  return check("configuration", `${path}, ${counted(providers.length, "provider")}`, { facts: { path } });
}

/**
 * Checks the key stores in use. The keyring is read only when a provider has its key there: it may be locked, and
 * prompt.
 */
export async function checkKeyStore(configuration: Configuration, io: Io): Promise<Check> {
  const stores = [...new Set(configuration.providers.map(storeOf).filter((store) => store !== null))];
  const literal = configuration.providers.filter(({ apiKey }) => apiKey !== undefined && isLiteralKey(apiKey.trim()));
  const clear = literal.length === 0
    ? ""
    : `; stored as plain text in providers.yaml: ${literal.map(({ name }) => name).join(", ")} (set-key is safer)`;
  const facts = { stores };
  try {
    const { openKeyStore } = await import("../../config/keys/stored_key.ts");
    // Whether the keys themselves exist is reported for each provider.
    for (const store of stores) await (await openKeyStore(store, io)).read("doctor");
  } catch (error) {
    return { ...failed("key_store", error), facts };
  }
  const used = stores.length === 0 ? "no keys are stored" : `in use: ${stores.join(", ")}`;
  return check("key_store", used + clear, { facts });
}

/** Version, runtime and form. */
export function checkVersion(): Check {
  const { version, form, system } = runtimeFacts();
  const message = `agentcli ${VERSION} (${form}), Deno ${version}, ${system}`;
  return check("version", message, { facts: { version: VERSION, runtime: version, form, system } });
}

/** Checks the terminal. */
export function checkTerminal({ stdout, env, os }: Io): Check {
  if (!stdout.isTerminal) return check("terminal", "none (output goes to a file or a program)");
  const language = env("LC_ALL") || env("LC_CTYPE") || env("LANG") || "";
  const message = `${env("TERM") ?? "no TERM"}, ${stdout.columns()} columns`;
  if (os === "windows" || /utf-?8/i.test(language)) return check("terminal", message);
  return check("terminal", `${message}, not set to UTF-8`, { hint: "export LANG=C.UTF-8" });
}

/** Checks the proxy settings. User names and passwords in the variables are not shown. */
export function checkProxy({ env }: Io): Check {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
  const set = names.filter((name) => (env(name) ?? "") !== "");
  const { http, https } = readProxySettings(env);
  const unusable = set.filter((name) => !isProxy(env(name) ?? ""));
  if (unusable.length > 0) {
    const message = `${unusable.join(", ")} cannot be used as a proxy address`;
    return check("proxy", message, { hint: `unset ${unusable.join(" ")}, or set it to http://host:port` });
  }
  const hosts = [...new Set([http, https].filter((url) => url !== null).map((url) => new URL(url).host))];
  return check(
    "proxy",
    hosts.length === 0 ? "none" : `remote providers go through ${hosts.join(", ")}, local ones directly`,
  );
}

function isProxy(text: string): boolean {
  return URL.canParse(text.includes("://") ? text : `http://${text}`);
}

/** Variables that make the runtime copy text out of the process. */
export function checkTelemetry({ env }: Io): Check {
  const names = copyingVariables(env);
  if (names.length === 0) return check("telemetry", "nothing copies text out of the process");
  return check("telemetry", `${names.join(", ")} can copy text out of the process`, {
    hint: `unset ${names.join(" ")}`,
  });
}

const VERSION_MS = 3_000;

const WANTED = [
  { id: "git", names: ["git"], without: "the tool Git and project history are unavailable" },
  { id: "ripgrep", names: ["rg"], without: "searches work, but are slower" },
] as const;

const HINTS = { linux: "apt install", darwin: "brew install", windows: "winget install" } as const;
const PACKAGES = { git: "git", ripgrep: "ripgrep" } as const;

/** git, ripgrep and the shell of commands. What is in a project does not count. */
export async function checkPrograms(io: Io, { cwd }: { cwd: string }): Promise<Check[]> {
  const path = io.env("PATH") ?? "";
  const roots = [cwd, quietly(() => projectRootOf(cwd, io)) ?? cwd];
  const find = (name: string) => findProgram(name, { path, roots, io });
  const programs = await Promise.all(WANTED.map(async ({ id, names: [name], without }): Promise<Check> => {
    const program = await find(name);
    if (program === null) return check(id, `not found: ${without}`, { hint: `${HINTS[io.os]} ${PACKAGES[id]}` });
    const version = await versionOf(program).catch((error) => failed(id, error));
    if (version !== null && typeof version !== "string") return { ...version, state: "warn" };
    if (version === null) return check(id, `${program} does not run`, { hint: "reinstall it" });
    return check(id, `${version} (${program})`, { facts: { path: program } });
  }));
  return [...programs, await checkShell(io, find)];
}

async function checkShell({ os }: Io, find: (name: string) => Promise<string | null>): Promise<Check> {
  const names = os === "windows" ? ["pwsh", "powershell"] : ["bash", "sh"];
  for (const name of names) {
    const program = await find(name);
    if (program !== null) return check("shell", program, { facts: { path: program } });
  }
  return check("shell", "none found: commands cannot run", { hint: `install ${names[0]}` });
}

/** The first line of `--version`; null when the program fails. Throws when Deno was not permitted to run it. */
async function versionOf(program: string): Promise<string | null> {
  const options = { argv: [program, "--version"] as const, cwd: "/", env: {}, timeoutMs: VERSION_MS, limit: 1000 };
  const said = await runForText(options).catch((error) => {
    if (isMissingPermission(error)) throw error;
    return null;
  });
  return said?.ended === "exit" && said.code === 0 ? (said.stdout + said.stderr).split("\n")[0] ?? "" : null;
}

/** The markers of the project, and the sandbox. */
export async function checkBoundary(
  context: Context,
  configuration: ReturnType<typeof readConfiguration>,
): Promise<Check[]> {
  let markers = 0;
  let boundary: Check;
  try {
    const project = await openProjectContext(context);
    const { root, localEndpoints, protection } = project;
    // Walks the project: markers below its root count too.
    const report = await reportOf(project);
    const found = [...new Set([...nestedMarkers(root), ...protection.markers])];
    markers = found.length;
    const facts = { root, markers: found, local_endpoints: localEndpoints };
    const broken = found.filter((path) => exists(path)).flatMap((path) => {
      const { damaged } = readMarker(path);
      return damaged === undefined ? [] : [`${path}: ${damaged}`];
    });
    // A marker is unusable by itself, or with the others.
    if (broken.length === 0 && protection.damaged !== null) {
      broken.push(`${protection.damaged.marker}: ${protection.damaged.damaged}`);
    }
    const warnings = [...new Set([...protection.warnings, ...project.notices, ...describeReport(report, root)])];
    if (broken.length > 0) {
      const message = `a marker is invalid (${broken.join("; ")}); everything counts as protected`;
      const hint = "repair these files, or remove those you did not write";
      boundary = check("boundary", message, { hint, state: "fail", facts });
    } else {
      const summary = markers === 0
        ? `nothing is protected in ${root}`
        : `protected paths in ${root}: ${counted(markers, "marker")}`;
      const hint = warnings.length === 0 ? undefined : "agentcli secrets list";
      boundary = check("boundary", [summary, ...warnings].join("; "), { hint, facts });
    }
  } catch (error) {
    boundary = failed("boundary", error);
  }
  const sandbox = checkSandbox(context.io, await configuration, { needed: markers > 0 });
  // Without a sandbox commands do not run where paths are protected; everything else does.
  return [boundary, await sandbox.catch((error) => ({ ...failed("sandbox", error), state: "warn" as const }))];
}

/** Checks the sandbox by running its self-check, and reports the settings that weaken it. */
async function checkSandbox(
  io: Io,
  configuration: Configuration | Check,
  { needed }: { needed: boolean },
): Promise<Check> {
  // An unreadable one has its own line.
  const { mode, network } = "id" in configuration ? { mode: "auto", network: false } : configuration.sandbox;
  const facts = { mode, network };
  const notes = [
    ...facts.mode === "never" ? ["sandbox.mode is never: outside of protected projects commands see everything"] : [],
    ...facts.network ? ["sandbox.network is true: commands can reach services of this machine"] : [],
  ];
  const found = await checkedBackend(io);
  if ("backend" in found) {
    const { name } = found.backend;
    const message = [`${name} hides protected paths`, ...notes].join("; ");
    return check("sandbox", message, { facts: { backend: name, ...facts } });
  }
  const { problems } = found;
  const reason = problems.length === 0 ? "no sandbox program is installed" : problems.join("; ");
  const without = needed
    ? "commands do not run in this project"
    : "commands do not run where paths are protected, and in other projects commands of remote models can read those paths";
  const advice = io.os === "linux"
    ? "install bubblewrap, and allow user namespaces"
    : "work with Read, Edit, Glob and Grep";
  return check("sandbox", [`not available (${reason}): ${without}`, ...notes].join("; "), {
    hint: needed ? advice : undefined,
    facts: { backend: null, ...facts },
  });
}

async function checkedBackend(io: Io): ReturnType<typeof findCheckedBackend> {
  try {
    return await findCheckedBackend({ os: io.os, home: homePath(io) });
  } catch (error) {
    // A missing home has its own line.
    if (error instanceof AgentcliError) return { problems: [] };
    throw error;
  }
}

/** The markers below the root: a session stops at the first one that it cannot use. */
function nestedMarkers(root: string): string[] {
  const found: string[] = [];
  const waiting = [root];
  for (const directory of waiting) {
    for (const { name, isDirectory } of quietly(() => entriesSync(directory)) ?? []) {
      if (name === MARKER_NAME) found.push(join(directory, name));
      else if (isDirectory && name !== ".git") waiting.push(join(directory, name));
    }
  }
  return found;
}
