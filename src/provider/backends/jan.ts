/** Jan: it requires a key, any key. */
import type { Backend } from "./backend.ts";

export const jan: Backend = {
  id: "jan",
  label: "Jan",
  ports: [1337],
  shows: (facts) => facts.refused === 401 && facts.text.startsWith("Missing authorization header"),
};
