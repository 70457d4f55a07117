/** FreeToken. Source: FlashML-org/FreeToken, python/freetoken/server/api_models.py. */
import type { Backend } from "./backend.ts";

export const freeToken: Backend = {
  id: "freetoken",
  label: "FreeToken",
  ports: [1919],
  owners: ["freetoken"],
  listsTrainedWindows: true,
};
