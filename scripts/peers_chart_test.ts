import assert from "node:assert/strict";
import { barsOf, chartOf } from "./peers_chart.ts";

const PAGE = `Words.

| program     | first request  | memory          | request bytes |
| ----------- | -------------- | --------------- | ------------- |
| agentcli    | 31 ms          | 46 MiB          | 3694 B        |
| bare client | 17 ms (0.55 ×) | 31 MiB (0.68 ×) | 265 B         |
| other       | 310 ms (10 ×)  | 92 MiB (2.0 ×)  | 7388 B        |

| another | table |
| ------- | ----- |
| x       | y     |
`;

Deno.test("the chart has a group a column, without the floor, the shortest bar first and ours marked", () => {
  const groups = barsOf(PAGE);
  assert.deepEqual(groups[0]?.bars, [
    { program: "agentcli", value: 31, shown: "31 ms" },
    { program: "other", value: 310, shown: "310 ms" },
  ]);
  const svg = chartOf(groups);
  assert.equal(svg.match(/<rect/g)?.length, 6);
  assert.equal(svg.match(/<rect class="ours"/g)?.length, 3);
  const [ours = 0, longest = 0] = [...svg.matchAll(/width="(\d+)" height/g)].map(([, width]) => Number(width));
  assert.equal(Math.round(longest / ours), 10);
  assert.equal(svg.includes("bare client"), false);
  assert.throws(() => barsOf("no table"), /has no table of programs/);
});

Deno.test("docs/peers.svg is what the table of docs/performance.md says", async () => {
  const page = await Deno.readTextFile(new URL("../docs/performance.md", import.meta.url));
  assert.equal(await Deno.readTextFile(new URL("../docs/peers.svg", import.meta.url)), chartOf(barsOf(page)));
});
