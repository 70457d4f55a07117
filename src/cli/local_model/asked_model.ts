/** Whether a server lists the model that was asked for: started by other hands it may call it otherwise. */
import type { Checked } from "../../engine/request.ts";
import { basename } from "../../platform/path.ts";

/** By its id in the list. Ollama adds its tag, llama-server takes the file for the name where it was told none. */
export function isAsked(id: string, { modelName, values: { model } }: Pick<Checked, "modelName" | "values">): boolean {
  if (id === modelName || id === model || id === `${model}:latest`) return true;
  return model !== undefined && model.endsWith(".gguf") && basename(id) === basename(model);
}
