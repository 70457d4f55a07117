/** The program itself, and what surrounds it: terminal, proxies, variables that make a runtime talk. */
import { copyingVariables } from "../../boundary/policy/leaky_environment.ts";
import { runtimeFacts } from "../../platform/runtime.ts";
import type { Io } from "../../platform/io.ts";
import { readProxySettings } from "../../provider/http/route.ts";
import { VERSION } from "../version.ts";
import type { Check } from "./check.ts";

/** Version, runtime and form. */
export function checkVersion(): Check {
  const { version, form, system } = runtimeFacts();
  const message = `agentcli ${VERSION} (${form}), Deno ${version}, ${system}`;
  return { id: "version", state: "ok", message, facts: { version: VERSION, runtime: version, form, system } };
}

/** What the terminal can show. */
export function checkTerminal({ stdout, env, os }: Io): Check {
  if (!stdout.isTerminal) return { id: "terminal", state: "ok", message: "none (output goes to a file or a program)" };
  const language = env("LC_ALL") || env("LC_CTYPE") || env("LANG") || "";
  const message = `${env("TERM") ?? "no TERM"}, ${stdout.columns()} columns`;
  if (os === "windows" || /utf-?8/i.test(language)) return { id: "terminal", state: "ok", message };
  return { id: "terminal", state: "warn", message: `${message}, not set to UTF-8`, hint: "export LANG=C.UTF-8" };
}

/** How remote providers are reached. User names and passwords in the variables are not shown. */
export function checkProxy({ env }: Io): Check {
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
  const set = names.filter((name) => (env(name) ?? "") !== "");
  const { http, https } = readProxySettings(env);
  const unusable = set.filter((name) => !isProxy(env(name) ?? ""));
  if (unusable.length > 0) {
    const message = `${unusable.join(", ")} cannot be used as the address of a proxy`;
    return { id: "proxy", state: "warn", message, hint: `unset ${unusable.join(" ")}, or set it to http://host:port` };
  }
  const hosts = [...new Set([http, https].filter((url) => url !== null).map((url) => new URL(url).host))];
  if (hosts.length === 0) return { id: "proxy", state: "ok", message: "none" };
  return { id: "proxy", state: "ok", message: `remote providers go through ${hosts.join(", ")}, local ones directly` };
}

function isProxy(text: string): boolean {
  return URL.canParse(text.includes("://") ? text : `http://${text}`);
}

/** Variables that make the runtime copy text out of the process. */
export function checkTelemetry({ env }: Io): Check {
  const names = copyingVariables(env);
  if (names.length === 0) return { id: "telemetry", state: "ok", message: "nothing copies text out of the process" };
  const message = `${names.join(", ")} can copy text out of the process`;
  return { id: "telemetry", state: "warn", message, hint: `unset ${names.join(" ")}` };
}
