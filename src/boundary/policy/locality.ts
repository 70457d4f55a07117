/** Which addresses count as this machine or as the user's own. Source: specification of the boundary, "Local". */
import { portOf } from "../../platform/text.ts";

/** The names of loopback that count, as `new URL` writes them; no others, whatever they resolve to. */
const LOOPBACK_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/**
 * Reads the value of a `local-endpoints:` line: `host`, `host:port`, `[v6]` or `[v6]:port`. The host is in lower case,
 * IPv6 in its short form; `port` is null for any port. Returns null for everything else, also for spellings of an IPv4
 * address that `new URL` would change, because they would not mean what they show.
 */
export function parseLocalEndpoint(value: string): { host: string; port: number | null } | null {
  const parts = /^(\[[0-9a-f:.]+\]|[a-z0-9_-]+(?:\.[a-z0-9_-]+)*)(?::([1-9][0-9]{0,4}))?$/i.exec(value);
  const named = parts?.[1]?.toLowerCase();
  if (named === undefined) return null;
  const host = URL.parse(`http://${named}/`)?.hostname;
  if (host === undefined || (!named.startsWith("[") && host !== named)) return null;
  const port = parts?.[2] === undefined ? null : Number(parts[2]);
  return port !== null && port > 65535 ? null : { host, port };
}

/** Returns why `url` counts as local or not, in a few words without the URL. */
export function localityReason(url: string, optedIn: readonly string[]): string {
  if (isLocal(url, [])) return "a loopback address";
  const line = optedIn.find((value) => isLocal(url, [value]));
  return line === undefined
    ? "not http or https at localhost, 127.0.0.1 or [::1], and not opted in by local-endpoints"
    : `opted in by "local-endpoints: ${line}"`;
}

/** Returns whether `url` counts as local: as loopback, or by `optedIn` (values of `local-endpoints:`). Never throws. */
export function isLocal(url: string, optedIn: readonly string[]): boolean {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return false;
  if (parsed.username !== "" || parsed.password !== "") return false;
  if (LOOPBACK_HOSTS.includes(parsed.hostname)) return true;
  const port = portOf(parsed);
  return optedIn.some((value) => {
    const endpoint = parseLocalEndpoint(value);
    return endpoint !== null && endpoint.host === parsed.hostname &&
      (endpoint.port === null || endpoint.port === port);
  });
}
