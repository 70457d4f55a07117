/** `transformers serve`. */
import { type Backend, everyEntry, serverHeader } from "./backend.ts";

export const transformers: Backend = {
  id: "transformers",
  label: "transformers serve",
  ports: [8000],
  // Recorded: `created` is a fraction there, and the owner is the first part of the id.
  shows: (facts) =>
    serverHeader(facts) === "uvicorn" &&
    everyEntry(facts, (entry) => typeof entry["created"] === "number" && !Number.isInteger(entry["created"])),
};
