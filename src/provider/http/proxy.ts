/** The user's proxy settings, read once: remote servers are reached through them, local ones never. */

/** What the proxy variables said. */
export interface ProxySettings {
  http: string | null;
  https: string | null;
  /** Lower case. */
  exceptions: string[];
}

/** Reads `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY`, `NO_PROXY`; lower-case names win, as in curl. */
export function readProxySettings(env: (name: string) => string | undefined): ProxySettings {
  const value = (name: string) => env(name.toLowerCase()) || env(name) || "";
  const all = value("ALL_PROXY");
  return {
    http: proxyUrl(value("HTTP_PROXY") || all),
    https: proxyUrl(value("HTTPS_PROXY") || all),
    exceptions: value("NO_PROXY").toLowerCase().split(",").map((entry) => entry.trim()).filter((entry) => entry !== ""),
  };
}

function proxyUrl(text: string): string | null {
  if (text === "") return null;
  const url = text.includes("://") ? text : `http://${text}`;
  return URL.canParse(url) ? url : null;
}

/** The proxy a URL goes through; null for none. */
export function proxyFor(url: URL, settings: ProxySettings): string | null {
  const proxy = url.protocol === "https:" ? settings.https : settings.http;
  if (proxy === null) return null;
  return settings.exceptions.some((entry) => isException(url, entry)) ? null : proxy;
}

/** One entry of `NO_PROXY`: `*`, a host and all below it, an address, a v4 range, each with or without a port. */
function isException(url: URL, entry: string): boolean {
  if (entry === "*") return true;
  const host = url.hostname.toLowerCase();
  const [, name, port] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? [null, entry, undefined];
  if (port !== undefined && port !== effectivePort(url)) return false;
  const wanted = (name ?? "").replace(/^\*?\./, "");
  if (wanted === "") return false;
  if (wanted.includes("/")) return isInRange(host, wanted);
  return host === wanted || host === `[${wanted}]` || (!isAddress(host) && host.endsWith(`.${wanted}`));
}

/** The port of a URL, also when it is the scheme's own. */
export function effectivePort(url: URL): string {
  return url.port || (url.protocol === "https:" ? "443" : "80");
}

function isAddress(host: string): boolean {
  return host.startsWith("[") || /^\d+(\.\d+){3}$/.test(host);
}

function isInRange(host: string, range: string): boolean {
  const [base = "", length = ""] = range.split("/");
  const bits = Number(length);
  const [a, b] = [addressNumber(host), addressNumber(base)];
  if (a === null || b === null || !Number.isInteger(bits) || bits < 0 || bits > 32) return false;
  return bits === 0 || a >>> (32 - bits) === b >>> (32 - bits);
}

function addressNumber(host: string): number | null {
  if (!/^\d+(\.\d+){3}$/.test(host)) return null;
  return host.split(".").reduce((sum, part) => ((sum << 8) | Number(part)) >>> 0, 0);
}
