/** mini-sglang. */
import type { Backend } from "./backend.ts";

export const miniSglang: Backend = {
  id: "mini-sglang",
  label: "mini-sglang",
  ports: [1919],
  owners: ["mini-sglang"],
  // It wants a string as content, and says so.
  errors: { no_images: ["content\\b.{0,60}\\bstring"] },
};
