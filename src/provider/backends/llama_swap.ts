/** llama-swap: it starts servers of this machine, and may list models of other machines as peers. */
import { fieldsOf } from "../../platform/record.ts";
import type { Backend } from "./backend.ts";

export const llamaSwap: Backend = {
  id: "llama-swap",
  label: "llama-swap",
  ports: [],
  owners: ["llama-swap"],
  window: "list",
};

/** llama-swap with models of other machines, which `meta.llamaswap` of their entries shows. */
export const llamaSwapWithPeers: Backend = {
  id: "llama-swap",
  label: "llama-swap with peers",
  gateway: true,
  ports: [],
  shows: (facts) =>
    facts.owners.has("llama-swap") &&
    facts.entries.some((entry) => {
      const swap = fieldsOf(fieldsOf(entry["meta"])["llamaswap"]);
      return swap["type"] === "peer" || typeof swap["peerID"] === "string";
    }),
  window: "list",
};
