import assert from "node:assert/strict";
import { openHome } from "./home.ts";

const UUID = "1c9a3f60-0d7b-4a55-9d0e-6f2f0b1c2d3e";

Deno.test("a write removes what killed writes of that file left over an hour ago, and nothing else", async () => {
  const path = await Deno.realPath(await Deno.makeTempDir());
  try {
    const home = await openHome({ env: (name) => name === "AGENTCLI_HOME" ? path : undefined, os: "linux" });
    const old = new Date(Date.now() - 61 * 60 * 1000);
    const left = {
      gone: [`.a.json.${UUID}.tmp`],
      kept: [`.b.json.${UUID}.tmp`, `.a.json.${UUID}.tmp.txt`, `a.json.${UUID}.tmp`, ".a.json.notes.tmp", "other"],
      young: [`.a.json.${UUID.replace("1", "2")}.tmp`],
    };
    for (const name of Object.values(left).flat()) await Deno.writeTextFile(`${path}/${name}`, "x");
    for (const name of [...left.gone, ...left.kept]) await Deno.utime(`${path}/${name}`, old, old);
    await home.write("a.json", "{}");
    const names = [...Deno.readDirSync(path)].map(({ name }) => name).sort();
    assert.deepEqual(names, ["a.json", ...left.kept, ...left.young].sort());
  } finally {
    await Deno.remove(path, { recursive: true });
  }
});
