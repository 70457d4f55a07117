/** Every installed command line of the scaffolded hooks with what is not meant for it, and without the program. */
import assert from "node:assert/strict";
import { EVENTS } from "../src/editor/hooks/events.ts";
import { SCAFFOLDS } from "../src/editor/hooks/scaffold_ids.ts";
import {
  contentOf,
  infos,
  install,
  KINDS,
  linkProgram,
  payload,
  project,
  recorded,
  SECRET,
} from "./helpers/editor_lines.ts";
import { each, runLine } from "./helpers/editor_program.ts";
import { temporaryHome } from "./helpers/program.ts";

Deno.test("every line is run with the inputs of other events: they block the guard's, and stop no other", async () => {
  await using home = await temporaryHome();
  const lines = await install(home, { scope: "project", program: await project(home) });
  const before = await contentOf(home);
  const given = infos(home);
  const pairs = lines.flatMap((line, row) =>
    EVENTS.map((event, column) => ({ line, event, row, column, kind: KINDS[(row + column) % KINDS.length] ?? "open" }))
  ).filter(({ line, event, row, column }) => line.event !== event && row % 3 === column % 3);
  assert.deepEqual(new Set(pairs.map(({ line }) => line)), new Set(lines));
  assert.deepEqual(new Set(pairs.map(({ event }) => event)), new Set(EVENTS));
  await each(pairs, async ({ line: { scaffold, event: own, command }, event, kind }) => {
    const input = kind === "recorded" ? await recorded(home, event) : payload(event, given[event][kind]);
    const { code, stdout, stderr } = await runLine(home, command, { input });
    const what = `${scaffold} ${own} with ${event} ${kind}`;
    assert.equal(code, SCAFFOLDS[scaffold].guard ? 2 : 1, `${what}: ${stderr}`);
    assert.equal((stdout + stderr).includes(SECRET), false, what);
  });
  assert.equal(await contentOf(home), before);
});

Deno.test("every line is run without agentcli on PATH: the guard's end with 2, the others' never so", async () => {
  await using home = await temporaryHome();
  await project(home);
  await Deno.mkdir(`${home.root}/bin`);
  for (const name of ["bash", "sleep"]) await linkProgram(home, name);
  const lines = [
    ...await install(home, { scope: "project", program: "agentcli" }),
    ...await install(home, { scope: "user", program: "agentcli" }),
  ];
  const before = await contentOf(home);
  const given = infos(home);
  // Nobody is there to read the input: which one it is can only matter to the line itself.
  const tried = lines.flatMap((line) => KINDS.map((kind) => ({ line, event: line.event, kind })));
  await each(tried, async ({ line: { scaffold, event: own, command }, event, kind }) => {
    const input = kind === "recorded" ? await recorded(home, event) : payload(event, given[event][kind]);
    const { code, stderr } = await runLine(home, command, { input, env: { PATH: `${home.root}/bin` } });
    const well = SCAFFOLDS[scaffold].guard ? code === 2 : code !== 0 && code !== 2;
    assert.ok(well, `${scaffold} ${own} with ${event} ${kind}: exit ${code}: ${stderr}`);
  });
  assert.equal(await contentOf(home), before);
});
