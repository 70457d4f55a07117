/**
 * What protects a file for a while only (a marker that cannot be used, a link, a name that is not UTF-8) makes it no
 * place for protected content: later it is gone, and a remote session reads the file.
 */
import assert from "node:assert/strict";
import { ask, say, type Script, startFakeServer, want } from "../helpers/fake_server.ts";
import { configure, startProgram, temporaryHome } from "../helpers/program.ts";
import { serve } from "../helpers/served.ts";
import { openStage, type Stage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";
import { CODED, coded, standing } from "./slipped.ts";

const bubblewrap = { ignore: !hasBubblewrap() };
const linux = { ignore: Deno.build.os !== "linux" };
const args = ["--permission-mode", "bypassPermissions"];
const block = { models: [{ id: "fake", context_window: 32_768 }] };
const shell = (command: string) => ask(want("shell", { command }));
const read = (path: string) => ask(want("read", { path }));
const write = (path: string, content: string) => ask({ name: "Write", input: { file_path: path, content } });
const MARKER = "no-cloud: .env\nno-cloud: *.pem\n";
const CONFLICT = `<<<<<<< HEAD\n${MARKER}=======\n${MARKER}no-cloud: dist\n>>>>>>> other\n`;

async function openProject(): Promise<{ stage: Stage; secret: string; marker: string }> {
  const stage = await openStage({ bare: true, marker: MARKER });
  await stage.plant(".env", "env", (canary) => `TOKEN=${canary}\n`);
  for (const path of ["notes.txt", "sub/notes.txt"]) {
    await stage.write(path, "nothing yet\n");
    stage.exempt(path);
  }
  stage.exempt("n2.txt");
  return { stage, secret: `key ${stage.canary("env")}`, marker: `${stage.project}/.agentclisecret` };
}

/** Returns what a later remote session gets of a file by a command that encodes it. Asserts that the command ran. */
async function sentLater(stage: Stage, path: string): Promise<string> {
  const script = [shell(`cat '${path}' 2>&1 | ${CODED}; echo ran`), say("Done.")];
  const { results, done } = await stage.play("rem", { block, args, script });
  assert.match(results[0] ?? "", /ran/, `control: its command ran\n${done.stderr}`);
  return coded(results[0] ?? "");
}

interface Way {
  /** The file that the content goes to. */
  path?: string;
  steps(secret: string): ReturnType<typeof ask>[];
  prepare?(stage: Stage): Promise<unknown>;
  repair?(stage: Stage): Promise<unknown>;
  /** It holds the content: a later session is kept from it. Otherwise the write is refused. */
  isKept?: boolean;
}

const BAD = "mkdir x; echo bad > x/.agentclisecret; sleep 60";
const removed = (stage: Stage) => Deno.remove(`${stage.project}/x`, { recursive: true });
const WAYS: Readonly<Record<string, Way>> = {
  "a Write after a command made a damaged marker": {
    path: "new.txt",
    steps: (text) => [shell(BAD), write("new.txt", text)],
    repair: removed,
  },
  "a Write after a marker that is a link to nowhere": {
    path: "new.txt",
    steps: (text) => [shell("mkdir x; ln -s nowhere x/.agentclisecret; sleep 60"), write("new.txt", text)],
    repair: removed,
  },
  "a command that makes a damaged marker itself": {
    steps: (text) => [shell(`echo '${text}' > notes.txt; ${BAD}`)],
    repair: removed,
    isKept: true,
  },
  "a command beside a name that is not UTF-8, into a file with two names": {
    steps: (text) => [shell(`mkdir -p odd/$'\\xff'; echo '${text}' > notes.txt; ln notes.txt n2.txt`)],
    repair: (stage) => Deno.remove(`${stage.project}/odd`, { recursive: true }),
    isKept: true,
  },
  "a Write to what a protected link leads to": {
    path: "sub/notes.txt",
    steps: (
      text,
    ) => [shell("ln -s sub/notes.txt l.pem; sleep 60"), read("sub/notes.txt"), write("sub/notes.txt", text)],
    isKept: true,
  },
  "a command into a directory that a protected link leads to": {
    path: "sub/notes.txt",
    steps: (text) => [shell(`echo '${text}' > sub/notes.txt; ln -s sub l.pem; sleep 60`)],
    isKept: true,
  },
  "a Write while a merge has left a conflict in the marker": {
    prepare: async (stage) => {
      await stage.play("loc", { script: [say("Seen.")] });
      await stage.write(".agentclisecret", CONFLICT);
    },
    steps: (text) => [read("notes.txt"), write("notes.txt", text)],
    repair: (stage) => stage.write(".agentclisecret", MARKER),
  },
};

for (const [what, { path = "notes.txt", steps, prepare, repair, isKept = false }] of Object.entries(WAYS)) {
  Deno.test(`${what} leaves no protected content to a later remote session`, bubblewrap, async () => {
    for (const isSecret of [true, false]) {
      const { stage, secret } = await openProject();
      await using _ = stage;
      await prepare?.(stage);
      const text = isSecret ? secret : "an open line of no secret";
      const local = await stage.play("loc", { block, args, script: [read(".env"), ...steps(text), say("Done.")] });
      assert.ok(local.sent.includes(secret.slice(4)), `control: it was read\n${local.done.stderr}`);
      await repair?.(stage);
      const isThere = (await Deno.readTextFile(`${stage.project}/${path}`).catch(() => "")).includes(text);
      if (isSecret) {
        assert.equal(isThere, isKept, local.results.at(-1));
        assert.ok(!(await sentLater(stage, path)).includes(text.slice(4)));
      } else if (!isKept) {
        assert.match(local.results.at(-1) ?? "", /cannot be used/, "nobody knows what is protected");
      } else {
        assert.ok(isThere, `control: what is no secret is written\n${local.results.at(-1)}`);
      }
    }
  });
}

Deno.test(
  "a marker that is repaired covers what it names again, and no more, in the session that runs",
  linux,
  async () => {
    const { stage, secret, marker } = await openProject();
    await using _ = stage;
    await stage.write("doc.md", "an open line\n");
    const turn: Script = ({ index }) => {
      if (index === 0) Deno.writeTextFileSync(marker, "no-cloud: .env\nno-cloud dist\n");
      if (index === 2) Deno.writeTextFileSync(marker, `${MARKER}no-cloud: dist\n`);
      const steps = [read("sub/notes.txt"), write("new.txt", "a line"), read("doc.md"), read(".env")];
      const writes = [write("doc.md", `${secret}\n`), write("doc.md", "an open line again\n")];
      return [...steps, ...writes][index] ?? say("Done.");
    };
    const local = await stage.play("loc", { block, args, script: turn });
    const [, typo, , , copied, open] = local.results;
    assert.match(typo ?? "", /cannot be used: line 2/);
    assert.match(copied ?? "", /is not protected, and the text holds line 1 of \.env/);
    assert.match(open ?? "", /Updated doc\.md/, "control: the session continues");
  },
);

Deno.test(
  "what a command changed is looked through when the user's marker is damaged meanwhile",
  bubblewrap,
  async () => {
    for (const isDamaged of [true, false]) {
      const { stage, secret } = await openProject();
      await using _ = stage;
      const command = `echo '${secret}' > notes.txt; echo > made; ${isDamaged ? "sleep 60" : "true"}`;
      const local = stage.play("loc", { block, args, script: [read(".env"), shell(command), say("Done.")] });
      await standing(`${stage.project}/made`);
      if (isDamaged) await stage.write(".agentclisecret", CONFLICT);
      assert.match((await local).done.stderr, /protected from now on, since they hold protected content: notes\.txt/);
      await stage.write(".agentclisecret", MARKER);
      assert.ok(!(await sentLater(stage, "notes.txt")).includes(secret));
      if (!isDamaged) {
        assert.match(await sentLater(stage, "sub/notes.txt"), /nothing yet/, "control: another file is open");
      }
    }
  },
);

Deno.test("a marker that is damaged for a moment takes neither the undo nor the stored words", linux, async () => {
  for (const isDamaged of [true, false]) {
    const { stage } = await openProject();
    await using _ = stage;
    const edit = ask({ name: "Edit", input: { file_path: "doc.md", old_string: "old", new_string: "new" } });
    await stage.write("doc.md", "the pelican of the old harbor\n");
    await stage.play("loc", { block, args, script: [read("doc.md"), edit, say("Done.")] });
    if (isDamaged) await stage.write(".agentclisecret", CONFLICT);
    const chat = { block, argv: ["chat", "--model", "loc", "--continue"], prompt: null, script: [say("x")] };
    await stage.play("loc", { ...chat, stdin: "!true\n" });
    await stage.write(".agentclisecret", MARKER);
    const undone = await stage.play("loc", { ...chat, stdin: "/undo\n" });
    assert.match(await Deno.readTextFile(`${stage.project}/doc.md`), /old harbor/, undone.done.stderr);
    const exported = await stage.play("rem", { argv: ["sessions", "export", "latest"], prompt: null, script: [] });
    assert.match(exported.done.stdout, /pelican/);
  }
});

Deno.test(
  "a marker that is too large is forgotten when it is gone",
  bubblewrap,
  async () => {
    const { stage } = await openProject();
    await using _ = stage;
    const lines = "seq 1 10001 | sed 's/^/no-cloud: f/'";
    const script = [shell(`mkdir x; ${lines} > x/.agentclisecret; sleep 60`), say("x")];
    const command = await stage.play("rem", { block, args, script });
    assert.equal(command.done.code, 6, `control: it was seen\n${command.done.stderr}`);
    const later = async () => (await stage.play("rem", { block, script: [say("Hello.")] })).done;
    assert.match((await later()).stderr, /x\/\.agentclisecret.*larger than 64 KiB[^]*remove it/);
    await removed(stage);
    assert.equal((await later()).code, 0);
  },
);

Deno.test("a task changes no open file because a marker cannot be used for a moment", bubblewrap, async () => {
  for (const name of ["x/.agentclisecret", "x/file"]) {
    await using home = await temporaryHome();
    const secret = `CNRYtask ${crypto.randomUUID()} ${crypto.randomUUID()}`;
    await home.write(".agentclisecret", "no-cloud: notes.txt\n");
    await home.write("notes.txt", `${secret}\n`);
    await home.write("open.md", "an open line\n");
    const script: Script = ({ json, index }) => {
      if (json.response_format !== undefined) return say(JSON.stringify({ answer: "done" }));
      return [read("notes.txt"), write("open.md", `${secret}\n`)][index] ?? say("done");
    };
    await using server = startFakeServer({ script });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    await using served = serve(home);
    await served.call("private_status");
    const command = startProgram(["sandbox", "--", "sh", "-c", `mkdir x; echo bad > ${name}; sleep 4`], { home });
    await command.closeInput();
    await standing(`${home.project}/${name}`);
    const told = await served.call("do_private", { task: "Copy the first line", seconds: 20, paths: ["open.md"] });
    await command.finished;
    await Deno.remove(`${home.project}/x`, { recursive: true });
    assert.ok(["unavailable", "open_path"].includes(told.structured.refused), JSON.stringify(told.structured));
    assert.ok(!(await home.read("open.md")).includes(secret));
    const allowed = await served.call("do_private", { task: "Copy it", seconds: 20, paths: ["notes.txt"] });
    assert.equal(allowed.structured.refused, undefined, "control: a task for a protected file is done");
  }
});
