/** Gateways of which nothing is known but the headers that they add. */
import { type Backend, hasHeader } from "./backend.ts";
import { GATEWAY_HEADERS } from "./elsewhere.ts";

export const portkey: Backend = {
  id: "portkey",
  label: "Portkey",
  gateway: true,
  ports: [8787],
  shows: hasHeader(GATEWAY_HEADERS.Portkey),
};

export const oneApi: Backend = {
  id: "one-api",
  label: "One API",
  gateway: true,
  ports: [],
  shows: hasHeader(GATEWAY_HEADERS["One API"]),
};

export const newApi: Backend = {
  id: "new-api",
  label: "New API",
  gateway: true,
  ports: [],
  shows: hasHeader(GATEWAY_HEADERS["New API"]),
};
