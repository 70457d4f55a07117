/** Base URLs: those of the known runtimes, which forms are valid, and the one in force. */
import { AgentcliError } from "../errors.ts";

/** A local server and where it listens by default. */
export interface Runtime {
  /** Provider name and discovery label. */
  id: string;
  /** The server that listens on this port by default. */
  product: string;
  /** Common names; accepted wherever the id is. */
  aliases: readonly string[];
  port: number;
  /** True if `init-providers` asks this port. */
  probed: boolean;
  baseUrl: string;
  apiKey: string;
}

/** In the order in which they are probed and listed. */
export const RUNTIMES: readonly Runtime[] = [
  runtime("runtime_a", "Ollama", { port: 11434, probed: true, aliases: ["ollama"] }),
  runtime("runtime_b", "LM Studio", { port: 1234, probed: true, aliases: ["lmstudio"] }),
  runtime("runtime_c", "vLLM", { port: 8000, probed: true, aliases: ["vllm"] }),
  runtime("runtime_d", "llama.cpp", { port: 8080, probed: true, aliases: ["llamacpp", "llamaserver"] }),
  runtime("engine_e", "FreeToken", { port: 1919, probed: false, aliases: ["freetoken", "minisglang"] }),
  // The studio needs a real key, so discovery cannot see its models; its block is always written instead.
  {
    ...runtime("studio_f", "Unsloth Studio", { port: 8888, probed: false, aliases: ["unsloth", "unslothstudio"] }),
    apiKey: "$STUDIO_F_API_KEY",
  },
];

/** Returns the id of a runtime by its common name (`ollama`, `LM Studio`, `llama.cpp`); undefined for other words. */
export function runtimeCalled(word: string): string | undefined {
  const plain = word.toLowerCase().replace(/[ ._-]/g, "");
  return RUNTIMES.find(({ aliases }) => aliases.includes(plain))?.id;
}

/** Returns the common name of the server of a provider that has a known id; empty for a name that somebody chose. */
export function productOf(provider: string): string {
  return RUNTIMES.find(({ id }) => id === provider)?.product ?? "";
}

/** Returns a provider's name for people: `Ollama (runtime_a)`, or the name that somebody chose. */
export function providerLabel(name: string): string {
  const product = productOf(name);
  return product === "" ? name : `${product} (${name})`;
}

/**
 * The provider whose base URL an environment variable overrides, and which is written as a comment where it is not
 * found.
 */
export const STUDIO = {
  id: "studio_f",
  baseUrlVariable: "STUDIO_F_BASE_URL",
  keyVariable: "STUDIO_F_API_KEY",
} as const;

function runtime(id: string, product: string, place: Pick<Runtime, "port" | "probed" | "aliases">): Runtime {
  return { id, product, ...place, baseUrl: `http://localhost:${place.port}/v1`, apiKey: "local" };
}

/**
 * Returns what was expected of an invalid base URL; null when it can be used. Never quotes the URL: it may hold a
 * password.
 */
export function baseUrlProblem(text: string): string | null {
  if (!URL.canParse(text)) return "expected a URL such as http://localhost:11434/v1";
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return "expected a URL that starts with http:// or https://";
  }
  if (url.username !== "" || url.password !== "") return "expected a URL without user name and password";
  // `url.search` is empty for a lone `?`, which would still end the path.
  if (/[?#]/.test(text)) return "expected a URL without query and fragment";
  return null;
}

/**
 * A sentence when the path includes what the program appends itself, or names no version (`/v1` is what most servers
 * want); undefined when it looks right.
 */
export function baseUrlHint(text: string): string | undefined {
  if (!URL.canParse(text)) return undefined;
  const { pathname } = new URL(text);
  const beyond = /\/(?:(?:chat\/)?completions|models)\/*$/.exec(pathname)?.[0];
  if (beyond !== undefined) return `the base URL ends before ${beyond}, for example http://localhost:11434/v1`;
  if (/\/v\d/.test(pathname)) return undefined;
  return "the base URL has no /v1: most servers answer below it, for example http://localhost:11434/v1";
}

/** The URL as the URL standard writes it, without a trailing slash. For URLs without a {@link baseUrlProblem}. */
export function normalizeBaseUrl(text: string): string {
  const url = new URL(text);
  return url.origin + url.pathname.replace(/\/+$/, "");
}

/**
 * The base URL that requests of this provider go to, without a trailing slash: as configured, or
 * `STUDIO_F_BASE_URL` for `studio_f` (seed §4.3). A variable without a usable URL is `config_invalid`.
 */
export function effectiveBaseUrl(
  provider: { name: string; baseUrl: string },
  env: (name: string) => string | undefined,
): string {
  const override = provider.name === STUDIO.id ? env(STUDIO.baseUrlVariable)?.trim() : undefined;
  if (override === undefined || override === "") return normalizeBaseUrl(provider.baseUrl);
  const problem = baseUrlProblem(override);
  if (problem !== null) throw new AgentcliError("config_invalid", `${STUDIO.baseUrlVariable}: ${problem}`);
  return normalizeBaseUrl(override);
}
