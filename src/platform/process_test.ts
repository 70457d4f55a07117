import assert from "node:assert/strict";
import { findExecutable, type ProcessOptions, run } from "./process.ts";

const unix = { ignore: Deno.build.os === "windows" };

async function shell(script: string, more: Partial<ProcessOptions> = {}) {
  let text = "";
  const decoder = new TextDecoder();
  const outcome = await run({
    argv: ["/bin/sh", "-c", script],
    cwd: "/",
    env: { PATH: "/usr/bin:/bin" },
    onOutput: (bytes) => text += decoder.decode(bytes, { stream: true }),
    ...more,
  });
  return { ...outcome, text };
}

/** Whether a process with this word in its command line is running. */
async function isRunning(word: string): Promise<boolean> {
  const { stdout } = await new Deno.Command("/bin/ps", { args: ["-A", "-o", "stat=,args="] }).output();
  return new TextDecoder().decode(stdout).split("\n").some((line) => line.includes(word) && !line.startsWith("Z"));
}

/** A length of sleep that no other test uses. */
function oddSleep(): string {
  return `1${crypto.getRandomValues(new Uint32Array(1)).join("")}`;
}

Deno.test("output and exit code of a process are given", unix, async () => {
  assert.deepEqual(await shell("echo a; echo b >&2; exit 3"), {
    ended: "exit",
    code: 3,
    leftovers: false,
    text: "a\nb\n",
  });
});

Deno.test("only the variables given are there", unix, async () => {
  const { text } = await shell("/usr/bin/env", { env: { ONLY: "this" } });
  assert.deepEqual(text.split("\n").filter((line) => !/^(PWD|_|SHLVL|OLDPWD)=/.test(line) && line !== ""), [
    "ONLY=this",
  ]);
});

Deno.test("standard input is empty, or what was given", unix, async () => {
  assert.equal((await shell("cat")).text, "");
  assert.equal((await shell("cat", { stdin: new TextEncoder().encode("given") })).text, "given");
  // More than a pipe holds, to a reader that goes away.
  assert.equal((await shell("true", { stdin: new Uint8Array(1 << 20) })).code, 0);
});

Deno.test("there is no terminal", { ignore: Deno.build.os !== "linux" }, async () => {
  assert.equal((await shell("(: </dev/tty) 2>/dev/null && echo yes || echo no")).text, "no\n");
});

Deno.test("a time limit ends the process and all it started", unix, async () => {
  const length = oddSleep();
  const outcome = await shell(`sleep ${length} & sleep ${length}`, { timeoutMs: 100 });
  assert.equal(outcome.ended, "timeout");
  assert.equal(await isRunning(length), false);
});

Deno.test("an abort ends the process, and one before the start starts nothing", unix, async () => {
  const length = oddSleep();
  const stop = new AbortController();
  const outcome = await shell(`echo started; sleep ${length}`, { signal: stop.signal, onOutput: () => stop.abort() });
  assert.equal(outcome.ended, "abort");
  assert.equal(await isRunning(length), false);
  await assert.rejects(shell("true", { signal: stop.signal }), { name: "AbortError" });
});

Deno.test("an abort in the moment of the start ends the process too", unix, async () => {
  for (let time = 0; time < 5; time++) {
    const stop = new AbortController();
    const sleep = oddSleep();
    const outcome = await shell(`sleep ${sleep}`, { signal: stop.signal, onStart: () => stop.abort() });
    assert.equal(outcome.ended, "abort");
    assert.equal(await isRunning(sleep), false);
  }
});

Deno.test("what does not want to end is made to", unix, async () => {
  const length = oddSleep();
  const outcome = await shell(`trap '' TERM; echo ready; sleep ${length}; sleep ${length}`, { timeoutMs: 100 });
  assert.equal(outcome.ended, "timeout");
  assert.equal(await isRunning(length), false);
});

Deno.test("a child in the background that holds the pipe does not hold us, and is ended", {
  timeout: 60_000,
  ignore: Deno.build.os !== "linux",
}, async () => {
  const length = oddSleep();
  const outcome = await shell(`sleep ${length} & echo done`);
  assert.deepEqual(outcome, { ended: "exit", code: 0, leftovers: true, text: "done\n" });
  assert.equal(await isRunning(length), false);
});

Deno.test("a failing listener is heard", unix, async () => {
  await assert.rejects(
    shell("echo a", {
      onOutput: () => {
        throw new RangeError("no room");
      },
    }),
    RangeError,
  );
});

Deno.test(
  "a program is found on absolute directories of the path, never in the project, also not by a link",
  unix,
  async () => {
    const root = await Deno.realPath(await Deno.makeTempDir());
    try {
      await Deno.mkdir(`${root}/project/bin`, { recursive: true });
      await Deno.mkdir(`${root}/links`);
      await Deno.mkdir(`${root}/outside`);
      await Deno.writeTextFile(`${root}/project/bin/tool`, "#!/bin/sh\n", { mode: 0o755 });
      await Deno.symlink(`${root}/project/bin/tool`, `${root}/links/tool`);
      await Deno.writeTextFile(`${root}/outside/plain`, "", { mode: 0o644 });
      const notBelow = [`${root}/project`];
      const path = `${root}/project/bin:${root}/links:bin:.:${root}/outside:${root}/nowhere`;
      assert.equal(findExecutable("tool", path, { notBelow }), null);
      assert.equal(findExecutable("plain", path, { notBelow }), null);
      await Deno.writeTextFile(`${root}/outside/tool`, "#!/bin/sh\n", { mode: 0o755 });
      assert.equal(findExecutable("tool", path, { notBelow }), `${root}/outside/tool`);
      assert.equal(findExecutable("tool", path, { notBelow: [] }), `${root}/project/bin/tool`);
      assert.equal(findExecutable("tool", "", { notBelow }), null);
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
);
