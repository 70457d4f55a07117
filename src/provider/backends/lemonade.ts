/** Lemonade. */
import type { Backend } from "./backend.ts";

export const lemonade: Backend = { id: "lemonade", label: "Lemonade", ports: [13305], owners: ["lemonade"] };
