/** text-generation-webui. */
import { type Backend, everyEntry } from "./backend.ts";

export const textGenerationWebui: Backend = {
  id: "text-generation-webui",
  label: "text-generation-webui",
  ports: [5000],
  shows: (facts) => everyEntry(facts, (entry) => entry["owned_by"] === "user" && entry["created"] === 0),
  widen: (_, tokens) => `start text-generation-webui with --ctx-size ${tokens}`,
};
