import { neededRuntime } from "./runtime.ts";
import assert from "node:assert/strict";

Deno.test("a Deno that is too old for the form is reported with the version that is needed", () => {
  const needed = (version: string, form: "binary" | "bundle" | "source") =>
    neededRuntime({ version, form, system: "linux x86_64" });
  for (const old of ["1.46.3", "2.0.0", "2.7.10"]) assert.equal(needed(old, "bundle"), "2.7.11", old);
  for (const new_ of ["2.7.11", "2.7.11+1b2c3d4", "2.10.0", "3.0.0-rc.1"]) {
    assert.equal(needed(new_, "bundle"), null, new_);
  }
  assert.equal(needed("2.7.11", "source"), "2.8.0");
  assert.equal(needed("2.8.0", "source"), null);
});
