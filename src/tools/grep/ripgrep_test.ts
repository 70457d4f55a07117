import assert from "node:assert/strict";
import { inToolProject, type ToolProject } from "../../../tests/helpers/tool_project.ts";
import { findExecutable } from "../../platform/process.ts";
import type { ToolResult } from "../tool.ts";
import type { GrepInput } from "../declarations.ts";
import { makeGrepTool } from "./tool.ts";

const RIPGREP = findExecutable("rg", Deno.env.get("PATH") ?? "", { notBelow: [] });
const withRipgrep = { ignore: RIPGREP === null };

/**
 * A search with the real ripgrep behind a script that says in `started` that it ran; `before` and `after` are shell.
 */
interface Watched {
  search(input: GrepInput): Promise<ToolResult>;
  /** Without ripgrep. */
  own(input: GrepInput): Promise<ToolResult>;
  /** How often ripgrep was started. */
  starts(): number;
}

async function watched(
  project: ToolProject,
  work: (watched: Watched) => Promise<void>,
  { before = "", after = "", deadlineMs = 20_000 }: { before?: string; after?: string; deadlineMs?: number } = {},
): Promise<void> {
  const directory = await Deno.makeTempDir();
  const log = `${directory}/log`;
  const script = `#!/bin/sh\necho x >> "${log}"\n${before}\n${RIPGREP} "$@"\ncode=$?\n${after}\nexit $code\n`;
  try {
    await Deno.writeTextFile(`${directory}/rg`, script, { mode: 0o755 });
    const search = (input: GrepInput, ripgrep: boolean) => {
      // Its clock stands still: only ripgrep can be late.
      const io = { ...project.context.io, env: () => directory };
      return makeGrepTool({ deadlineMs, ripgrep }).run(input, { ...project.context, io });
    };
    await work({
      search: (input) => search(input, true),
      own: (input) => search(input, false),
      starts() {
        try {
          return Deno.readTextFileSync(log).length / 2;
        } catch {
          return 0;
        }
      },
    });
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

const SECRET = "CNRY_5ce1a7b0";

/** Ways by which `sub/secret.txt` is protected, or another name of it appears, after the session began. */
const CHANGES: readonly [string, (project: ToolProject) => Promise<void> | void][] = [
  ["a marker in a subdirectory", ({ write }) => write("sub/.agentclisecret", "no-cloud: secret.txt\n")],
  ["a marker that is a link", async ({ root, write }) => {
    await write("lines", "no-cloud: secret.txt\n");
    await Deno.symlink("../lines", `${root}/sub/.agentclisecret`);
  }],
  ["a marker that is a directory", ({ root }) => Deno.mkdir(`${root}/sub/.agentclisecret`)],
  ["a marker and a hard link outside of what it covers", async ({ root, write }) => {
    await write("sub/.agentclisecret", "no-cloud: secret.txt\n");
    await Deno.link(`${root}/sub/secret.txt`, `${root}/pub/copy.txt`);
  }],
  ["a marker whose line leads through a link", async ({ root, write }) => {
    await Deno.symlink("../sub", `${root}/pub/way`);
    await write("pub/.agentclisecret", "no-cloud: way/secret.txt\n");
  }],
  ["a marker below an ignored directory, with a hard link", async ({ root, write }) => {
    await write(".gitignore", "/build\n");
    await write("build/.agentclisecret", "no-cloud: k\n");
    await Deno.link(`${root}/sub/secret.txt`, `${root}/build/k`);
  }],
];

for (const [what, change] of CHANGES) {
  Deno.test(
    `${what}, met during a search, keeps content from a remote model, and whether there was a match`,
    withRipgrep,
    () =>
      inToolProject(async (project) => {
        await project.write("sub/secret.txt", `${SECRET}\n`);
        await project.write("pub/open.txt", "open\n");
        await watched(project, async ({ search, own, starts }) => {
          assert.equal((await search({ pattern: "CNRY" })).content, `sub/secret.txt:1:${SECRET}`, "the control");
          assert.equal(starts(), 1);
          await change(project);
          // In this order: the first search is the one that meets the marker.
          const absent = await search({ pattern: "CNRY_6" });
          const found = await search({ pattern: "CNRY_5" });
          assert.ok(!found.content.includes(SECRET));
          // What is said must not depend on the protected content.
          assert.equal(found.content, absent.content);
          assert.deepEqual(found, await own({ pattern: "CNRY_5" }));
          // Once more before the marker was met, if it was not ended before it could say so; and never after.
          assert.ok(starts() <= 2);
          const one = await search({ pattern: "open|CNRY", path: "pub", output_mode: "count" });
          assert.ok(!one.content.includes("copy.txt"));
        });
      }, { local: false }),
  );

  Deno.test(
    `${what}, met during a search, labels what a local model gets`,
    withRipgrep,
    () =>
      inToolProject(async (project) => {
        await project.write("sub/secret.txt", `${SECRET}\n`);
        await project.write("pub/open.txt", "open\n");
        await change(project);
        await watched(project, async ({ search, own, starts }) => {
          const found = await search({ pattern: "CNRY" });
          assert.ok(found.content.includes(SECRET), "the control");
          assert.equal(found.label, "no-cloud");
          assert.deepEqual(found, await own({ pattern: "CNRY" }));
          assert.ok(starts() <= 1);
        });
      }),
  );
}

Deno.test(
  "what ripgrep names is opened through the boundary: links, other kinds and places outside show nothing",
  withRipgrep,
  () =>
    inToolProject(async (project) => {
      await project.write("a.txt", "one\n");
      await project.write("b.txt", "one\n");
      // As if a file had become a link between ripgrep's look and ours.
      const swap = `/bin/rm "${project.root}/b.txt"; /bin/ln -s /etc/hostname "${project.root}/b.txt"`;
      await watched(project, async ({ search }) => {
        const { content } = await search({ pattern: "o|[a-z]" });
        assert.match(content, /^a\.txt:1:one\n/);
        assert.ok(!content.includes("b.txt"), content);
      }, { after: swap });
    }),
);

Deno.test(
  "a ripgrep that takes too long is ended, and the search done without it",
  withRipgrep,
  () =>
    inToolProject(async (project) => {
      await project.write("a.txt", "one\n");
      await watched(project, async ({ search }) => {
        assert.equal((await search({ pattern: "one" })).content, "a.txt:1:one");
      }, { before: "exec /bin/sleep 60", deadlineMs: 200 });
    }),
);

Deno.test(
  "of very many files with a match the first by path are shown, as without ripgrep",
  withRipgrep,
  () =>
    inToolProject(async (project) => {
      for (let file = 0; file < 2_100; file++) {
        Deno.mkdirSync(`${project.root}/d${file % 7}`, { recursive: true });
        Deno.writeTextFileSync(`${project.root}/d${file % 7}/${file}.txt`, "one\n");
      }
      await watched(project, async ({ search, own, starts }) => {
        for (const output_mode of ["content", "files_with_matches", "count"] as const) {
          assert.deepEqual(await search({ pattern: "one", output_mode }), await own({ pattern: "one", output_mode }));
        }
        assert.equal(starts(), 6);
      });
    }),
);

Deno.test("files that may not be read do not keep ripgrep from being used", {
  ignore: RIPGREP === null || Deno.uid() === 0,
}, () =>
  inToolProject(async (project) => {
    await project.write("a.txt", "one\n");
    await project.write("b.txt", "one\n");
    await Deno.chmod(`${project.root}/b.txt`, 0);
    await watched(project, async ({ search, starts }) => {
      assert.equal((await search({ pattern: "one" })).content, "a.txt:1:one");
      assert.equal(starts(), 1);
    });
  }));
