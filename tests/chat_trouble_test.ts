import assert from "node:assert/strict";
import { ask, say, startFakeServer, want } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, programCommand, startCommand, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

const MAY_MOUNT = Deno.build.os === "linux" && Deno.uid() === 0;

async function mounts(command: string, args: readonly string[]): Promise<boolean> {
  const { success } = await new Deno.Command(command, { args: [...args], stdout: "null", stderr: "null" }).output();
  return success;
}

Deno.test("undo in a later chat takes back what the resumed session wrote, and only that", async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "one\ntwo\n");
  await using server = startFakeServer({
    script: [
      ask(want("read", { path: "a.txt" })),
      ask(want("edit", { path: "a.txt", old: "two", new: "three" })),
      say("Changed."),
      ask(want("write", { path: "b.txt", content: "b\n" })),
      say("Written."),
    ],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const id = "11111111-2222-4333-8444-555555555555";
  const allowed = ["--permission-mode", "acceptEdits"];
  const first = await runInProcess(["chat", "--session-id", id, ...allowed], { home, stdin: "change it\n" });
  assert.equal(first.code, 0, first.stderr);
  assert.equal(await home.read("a.txt"), "one\nthree\n");
  const second = await runInProcess(["chat", "--resume", id, ...allowed], { home, stdin: "write b\n/undo\n" });
  assert.equal(second.code, 0, second.stderr);
  assert.match(second.stderr, /undid turn 2 of 2:\n {2}removed b\.txt/);
  assert.equal(await home.read("a.txt"), "one\nthree\n");
  const third = await runInProcess(["chat", "--resume", id], { home, stdin: "/diff\n/undo\n/undo\n" });
  assert.equal(third.code, 0, third.stderr);
  assert.match(third.stderr, /-two\n[^]*undid turn 1 of 2:\n {2}restored a\.txt[^]*no turn of this session has/);
  assert.equal(await home.read("a.txt"), "one\ntwo\n");
  await assert.rejects(home.read("b.txt"));
});

Deno.test("undo in a later chat keeps a file that was changed by hand since", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: [ask(want("write", { path: "new.txt", content: "x\n" })), say("Written.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const first = await runInProcess(["chat", "--permission-mode", "acceptEdits"], { home, stdin: "write it\n" });
  assert.equal(first.code, 0, first.stderr);
  await home.write("new.txt", "by hand\n");
  const later = await runInProcess(["chat", "--continue"], { home, stdin: "/undo\n" });
  assert.match(later.stderr, /kept .*new\.txt/);
  assert.equal(await home.read("new.txt"), "by hand\n");
});

Deno.test({
  name: "on a full disk the chat continues, says once that it is not stored, and undo still works",
  ignore: !MAY_MOUNT,
  fn: async () => {
    await using home = await temporaryHome();
    await Deno.mkdir(home.agentcliHome, { recursive: true });
    if (!await mounts("mount", ["-t", "tmpfs", "-o", "size=256k,mode=0700", "tmpfs", home.agentcliHome])) return;
    try {
      const before = "start\n" + "before\n".repeat(60_000);
      await home.write("a.txt", before);
      await using server = startFakeServer({
        script: [
          say("y".repeat(400_000)),
          ask(want("read", { path: "a.txt" })),
          ask(want("edit", { path: "a.txt", old: "start", new: "end" })),
          say("Written."),
          say("Still here."),
        ],
      });
      await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 1_000_000 }] } });
      const done = await runInProcess(["chat", "--permission-mode", "acceptEdits"], {
        home,
        stdin: "fill it\nwrite it\n/undo\nagain\n",
      });
      assert.equal(done.code, 0, done.stderr);
      assert.match(done.stdout, /Written\.\nStill here\.\n$/);
      assert.equal(done.stderr.match(/no longer stored: the disk is full/g)?.length, 1, done.stderr);
      assert.match(done.stderr, /restored .*a\.txt/);
      assert.equal(await home.read("a.txt"), before);
    } finally {
      await mounts("umount", [home.agentcliHome]);
    }
  },
});

Deno.test({
  name: "a terminal that goes away ends the chat in the middle of a turn, and the session can be resumed",
  ignore: !HAS_TMUX || Deno.build.os !== "linux",
  fn: async () => {
    await using home = await temporaryHome();
    await using server = startFakeServer({
      script: (request) => {
        const { content } = request.json.messages.at(-1);
        return content === "second" ? { kind: "silence" } : say(`Answer to ${content}.`);
      },
    });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    {
      await using terminal = await openTerminal(["chat", "first"], { home });
      await terminal.shows(/Answer to first\./);
      await terminal.type("second");
      await terminal.press("Enter");
      await server.arrived(1);
      await terminal.hangUp();
    }
    const later = await runInProcess(["chat", "--continue"], { home, stdin: "third\n" });
    assert.equal(later.stdout, "Answer to third.\n", later.stderr);
    assert.match(JSON.stringify(server.chats().at(-1)?.json.messages), /first.*Answer to first\..*third/);
  },
});

Deno.test({
  name: "standard input that is closed ends the chat at once",
  ignore: Deno.build.os === "windows",
  fn: async () => {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: () => say("Never asked.") });
    await configure(home, { loc: { baseUrl: server.baseUrl } });
    const command = programCommand().map((word) => `'${word}'`).join(" ");
    await using program = startCommand(["sh", "-c", `exec ${command} chat <&-`], { home });
    const done = await program.finished;
    assert.equal(done.timedOut, false);
    assert.equal(done.code, 0, done.stderr);
    assert.doesNotMatch(done.stderr, /internal error/);
    assert.equal(server.chats().length, 0);
  },
});
