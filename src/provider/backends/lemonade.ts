/** Lemonade. */
import type { Backend } from "./backend.ts";

/** Lemonade. */
export const lemonade: Backend = { id: "lemonade", label: "Lemonade", ports: [13305], owners: ["lemonade"] };
