import assert from "node:assert/strict";
import { type Machine, MODELS, suggest } from "./models.ts";

const names = (machine: Partial<Machine>) =>
  suggest({ memoryGb: 32, graphicsGb: null, unified: false, ...machine }).map(({ model, runsOn }) =>
    `${model.name} ${runsOn}`
  );

Deno.test("what fits the card comes first, and one larger model that runs on card and processor", () => {
  assert.deepEqual(names({ graphicsGb: 8.6 }), ["qwen3.5:9b graphics", "qwen3.5:4b graphics", "qwen3.5:35b split"]);
  assert.deepEqual(names({ graphicsGb: 17, memoryGb: 16 }), [
    "gpt-oss:20b graphics",
    "qwen3.5:9b graphics",
    "qwen3.5:35b split",
  ]);
  assert.deepEqual(names({ graphicsGb: 26 }), ["qwen3.5:27b graphics", "qwen3.5:35b graphics", "gpt-oss:20b graphics"]);
});

Deno.test("without a card only models run of which little works on one token", () => {
  assert.deepEqual(names({}), ["qwen3.5:35b processor", "gpt-oss:20b processor", "qwen3.5:4b processor"]);
  assert.equal(names({ memoryGb: 16 })[0], "qwen3.5:4b processor");
  assert.deepEqual(names({ memoryGb: 8.3 }), ["qwen3.5:2b processor", "qwen3.5:0.8b processor"]);
  assert.deepEqual(names({ memoryGb: 8.3, graphicsGb: 4.3 }), ["qwen3.5:2b graphics", "qwen3.5:0.8b graphics"]);
  assert.deepEqual(names({ memoryGb: 6 }), []);
});

Deno.test("memory that processor and graphics share counts once, and the system keeps its part", () => {
  assert.deepEqual(names({ memoryGb: 17, unified: true }), [
    "qwen3.5:9b graphics",
    "qwen3.5:4b graphics",
    "qwen3.5:2b graphics",
  ]);
  assert.equal(names({ memoryGb: 137, unified: true })[0], "qwen3.5:122b graphics");
});

Deno.test("never more than three, and every machine that fits a larger model fits the choice of a smaller machine", () => {
  for (let memoryGb = 4; memoryGb < 200; memoryGb += 4) {
    for (const graphicsGb of [null, 6, 12, 24, 48, 96]) {
      const found = suggest({ memoryGb, graphicsGb, unified: false });
      assert.ok(found.length <= 3);
      assert.equal(new Set(found.map(({ model }) => model.name)).size, found.length);
      for (const { needsGb } of found) assert.ok(needsGb <= memoryGb + (graphicsGb ?? 0));
    }
  }
  assert.equal(new Set(MODELS.map(({ name }) => name)).size, MODELS.length);
});
