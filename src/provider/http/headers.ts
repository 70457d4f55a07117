/** The headers of a request, checked before the runtime sees them: its own error would print the value. */
import { AgentcliError } from "../../errors.ts";
import { ProviderFailure } from "../failure.ts";
import type { Endpoint } from "../types.ts";

/** What of a request decides its headers. */
export interface HeaderNeeds {
  body?: unknown;
  withoutKey?: boolean;
}

/**
 * The headers to send. The key is trimmed; `withoutKey` leaves out the configured headers too, which may hold keys.
 * A key or header that cannot be sent is an error that does not print it (`auth_failed`, `config_invalid`).
 */
export function requestHeaders(endpoint: Endpoint, needs: HeaderNeeds): Record<string, string> {
  const headers: Record<string, string> = {};
  if (needs.body !== undefined) headers["content-type"] = "application/json";
  if (needs.withoutKey) return headers;
  const key = endpoint.key?.trim() ?? "";
  if (!/^[\x20-\x7e]*$/.test(key)) {
    throw new ProviderFailure(
      "auth_failed",
      `the key of ${endpoint.provider} (${endpoint.keySource}) holds characters that a header cannot carry`,
      { kind: "auth", hint: "set the key again: it may be cut, or hold a line break or a character that is not ASCII" },
    );
  }
  if (key !== "") headers["authorization"] = `Bearer ${key}`;
  for (const [name, value] of Object.entries(endpoint.headers)) {
    const trimmed = value.trim();
    if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name) || !/^[\t\x20-\x7e\x80-\xff]*$/.test(trimmed)) {
      throw new AgentcliError("config_invalid", `a header of ${endpoint.provider} cannot be sent`, {
        hint: "check `headers` of that provider: names are letters, digits and dashes, values one line",
      });
    }
    headers[name.toLowerCase()] = trimmed;
  }
  return headers;
}
