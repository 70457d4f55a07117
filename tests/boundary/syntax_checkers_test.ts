/** Programs that look at the syntax of a changed file see nothing protected, and what is said of it is protected. */
import assert from "node:assert/strict";
import { readTool } from "../../src/tools/read/tool.ts";
import { editTool } from "../../src/tools/edit/tool.ts";
import { writeTool } from "../../src/tools/write/tool.ts";
import type { SessionSandbox } from "../../src/boundary/sandbox/sandbox.ts";
import { inToolProject } from "../helpers/tool_project.ts";

const SECRET = "canary_4711 = (\n";
const unix = { ignore: Deno.build.os === "windows" };

/** Writes and edits a file beside a stand-in for Python that keeps what it gets; returns that, and the labels. */
async function changed(name: string, marker: string | undefined): Promise<{ got: string; labels: string[] }> {
  const place = await Deno.makeTempDir();
  await Deno.writeTextFile(`${place}/python3`, `#!/bin/sh\nPATH=/usr/bin:/bin; cat >> ${place}/got; echo "1: bad"\n`, {
    mode: 0o755,
  });
  const labels: string[] = [];
  await inToolProject(async ({ context }) => {
    const io = { ...context.io, env: (key: string) => key === "PATH" ? place : undefined };
    const given = { ...context, io };
    const edit = { file_path: name, old_string: "(", new_string: "((" };
    labels.push((await writeTool.run({ file_path: name, content: SECRET }, given)).label);
    await readTool.run({ file_path: name }, given);
    labels.push((await editTool.run(edit, given)).label);
  }, marker === undefined ? {} : { marker });
  const got = await Deno.readTextFile(`${place}/got`).catch(() => "");
  await Deno.remove(place, { recursive: true });
  return { got, labels };
}

Deno.test("a protected text goes to no checker, nor any text where commands have no sandbox", unix, async () => {
  assert.deepEqual(await changed("secret.py", "no-cloud: secret.*\n"), { got: "", labels: ["open", "no-cloud"] });
  assert.deepEqual(await changed("other.py", "no-cloud: secret.*\n"), { got: "", labels: ["open", "open"] });
  const control = await changed("secret.py", undefined);
  assert.match(control.got, /canary_4711/);
});

Deno.test("what our own parser says of a protected text is protected", async () => {
  for (const [marker, label] of [["no-cloud: secret.*\n", "no-cloud"], ["no-cloud: else.*\n", "open"]] as const) {
    await inToolProject(async ({ run }) => {
      const result = await run(writeTool, { file_path: "secret.json", content: "{" });
      assert.match(result.content, /syntax error now/);
      assert.equal(result.label, label);
    }, { marker });
  }
});

Deno.test("what changed while a checker could see a protected path is protected", unix, async () => {
  const place = await Deno.makeTempDir();
  await Deno.writeTextFile(`${place}/python3`, "", { mode: 0o755 });
  const protectedFor: string[] = [];
  await inToolProject(async ({ context }) => {
    const sandbox: SessionSandbox = {
      settings: { mode: "auto", network: false, read: [], write: [], env: [] },
      shown: new Set(),
      protectsElsewhere: () => Promise.resolve(false),
      recoverUnfinished: () => Promise.resolve([]),
      wrapCommand: () =>
        Promise.resolve({
          ...{ kind: "ready", argv: ["/bin/true"], env: {}, cwd: "/", notices: [], note: null, roots: [] },
          look: () => Promise.resolve({ planted: [], exposed: ["/project/.env"] }),
          quarantine: () => Promise.resolve(null),
        }),
    };
    await writeTool.run({ file_path: "other.py", content: SECRET }, {
      ...context,
      io: { ...context.io, env: (key: string) => key === "PATH" ? place : undefined },
      sandbox,
      protectChanges: (_, { exposed }) => Promise.resolve(void protectedFor.push(exposed?.path ?? "nothing")),
    });
  }, { marker: "no-cloud: .env\n" });
  await Deno.remove(place, { recursive: true });
  assert.deepEqual(protectedFor, ["nothing", "/project/.env"]);
});
