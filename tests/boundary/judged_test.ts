/** What programs of a session changed is judged when they end, whoever asks for it, and whatever stands in the way. */
import assert from "node:assert/strict";
import { ask, say, type Script, startFakeServer, want } from "../helpers/fake_server.ts";
import { configure, startProgram } from "../helpers/program.ts";
import { assertSealed, openStage, type Stage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";
import { CODED, coded, standing } from "./slipped.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const bubblewrap = { ignore: !hasBubblewrap() };
const block = { models: [{ id: "fake", context_window: 32_768 }] };
const args = ["--permission-mode", "bypassPermissions"];
const shell = (command: string) => ask(want("shell", { command }));
const background = (command: string) => ask({ name: "Bash", input: { command, background: true } });
const read = (path: string) => ask(want("read", { path }));
const UNTIL = (path: string) => `for i in $(seq 500); do [ -e ${path} ] && break; sleep 0.02; done`;

/** A project `A` without a marker beside a known one, `B`, with a protected file. */
async function beside(stage: Stage): Promise<{ a: string; b: string; line: string }> {
  const [a, b] = [`${stage.home.root}/A`, `${stage.home.root}/B`];
  await stage.plant(`${b}/.env`, "env", (canary) => `API_TOKEN=${canary}\n`);
  await stage.write(`${b}/.agentclisecret`, "no-cloud: .env\n");
  await stage.write(`${a}/open.txt`, "an open line of A\n");
  await stage.play("loc", { cwd: b, script: [say("Hello.")] });
  return { a, b, line: `API_TOKEN=${stage.canary("env")}` };
}

/** Returns what a later remote session gets of a file. Asserts that it gets something: the control. */
async function sentLater(
  stage: Stage,
  path: string,
  { cwd = stage.project, settings = {} } = {},
): Promise<string> {
  const script = [read(path), shell(`cat '${path}'; echo ran`), say("Done.")];
  const played = await stage.play("rem", { cwd, block, args, script, settings });
  assert.match(played.results[1] ?? "", /ran/, `control: its command ran\n${played.done.stderr}`);
  return played.sent;
}

/** Somebody saves a file anew, as editors do, once the command has begun, and lets it go on. */
async function saveAnew(stage: Stage, path: string, cwd: string): Promise<string> {
  const value = `NEWKEY${crypto.randomUUID().replaceAll("-", "")}`;
  await standing(`${cwd}/ready.txt`);
  await stage.write(`${stage.home.root}/new`, `${value}\n`);
  await Deno.rename(`${stage.home.root}/new`, path);
  await stage.write(`${cwd}/go.txt`, "go");
  return value;
}

/** Ways in which a program of a local session leaves protected content in `copy.txt`. */
const LEFT: Readonly<Record<string, (copy: string) => { script?: Script; args?: string[]; chat?: string }>> = {
  "its first command": (copy) => ({ script: [shell(copy), say("Done.")] }),
  "a command that prints none of it": (copy) => ({ script: [shell(`(${copy}) > /dev/null`), say("Done.")] }),
  "a command that ran out of time": (copy) => ({ script: [shell(`${copy}; sleep 30`)], args: ["--timeout", "2"] }),
  "a command of the person": (copy) => ({ chat: `!${copy}\n` }),
  "a command of the person that the model is not told of": (copy) => ({ chat: `!!${copy}\n` }),
};

for (const [what, way] of Object.entries(LEFT)) {
  Deno.test(`${what} leaves a copy of protected content, which is protected`, linux, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const { b, line } = await beside(stage);
    stage.exempt(`${b}/copy.txt`);
    const { script = [say("ok")], args: more = [], chat } = way(`echo ${line} | tee copy.txt`);
    const play = { cwd: b, block, script, args: [...args, ...more] };
    const ways = chat === undefined ? {} : { argv: ["chat", "--model", "loc", ...args], prompt: null, stdin: chat };
    const local = await stage.play("loc", { ...play, ...ways });
    assert.ok((await Deno.readTextFile(`${b}/copy.txt`)).includes(line), `control: it is there\n${local.done.stderr}`);
    assert.match(local.done.stderr + local.done.stdout, /protected from now on[^]*copy\.txt/);
    assert.ok(!(await sentLater(stage, "copy.txt", { cwd: b })).includes(line));
  });
}

Deno.test("a file that is too large to be looked through is protected, too", linux, async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const { b, line } = await beside(stage);
  stage.exempt(`${b}/big.txt`);
  const script = [shell(`truncate -s 70M big.txt; echo ${line} >> big.txt`), say("Done.")];
  const local = await stage.play("loc", { cwd: b, args, script });
  assert.match(local.done.stderr, /protected from now on.*big\.txt/);
});

Deno.test("a copy in an additional directory is protected there, too", linux, async () => {
  for (const isCopy of [true, false]) {
    await using stage = await openStage({ bare: true, marker: null });
    const { b, line } = await beside(stage);
    const added = `${stage.home.root}/added`;
    await stage.write(`${added}/open.txt`, "an open line\n");
    stage.exempt(`${added}/out.txt`);
    const script = [shell(`echo ${isCopy ? line : "an open line"} > '${added}/out.txt'`)];
    const more = ["--add-dir", added, "--max-turns", "1"];
    await stage.play("loc", { cwd: b, block, args: [...args, ...more], script });
    const sent = await sentLater(stage, "out.txt", { cwd: added });
    assert.equal(sent.includes(stage.canary("env")), false);
    assert.equal(sent.includes("an open line"), !isCopy, "control: what holds nothing is read");
  }
});

/** What becomes of an added directory before what came of it is judged. */
const LATER: Readonly<Record<string, { isSecret: boolean; change?(stage: Stage): Promise<unknown> }>> = {
  "is still there": { isSecret: true },
  "was moved": { isSecret: true, change: ({ home: { root } }) => Deno.rename(`${root}/B`, `${root}/C`) },
  "was replaced": {
    isSecret: true,
    async change({ home: { root } }) {
      await Deno.rename(`${root}/B`, `${root}/C`);
      await Deno.mkdir(`${root}/B`);
    },
  },
  "held nothing of it": { isSecret: false },
};

for (const [what, { isSecret, change }] of Object.entries(LATER)) {
  const does = isSecret ? "is protected" : "stays open";
  for (const way of ["comes back from quarantine", "a killed command left"]) {
    Deno.test(`what ${way} ${does} where an added directory ${what}`, bubblewrap, async () => {
      await using stage = await openStage({ bare: true, marker: null });
      const { a, b, line } = await beside(stage);
      const text = isSecret ? line : "an open line";
      const isKilled = way === "a killed command left";
      const path = isKilled ? "copy.txt" : ".vscode/tasks.json";
      stage.exempt(`${a}/${path}`);
      const script = [
        read(`${b}/.env`),
        shell(`mkdir -p .vscode; echo '${text}' > ${path}; ${isKilled ? "echo > ready.txt; sleep 60" : ""}`),
      ];
      const more = [...args, "--add-dir", b];
      if (isKilled) {
        await using server = startFakeServer({ script });
        await configure(stage.home, { loc: { baseUrl: server.baseUrl, ...block } });
        const program = startProgram(["run", "go", "--model", "loc", ...more], { home: stage.home, cwd: a });
        await program.closeInput();
        await standing(`${a}/ready.txt`);
        program.kill("SIGKILL");
        await program.finished;
        await change?.(stage);
      } else {
        const local = await stage.play("loc", { cwd: a, block, args: more, script: [...script, say("Done.")] });
        const [, id = ""] = /agentcli quarantine restore (\S+)/.exec(local.done.stderr) ?? [];
        await change?.(stage);
        const { done } = await stage.play("loc", { cwd: a, argv: ["quarantine", "restore", id], script: [] });
        assert.equal(done.code, 0, done.stderr);
      }
      assert.equal(await Deno.readTextFile(`${a}/${path}`), `${text}\n`, "control: it is there");
      const { sent, done } = await stage.play("rem", { cwd: a, block, script: [read(path), say("Done.")] });
      assert.equal(sent.includes(text), !isSecret, done.stderr);
    });
  }
}

Deno.test("a copy below sandbox.write is protected for all projects", bubblewrap, async () => {
  await using stage = await openStage({ bare: true, marker: null });
  const { a, b, line } = await beside(stage);
  const cache = `${stage.home.root}/cache`;
  for (const path of ["copy.txt", "open.txt"]) await stage.write(`${cache}/${path}`, "an open line\n");
  const settings = { sandbox: { write: [cache] } };
  const script = [read(".env"), shell(`echo ${line} > '${cache}/copy.txt'`), say("Done.")];
  const local = await stage.play("loc", { cwd: b, args, script, settings });
  assert.match(local.done.stderr, /protected from now on.*cache\/copy\.txt/);
  const look = [shell(`cat '${cache}/copy.txt' '${cache}/open.txt'`), say("Done.")];
  for (const cwd of [a, b]) {
    const remote = await stage.play("rem", { cwd, args, script: look, settings });
    assert.match(remote.results[0] ?? "", /an open line/, "control: the directory can be read");
    assert.ok(!remote.sent.includes(line));
  }
});

Deno.test("what a killed command left below sandbox.write is checked by its own project", linux, async () => {
  for (const hasNote of [true, false]) {
    await using stage = await openStage({ bare: true, marker: null });
    const { a, b, line } = await beside(stage);
    await stage.write(`${a}/copy.txt`, `${line}\n`);
    const note = JSON.stringify({ process: null, since: Date.now() - 60_000, roots: [b, a] });
    if (hasNote) await stage.write(`${stage.home.agentcliHome}/unfinished/1.json`, note);
    const sent = await sentLater(stage, "copy.txt", { cwd: a });
    assert.equal(sent.includes(line), !hasNote, "control: nothing else tells of it");
  }
});

for (const isExposed of [true, false]) {
  const does = isExposed ? "is protected in a project without a marker" : "stays open when nothing was exposed";
  Deno.test(`what a remote command changed beside another project's file ${does}`, bubblewrap, async () => {
    await using stage = await openStage({ bare: true, marker: null });
    const { a, b } = await beside(stage);
    await stage.write(`${a}/old.txt`, "stood here before\n");
    const settings = { sandbox: { read: [b] } };
    const saving = saveAnew(stage, isExposed ? `${b}/.env` : `${b}/open.txt`, a);
    const left = `cat "${b}/.env" "${b}/open.txt" 2>/dev/null | ${CODED} > old.txt; mkdir d; cp old.txt d/new.txt`;
    const command = `echo > ready.txt; ${UNTIL("go.txt")}; ${left}`;
    const played = await stage.play("rem", { cwd: a, block, args, settings, script: [shell(command), say("Done.")] });
    const value = coded(await saving);
    assert.ok((await Deno.readTextFile(`${a}/old.txt`)).includes(value), "control: it was seen");
    const entries = await stage.play("loc", { cwd: a, argv: ["quarantine", "list", "--json"], script: [] });
    for (const { id } of JSON.parse(entries.done.stdout).entries) {
      await stage.play("loc", { cwd: a, argv: ["quarantine", "restore", id], script: [] });
    }
    assert.match(played.results[0] ?? "", isExposed ? /redacted/ : /^\(no output\)$/);
    for (const path of ["old.txt", "d/new.txt"]) {
      assert.equal((await sentLater(stage, path, { cwd: a, settings })).includes(value), !isExposed, path);
    }
  });
}

for (const isProtected of [true, false]) {
  for (const asks of ["foreground", "background"] as const) {
    const does = isProtected ? "is protected, and its output dropped" : "stays open while no marker comes";
    Deno.test(`what a ${asks} command without a sandbox takes of a new file ${does}`, linux, async () => {
      await using stage = await openStage({ bare: true, marker: null });
      await stage.write("copy.txt", "stood here before\n");
      const take = `${CODED} < .env; ${CODED} < .env > copy.txt`;
      // Whenever the next look comes, the command has the moment until it is made to end.
      const command = `trap '' TERM; echo > ready.txt; ${UNTIL(".env")}; sleep 0.1; ${take}; echo > took`;
      const work = async () => {
        await standing(`${stage.project}/ready.txt`);
        if (isProtected) await stage.write(".agentclisecret", "no-cloud: .env\n");
        await stage.plant(".env", "new", (canary) => `NEW=${canary}\n`);
        await standing(`${stage.project}/took`);
      };
      const script = asks === "foreground"
        ? [shell(command), say("Done.")]
        : [background(`${command}; sleep 100`), say("Done.")];
      const doing = asks === "foreground" ? work() : undefined;
      const during = asks === "foreground" ? {} : { during: { index: 1, work } };
      const played = await stage.play("rem", { block, args, script, ...during });
      await doing;
      const value = coded(stage.canary("new"));
      assert.ok((await Deno.readTextFile(`${stage.project}/copy.txt`)).includes(value), "control: it was seen");
      if (asks === "foreground") assert.equal(played.sent.includes(value), !isProtected);
      assert.equal((await sentLater(stage, "copy.txt")).includes(value), !isProtected);
    });
  }
}

for (const isWritable of [true, false]) {
  const when = isWritable ? "at once" : "by the next session when it cannot be recorded at once";
  Deno.test(`what a command saw is protected ${when}`, bubblewrap, async () => {
    await using stage = await openStage();
    await stage.play("rem", { script: [say("hi")] });
    await stage.write("old.txt", "stood here before\n");
    const records = `${stage.home.agentcliHome}/projects`;
    const [record = ""] = [...Deno.readDirSync(records)].map(({ name }) => `${records}/${name}`)
      .filter((path) => /\/[0-9a-f]{32}\.json$/.test(path));
    const saving = (async () => {
      await standing(`${stage.project}/ready.txt`);
      if (!isWritable) {
        await Deno.rename(record, `${stage.home.root}/kept`);
        await Deno.mkdir(record);
      }
      return await saveAnew(stage, `${stage.project}/.env`, stage.project);
    })();
    const command = `echo > ready.txt; ${UNTIL("go.txt")}; ${CODED} < .env > old.txt`;
    const played = await stage.play("rem", { args, script: [shell(command), say("Done.")] });
    const value = coded(await saving);
    assert.equal(played.done.code === 0, isWritable, played.done.stderr);
    assert.ok((await Deno.readTextFile(`${stage.project}/old.txt`)).includes(value), "control: it was seen");
    if (!isWritable) {
      const refused = await stage.play("rem", { args, script: [read("old.txt"), say("Done.")] });
      assert.ok(!refused.sent.includes(value), "while it cannot be recorded");
      assert.notEqual(refused.done.code, 0);
      await Deno.remove(record);
      await Deno.rename(`${stage.home.root}/kept`, record);
    }
    assert.ok(!(await sentLater(stage, "old.txt")).includes(value));
    const pasted = await stage.play("rem", { script: [say("ok")], prompt: `what is ${value}?` });
    assert.ok(!pasted.sent.includes(value), "nor from elsewhere: it can be the content in any form");
    const open = await stage.play("rem", {
      script: [say("ok")],
      prompt: `what is ${value.toUpperCase().slice(0, 5)}?`,
    });
    assert.equal(open.done.code, 0, "control: another prompt goes");
  });
}

for (const isNamed of [true, false]) {
  const what = isNamed ? "whose name holds protected content" : "with a plain name";
  Deno.test(`a file ${what} that a command made of what it saw is protected under any name`, bubblewrap, async () => {
    await using stage = await openStage();
    const saving = saveAnew(stage, `${stage.project}/.env`, stage.project);
    const name = isNamed ? '"n_$(cat .env)"' : "n_plain";
    const command = `echo > ready.txt; ${UNTIL("go.txt")}; ${CODED} < .env > ${name}`;
    const played = await stage.play("rem", { args, script: [shell(command), say("Done.")] });
    const value = await saving;
    const told = played.done.stderr;
    assert.match(told, isNamed ? /protected from now on.*file number/ : /now on.*n_plain/);
    const back = [...Deno.readDirSync(stage.project)].find(({ name }) => name.startsWith("n_"))?.name ?? "";
    assert.ok((await Deno.readTextFile(`${stage.project}/${back}`)).includes(coded(value)), "control: it was seen");
    // Under a name that tells nothing, so that the name alone is no reason.
    await Deno.rename(`${stage.project}/${back}`, `${stage.project}/plain.txt`);
    assert.ok(!(await sentLater(stage, "plain.txt")).includes(coded(value)));
  });
}

for (const isHolding of [true, false]) {
  Deno.test(
    `a notice ${isHolding ? "does not tell" : "tells"} the name of what is quarantined`,
    bubblewrap,
    async () => {
      await using stage = await openStage();
      const canary = stage.canary("env");
      const name = isHolding ? `d_${canary}` : "d_plain";
      stage.exempt(name);
      const script = [
        read(".env"),
        shell(`mkdir -p ${name}/.vscode; echo '{}' > ${name}/.vscode/tasks.json`),
        say("ok"),
      ];
      const played = await stage.play("loc", { args, script });
      assert.match(
        played.done.stderr,
        isHolding ? /made a file whose name holds protected/ : /made \S.*d_plain\/\.vscode/,
      );
      assert.ok(!played.done.stderr.includes(canary));
      if (!isHolding) assertSealed(played);
    },
  );
}
