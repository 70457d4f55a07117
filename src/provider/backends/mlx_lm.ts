/** mlx-lm. */
import { type Backend, everyEntry, serverHeader } from "./backend.ts";

export const mlxLm: Backend = {
  id: "mlx-lm",
  label: "mlx-lm",
  ports: [8080],
  // The header is that of every server of Python's own library.
  shows: (facts) =>
    serverHeader(facts).startsWith("BaseHTTP/") && facts.owners.size === 0 && facts.refused === null &&
    everyEntry(facts, (entry) => typeof entry["created"] === "number"),
  errors: { no_images: ["only (?:the )?['\"`]?text['\"`]?"] },
};
