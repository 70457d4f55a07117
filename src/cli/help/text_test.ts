import assert from "node:assert/strict";
import { helpText } from "./text.ts";
import { normalize } from "../command_line.ts";
import { loadTree } from "../tree.ts";

/** A line of one word, which may be in quotes. */
const ONE_WORD = /^ *(?:"[^"]*"|'[^']*'|[^\s"'])+(?: \\)?$/;

Deno.test("what help says stays within the terminal, on a narrow one too", async () => {
  const tree = await loadTree();
  for (const words of [[], ["run"], ["providers", "add"], ["editor", "add"]]) {
    const line = normalize(words, tree);
    for (const width of [40, 54, 80, 200]) {
      const lines = helpText(line, width).split("\n");
      const last = lines.indexOf("Examples:");
      // Examples go on in a further line; one word is not cut.
      const examples = last < 0 ? [] : lines.slice(last + 1, lines.indexOf("", last));
      assert.deepEqual(examples.filter((text) => text.length > width && !ONE_WORD.test(text)), [], words.join(" "));
      // An option with its value is not cut.
      const sentences = lines.slice(0, last < 0 ? undefined : last).filter((text) =>
        !/^ *(-|Usage:|Help for)/.test(text)
      );
      const long = sentences.filter((text) => text.length > width);
      assert.deepEqual(long, [], `${words.join(" ")} in ${width} columns`);
    }
  }
});
