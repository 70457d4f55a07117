import assert from "node:assert/strict";
import { helpText } from "./text.ts";
import { normalize } from "../command_line.ts";
import { loadTree } from "../tree.ts";

Deno.test("what help says stays within the terminal, on a narrow one too", async () => {
  const tree = await loadTree();
  for (const words of [[], ["run"], ["providers", "add"], ["editor", "add"]]) {
    const line = normalize(words, tree);
    for (const width of [40, 54, 80, 200]) {
      const lines = helpText(line, width).split("\n");
      const last = lines.indexOf("Examples:");
      // Command lines are not cut: neither examples nor an option with its value.
      const sentences = lines.slice(0, last < 0 ? undefined : last).filter((text) =>
        !/^ *(-|Usage:|Help for)/.test(text)
      );
      const long = sentences.filter((text) => text.length > width);
      assert.deepEqual(long, [], `${words.join(" ")} in ${width} columns`);
    }
  }
});
