/** Random trees with links of both kinds, random protected paths, and everything that can be read in the sandbox. */
import assert from "node:assert/strict";
import * as fc from "../property.ts";
import { findMarkers } from "../../src/boundary/policy/path_rules.ts";
import { openWorkspace } from "../../src/boundary/workspace/disk.ts";
import { hasBubblewrap, inSandboxProject, start } from "./sandbox_project.ts";

const RUNS = 12;
const name = fc.constantFrom("a", "b", ".c", "d e", "é", "-f", "$g'h");
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join("/"));
const step = fc.oneof(
  fc.record({ kind: fc.constant("file" as const), path }),
  fc.record({ kind: fc.constant("hard" as const), path, to: path }),
  fc.record({ kind: fc.constant("link" as const), path, to: path }),
);
/** Which step a line of the marker names, and how many of its names. */
const line = fc.tuple(fc.constantFrom("no-cloud", "list-only"), fc.nat(13), fc.integer({ min: 1, max: 4 }));

/** Reads everything by every name, and again after moving about what can be moved. */
const COMMAND =
  `look() { find -L . -type f -exec cat {} + ; grep -r . . ; cat -- * */* */*/* */*/*/* .c .c/* ; tar c . ; }
look; for one in * .c */*; do mv -- "$one" moved && look; mv -- moved "$one"; done; echo END`;

Deno.test(
  "no tree of links and no marker lets protected content through",
  { ignore: !hasBubblewrap() },
  () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 3, maxLength: 14 }),
        fc.array(line, { minLength: 1, maxLength: 3 }),
        (
          steps,
          lines,
        ) =>
          inSandboxProject(async (project) => {
            const { root, home } = project;
            for (const old of [".env", "secrets", "deep", "pub.txt"]) {
              await Deno.remove(`${root}/${old}`, { recursive: true });
            }
            const named = (at: number, depth: number) =>
              steps[at % steps.length]?.path.split("/").slice(0, depth).join("/");
            const text = lines.map(([tier, at, depth]) => `${tier}: ${named(at, depth)}\n`).join("");
            project.write(".agentclisecret", text);
            for (const [index, one] of steps.entries()) {
              // A place that is taken, or that leads nowhere, is passed over.
              try {
                Deno.mkdirSync(`${root}/${one.path}`.replace(/\/[^/]*$/, ""), { recursive: true });
                if (one.kind === "file") {
                  Deno.writeTextFileSync(`${root}/${one.path}`, `CONTENT_${index}_`, { createNew: true });
                } else if (one.kind === "hard") Deno.linkSync(`${root}/${one.to}`, `${root}/${one.path}`);
                else Deno.symlinkSync(`${root}/${one.to}`, `${root}/${one.path}`);
              } catch {
                continue;
              }
            }
            const workspace = await openWorkspace({
              root,
              additional: [],
              cwd: root,
              home,
              localEndpoints: findMarkers(root).standingEndpoints,
              provider: { local: false, name: "test" },
            });
            const { protection } = workspace;
            assert.ok(protection);
            const secret: string[] = [];
            for (const file of protection.files()) {
              const found = /CONTENT_\d+_/.exec(Deno.readTextFileSync(file))?.[0];
              if (found !== undefined) secret.push(found);
            }
            const sandboxed = await project.sandbox.wrapCommand(
              await project.request(COMMAND, { hide: await protection.hidden() }),
            );
            if (sandboxed.kind === "refused") return;
            const ran = await start(sandboxed.argv, { cwd: sandboxed.cwd, env: sandboxed.env });
            // Not at the end of all: what it says on its other stream may come later.
            assert.match(ran.text, /END\n/);
            for (const content of secret) assert.ok(!ran.text.includes(content), `${content} came through`);
            protection.refresh();
            for (const file of protection.files()) {
              const found = /CONTENT_\d+_/.exec(Deno.readTextFileSync(file))?.[0];
              if (found !== undefined) assert.ok(secret.includes(found), "a command changed what is protected");
            }
          }),
      ),
      { numRuns: RUNS },
    ),
);
