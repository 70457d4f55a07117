/** Gateways of which nothing is known but the headers that they add. */
import { type Backend, hasHeader } from "./backend.ts";
import { GATEWAY_HEADERS } from "./elsewhere.ts";

function gateway(id: string, label: keyof typeof GATEWAY_HEADERS, { ports = [] }: { ports?: number[] } = {}): Backend {
  return { id, label, gateway: true, ports, shows: hasHeader(GATEWAY_HEADERS[label]) };
}

export const portkey = gateway("portkey", "Portkey", { ports: [8787] });
export const oneApi = gateway("one-api", "One API");
export const newApi = gateway("new-api", "New API");
