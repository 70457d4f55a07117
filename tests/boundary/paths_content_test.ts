import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { assertArrived, assertRefusedRun, assertSealed, openStage, type Played } from "./harness.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const HELLO = [say("Hello.")];
const chats = (played: Played) => played.requests.filter((request) => request.index >= 0).length;

Deno.test(
  "what the user types, pipes or attaches of a protected file stops before a remote provider",
  linux,
  async (test) => {
    await using stage = await openStage();
    const secret = stage.canary("env");
    const copy = await stage.write("copy.txt", `the value is ${secret}\n`);
    stage.exempt(copy);
    const plays = {
      argument: { prompt: `explain ${secret}` },
      "standard input": { prompt: null, stdin: `API_TOKEN=${secret}\n` },
      reversed: { prompt: [...secret].reverse().join("") },
      base64: { prompt: btoa(`x${secret}`) },
      attached: { args: ["--file", "copy.txt"] },
    };
    for (const [name, play] of Object.entries(plays)) {
      await test.step(name, async () => {
        const remote = await stage.play("rem", { ...play, script: HELLO });
        assertRefusedRun(remote, /line 1 of \.env \(\.agentclisecret:1 no-cloud: \.env\)/);
        assertSealed(remote, name);
        assert.equal(chats(remote), 0);
        const local = await stage.play("loc", { ...play, script: HELLO });
        assert.equal(local.done.code, 0, local.done.stderr);
        assertSealed(local, `${name}: never stored`);
        assert.ok(chats(local) > 0);
      });
    }
  },
);

Deno.test("--allow-protected-prompt lets that one prompt through and stores nothing of it", linux, async () => {
  await using stage = await openStage();
  const play = { prompt: `explain ${stage.canary("env")}`, script: HELLO, args: ["--allow-protected-prompt"] };
  const played = await stage.play("rem", play);
  assert.equal(played.done.code, 0, played.done.stderr);
  assertArrived(played, stage.canary("env"));
  assert.deepEqual(played.leaks.disk, []);
  assert.match(played.done.stderr, /not stored/);
  const other = await stage.play("rem", {
    ...play,
    script: [ask(want("read", { path: "secrets/k.txt" })), say("Done.")],
  });
  assert.ok(!other.sent.includes(stage.canary("key")));
});

Deno.test(
  "content that reached an open file before is stopped on its way out, and stored nowhere else",
  linux,
  async () => {
    await using stage = await openStage();
    const secret = stage.canary("key");
    for (
      const [name, text] of Object.entries({ plain: secret, code: btoa(secret), back: [...secret].reverse().join("") })
    ) {
      stage.exempt(await stage.write(`${name}.txt`, `note: ${text}\n`));
      const script = [ask(want("read", { path: `${name}.txt` })), say("Done.")];
      const played = await stage.play("rem", { script });
      assert.deepEqual(played.leaks.wire, [], name);
      assert.equal(played.done.code, 6, played.done.stderr);
      assert.match(
        played.done.stderr,
        /the result of Read holds .*secrets\/k\.txt \(\.agentclisecret:2 no-cloud: secrets\)/,
      );
      assert.equal(chats(played), 1);
      assert.deepEqual(played.leaks.disk, [], name);
      const goesOn = await stage.play("rem", { script: HELLO, args: ["--continue"] });
      assert.equal(goesOn.done.code, 0, `control: the session is usable: ${goesOn.done.stderr}`);
      const local = await stage.play("loc", { script });
      assertArrived(local, text);
      assertSealed(local, `${name}: never stored`);
    }
  },
);

Deno.test("a local session does not carry protected content into open files", linux, async () => {
  await using stage = await openStage();
  const secret = stage.canary("env");
  await stage.write("notes.txt", "old\n");
  const script = [
    ask(want("read", { path: ".env" }), want("read", { path: "notes.txt" })),
    ask(
      want("write", { path: "new.txt", content: `token ${secret}\n` }),
      want("edit", { path: "notes.txt", old: "old", new: `token ${btoa(secret)}` }),
      want("write", { path: "fine.txt", content: "nothing of that\n" }),
      want("write", { path: "secrets/more.txt", content: `token ${secret}\n` }),
    ),
    say("Done."),
  ];
  // The directory, which is protected as a whole: until its rename the new file lies there under another name.
  stage.exempt("secrets");
  const played = await stage.play("loc", { script, args: ["--permission-mode", "bypassPermissions"] });
  assert.equal(played.done.code, 0, played.done.stderr);
  assertSealed(played);
  assert.match(played.results[2] ?? "", /new\.txt is not protected, and the text holds line 1 of \.env/);
  assert.match(played.results[3] ?? "", /notes\.txt is not protected/);
  assert.match(played.results[4] ?? "", /^Created fine\.txt/);
  assert.match(played.results[5] ?? "", /^Created secrets\/more\.txt/);
});

Deno.test("undo keeps no copy of protected content that stands where the model did not look", linux, async () => {
  await using stage = await openStage();
  const copy = `value ${stage.canary("env")}`;
  for (const provider of ["loc", "rem"] as const) {
    for (const [name, last] of Object.entries({ "copied.txt": copy, "plain.txt": "value of nothing" })) {
      const lines = Array.from({ length: 40 }, (_, at) => `line ${at} of the notes`);
      stage.exempt(await stage.write(name, [...lines, last, ""].join("\n")));
      const script = [
        ask({ name: "Read", input: { file_path: name, offset: 1, limit: 3 } }),
        ask(want("edit", { path: name, old: "line 0 of the notes", new: "begun" })),
        say("Done."),
      ];
      const played = await stage.play(provider, { script, args: ["--permission-mode", "acceptEdits"] });
      assert.match(played.results[1] ?? "", /^Edited /);
      assertSealed(played, name);
      const kept = keptForUndo(`${stage.home.agentcliHome}/undo`).some((text) => text.includes("line 39 of the notes"));
      assert.equal(kept, name === "plain.txt", `${name} (${provider})`);
      await Deno.remove(`${stage.home.agentcliHome}/undo`, { recursive: true });
    }
  }
});

function keptForUndo(directory: string): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory }) =>
    isDirectory ? keptForUndo(`${directory}/${name}`) : [Deno.readTextFileSync(`${directory}/${name}`)]
  );
}
