import assert from "node:assert/strict";
import { runsOf, svgOf } from "./terminal_svg.ts";

Deno.test("looks begin and end where the sequences of the screen say so", () => {
  const [first, second] = runsOf("\x1b[1;36m>\x1b[0m \x1b[7mone two\x1b[27m!\n\x1b[2mdim\x1b[22m plain\n\n");
  assert.deepEqual(first, [
    { column: 0, text: ">", looks: ["bold", "c6"] },
    { column: 2, text: "one two", looks: ["reverse"] },
    { column: 9, text: "!", looks: [] },
  ]);
  assert.deepEqual(second, [{ column: 0, text: "dim", looks: ["dim"] }, { column: 3, text: " plain", looks: [] }]);
});

Deno.test("a color replaces the one before and continues on the next line", () => {
  const [first, second] = runsOf("\x1b[31mred\x1b[32mgreen\nstill\x1b[39m not");
  assert.deepEqual(first?.map(({ looks }) => looks), [["c1"], ["c2"]]);
  assert.deepEqual(second?.map(({ looks }) => looks), [["c2"], []]);
});

Deno.test("text is text in the picture, and every frame but the last is hidden without motion", () => {
  const svg = svgOf([{ seconds: 1, screen: "a < b & <g>" }, { seconds: 3, screen: "end" }], {
    columns: 20,
    rows: 2,
    command: "agentcli chat",
  });
  assert.match(svg, />a &lt; b &amp; &lt;g></);
  assert.match(svg, />\$ agentcli chat</);
  assert.deepEqual(svg.match(/<g class="[^>]*>/g), ['<g class="f0" visibility="hidden">', '<g class="f1">']);
  assert.match(svg, /@keyframes f1\{0%\{visibility:hidden\}25%\{visibility:visible\}\}/);
});
