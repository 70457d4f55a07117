/**
 * Runs a command in the sandbox of a project as whoever starts this file: `root home command`. Prints what comes of it
 * as JSON, with the copies that are found then.
 */
import { ProtectedSet } from "../../src/boundary/policy/protected.ts";
import { protectCopies } from "../../src/boundary/scan/copies.ts";
import { LeakScanner } from "../../src/boundary/scan/leak_scanner.ts";
import { createSessionSandbox } from "../../src/boundary/sandbox/sandbox.ts";
import { run } from "../../src/platform/process.ts";

const [root = "", home = "", command = "", ...programs] = Deno.args;
const protection = new ProtectedSet([root]);
protection.refresh();
const since = Date.now();
const sandbox = createSessionSandbox({
  io: { os: "linux", env: (name: string) => ({ PATH: "/usr/bin:/bin", HOME: home } as Record<string, string>)[name] },
  settings: { mode: "auto", network: false, read: [], write: [], env: [] },
  home,
  roots: [root],
  ...programs.length === 0 ? {} : { programs },
});
const sandboxed = await sandbox.wrapCommand({
  root,
  additional: [],
  cwd: root,
  argv: ["/bin/bash", "-c", command],
  env: { PATH: "/usr/bin:/bin" },
  protection,
  git: false,
  network: false,
});
if (sandboxed.kind === "refused") console.log(JSON.stringify(sandboxed));
else {
  let text = "";
  await run({ ...sandboxed, timeoutMs: 30_000, onOutput: (bytes) => text += new TextDecoder().decode(bytes) });
  protection.refresh();
  const report = await sandboxed.look();
  await sandboxed.note?.remove();
  const search = { roots: [root], protection, scanner: new LeakScanner(protection, { root }), since };
  const copies = await protectCopies(search, []);
  console.log(JSON.stringify({ text, notices: sandboxed.notices, report, copies }));
}
