import assert from "node:assert/strict";
import { isRequestedModel } from "./result.ts";

const PLACE = { host: "127.0.0.1", url_host: "127.0.0.1", port: "8080" };

Deno.test("a model is found in the list by its name, with Ollama's tag, and by its file where no name is given", () => {
  const file = { modelName: "m", values: { ...PLACE, model: "/models/m.gguf", name: "m" } };
  assert.deepEqual(["m", "m.gguf", "/models/m.gguf", "n.gguf", "q"].map((id) => isRequestedModel(id, file)), [
    true,
    true,
    true,
    false,
    false,
  ]);
  const id = { modelName: "org/m", values: { ...PLACE, model: "org/m" } };
  assert.deepEqual(["org/m", "org/m:latest", "m", "other/m"].map((listed) => isRequestedModel(listed, id)), [
    true,
    true,
    false,
    false,
  ]);
});
