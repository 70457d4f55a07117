import { joined } from "../../src/platform/text.ts";
import assert from "node:assert/strict";
import { ask, say, type Script, startFakeServer, want } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import { configure } from "../helpers/program.ts";
import { LeakScan, openStage, type Stage, TreeScan } from "./harness.ts";
import { coded } from "./slipped.ts";

const linux = { ignore: Deno.build.os !== "linux" };

/** A chat at a terminal, line by line, with a local and a remote server that answer by the script. */
async function converse(
  stage: Stage,
  lines: readonly (string | (() => unknown))[],
  { model, script: given, args = [] }: { model: "loc" | "rem"; script?: Script; args?: readonly string[] },
) {
  const script: Script = given ?? (({ json }: { json: { messages: { role: string; content: string }[] } }) => {
    const last = json.messages.at(-1);
    return last?.role === "user" && last.content.startsWith("read ")
      ? ask(want("read", { path: last.content.slice("read ".length) }))
      : say("Fine.");
  });
  await using near = startFakeServer({ script });
  await using far = startFakeServer({ host: "127.0.0.2", script });
  const settings = { default_provider: model };
  await configure(stage.home, { loc: { baseUrl: near.baseUrl }, rem: { baseUrl: far.baseUrl } }, settings);
  const done = await runInProcess(["chat", ...args], { home: stage.home, lines, terminal: true });
  const sent = (received: Uint8Array[]) => new TextDecoder().decode(joined(received));
  return { shown: done.stdout + done.stderr, near: sent(near.received()), far: sent(far.received()) };
}

Deno.test("going back to before protected content leaves nothing of it for a remote model", linux, async () => {
  await using stage = await openStage();
  const canary = stage.canary("env");
  const typed = ["first", "read .env", "/rewind", "1", "/model rem", "hello"];
  const back = await converse(stage, typed, { model: "loc" });
  assert.ok(back.near.includes(canary), "control: the local model read it");
  assert.ok(!back.far.includes(canary) && !back.far.includes("read .env"));
  assert.match(back.far, /first[^]*hello/, "the rest of the session went along");
  const kept = await converse(stage, ["read .env", "/model rem", "1", "hello"], { model: "loc" });
  assert.ok(!kept.far.includes("hello"), "control: without going back the remote model gets nothing");
});

Deno.test("a resumed session is drawn with placeholders for what was not stored", linux, async () => {
  await using stage = await openStage();
  const canary = stage.canary("env");
  const first = await converse(stage, ["read .env"], { model: "loc" });
  assert.ok(first.near.includes(canary), "control");
  await using server = startFakeServer({ script: () => say("Fine.") });
  await configure(stage.home, { loc: { baseUrl: server.baseUrl } });
  const later = await runInProcess(["chat", "--continue"], { home: stage.home, stdin: "", terminal: true });
  assert.ok(!`${later.stdout}${later.stderr}`.includes(canary));
  assert.match(
    later.stderr,
    /session \w{8} · 1 turn[^]*> read \.env[^]*Read[^]*\[no-cloud\][^]*\[redacted: protected content/,
  );
});

Deno.test("a protected file that words name goes to a local model alone, and keeps its label", linux, async () => {
  await using stage = await openStage();
  const canary = stage.canary("env");
  await Deno.symlink(`${stage.project}/.env`, `${stage.project}/link.txt`);
  for (const name of ["@.env", "@./.env", '@".env"', "@link.txt", `@"${stage.project}/.env"`, "look (@.env)."]) {
    const far = await converse(stage, [name, "hello", `and ${name}`], { model: "rem" });
    assert.ok(!far.far.includes(canary), name);
    assert.match(far.shown, /cannot attach [^]*no-cloud: \.env/, name);
    assert.ok(!far.far.includes("and @"), "what was refused is not sent without its file");
    assert.ok(far.far.includes("hello"), "the chat continues");
  }
  const near = await converse(stage, ["look at @.env", "/model rem", "1", "hello"], { model: "loc" });
  assert.ok(near.near.includes(canary), "control: a local model gets it");
  assert.ok(!near.far.includes("hello"), "the session is not for a remote model from there on");
  const stored = await runInProcess(["sessions", "show", "latest"], { home: stage.home });
  assert.ok(!stored.stdout.includes(canary));
});

Deno.test("a command that is typed sees and tells a remote model no more than one of the model's", linux, async () => {
  await using stage = await openStage();
  const canary = stage.canary("env");
  const encoded = btoa(`API_TOKEN=${canary}\n`);
  for (const command of ["cat .env", "base64 -w0 .env", "cat secrets/*", `echo ${canary}`, `echo ${encoded}`]) {
    const far = await converse(stage, [`!${command}`, "hello"], { model: "rem" });
    assert.ok(!far.far.includes(canary) && !far.far.includes(encoded), command);
    assert.ok(far.far.includes("hello"), "control: the chat continues");
  }
  const open = await converse(stage, ["!cat pub.txt", "hello"], { model: "rem" });
  assert.ok(open.far.includes("PUB_marker"), "control: what is open goes along");
  const typed = await converse(stage, [`!echo ${canary}`, "/model rem", "1", "hello"], { model: "loc" });
  assert.ok(typed.near.includes(canary) || !typed.far.includes("hello"), "a local session holds it from there on");
  assert.ok(!typed.far.includes(canary));
});

Deno.test("an export leaves out what is protected, also what became so after it was read", linux, async () => {
  await using stage = await openStage();
  const canary = stage.canary("env");
  await stage.write("later.txt", "LATER_marker\n");
  await converse(stage, ["read pub.txt", "read later.txt", "read .env"], { model: "loc" });
  const before = await runInProcess(["sessions", "export", "latest"], { home: stage.home });
  assert.ok(before.stdout.includes("LATER_marker") && before.stdout.includes("PUB_marker"), "control: open then");
  await stage.write(".agentclisecret", "no-cloud: .env\nno-cloud: secrets\nno-cloud: later.txt\n");
  for (const format of ["markdown", "json", "html"]) {
    const typed = ["!true", `/export ${format} out.${format}`];
    const chat = await converse(stage, ["/resume", "1", ...typed], { model: "loc" });
    const written = await Deno.readTextFile(`${stage.project}/out.${format}`);
    assert.ok(!written.includes(canary) && !written.includes("LATER_marker"), `${format}\n${chat.shown}`);
    assert.ok(written.includes("PUB_marker"), "control: what was read before is there");
  }
});

Deno.test(
  "/diff on a pipe shows no file that a protected session changed, whatever it was at first",
  linux,
  async () => {
    await using stage = await openStage();
    const secret = coded(stage.canary("env"));
    const write = (content: string) => ({ name: "Write", input: { file_path: "made.txt", content } });
    const calls: Record<string, Parameters<typeof ask>> = {
      "write it": [write("first\n")],
      "read it": [want("read", { path: ".env" })],
      "write both": [write("second\n"), want("read", { path: ".env" })],
      "write the secret": [write(`${secret}\n`)],
    };
    const script: Script = ({ json }) => {
      const last = (json.messages as { role: string; content: string }[]).at(-1);
      const made = last?.role === "user" ? calls[last.content] : undefined;
      return made === undefined ? say("Fine.") : ask(...made);
    };
    for (const [lines, isOpen] of [[["read it"], false], [["write both"], false], [[], true]] as const) {
      await using near = startFakeServer({ script });
      await configure(stage.home, { loc: { baseUrl: near.baseUrl } }, { default_provider: "loc" });
      const stdin = ["write it", ...lines, "write the secret", "/diff"].map((line) => `${line}\n`).join("");
      const argv = ["chat", "--permission-mode", "bypassPermissions"];
      const done = await runInProcess(argv, { home: stage.home, stdin });
      assert.equal(await Deno.readTextFile(`${stage.project}/made.txt`), `${secret}\n`, "control: it was written");
      assert.equal((done.stdout + done.stderr).includes(secret), isOpen, done.stderr);
      await Deno.remove(`${stage.project}/made.txt`);
    }
  },
);

Deno.test("a summary that holds what a person said to keep is as protected as that", linux, async () => {
  await using stage = await openStage();
  const canary = stage.canary("env");
  const script: Script = ({ json }) => {
    const last = JSON.stringify(json.messages.at(-1));
    const kept = [canary, "the pump"].find((words) => last.includes(words));
    return say(kept === undefined ? "word ".repeat(3_000) : `It is about ${kept}.`);
  };
  for (const keep of ["the pump", canary]) {
    const typed = ["one", "two", "three", "four", `/compact ${keep}`, "five"];
    const chat = await converse(stage, typed, { model: "loc", script });
    assert.match(chat.shown, /summarized the older part/);
    assert.ok(chat.near.includes(`It is about ${keep}.`), "control: the summary holds it");
    const stored = await runInProcess(["sessions", "show", "latest"], { home: stage.home });
    assert.equal(stored.stdout.includes(`It is about ${keep}.`), keep !== canary);
  }
});

Deno.test("files that go back protect nothing that is said afterwards", linux, async () => {
  await using stage = await openStage();
  const script: Script = ({ json }) => {
    const last = (json.messages as { role: string; content: string }[]).at(-1);
    const changes = [
      { name: "Read", input: { file_path: ".env" } },
      { name: "Write", input: { file_path: ".env", content: "API_TOKEN=another-value-1234\n" } },
    ];
    return last?.role === "user" && last.content === "edit" ? ask(...changes) : say("Fine.");
  };
  const to = ["/model rem", "1", "again"];
  const options = { model: "loc", script, args: ["--permission-mode", "acceptEdits"] } as const;
  const back = await converse(stage, ["first", "edit", "/rewind", "1", "1", "hello", ...to], options);
  assert.match(back.shown, /went back 1 turn/);
  assert.match(back.far, /first[^]*hello[^]*again/);
  const stays = await converse(stage, ["first", "edit", "hello", ...to], options);
  assert.ok(!stays.far.includes("again"), "control: without going back the session is not for a remote model");
});

Deno.test("a prompt that the user released is in no store, whatever is said after it", linux, async (test) => {
  const ways: Record<string, string[]> = {
    "nothing": [],
    "/export": ["/export"],
    "/export to a file": ["/export out.html"],
    "/compact": ["more", "/compact", "more"],
    "/rename": ["/rename a name"],
    "/fork from before what a local model read": ["/model loc", "read secrets/k.txt", "/model rem", "2", "more"],
    "another model": ["/model loc", "plain", "/model rem", "x"],
  };
  for (const [way, typed] of Object.entries(ways)) {
    await test.step(way, async () => {
      await using stage = await openStage();
      const canary = stage.canary("env");
      const args = ["--allow-protected-prompt"];
      const said = await converse(stage, [`my token is ${canary}`, ...typed], { model: "rem", args });
      assert.ok(said.far.includes(canary), "control: it was sent");
      await stage.write(".env", "API_TOKEN=rotated-value-5512\n");
      const found = new TreeScan(new LeakScan(stage.canaries), {
        roots: [stage.home.agentcliHome, stage.project],
        skip: (path) => path.endsWith("k.txt"),
      });
      await found.look();
      assert.deepEqual([...found.found], []);
    });
  }
});

Deno.test("a session with a prompt that the user released is summarized without it, and continues", linux, async () => {
  for (const when of ["by hand", "by itself"]) {
    for (const isReleased of [true, false]) {
      await using stage = await openStage();
      const canary = stage.canary("env");
      const said: string[] = [];
      await using far = startFakeServer({
        host: "127.0.0.2",
        script: ({ json }: { json: { messages: { role: string; content: string }[] } }) => {
          const words = json.messages.at(-1)?.content ?? "";
          said.push(words);
          return say(words.startsWith("The record:") ? "They talked of much." : `Fine. ${"word ".repeat(700)}`);
        },
      });
      const models = [{ id: "fake", context_window: 8192 }];
      await configure(stage.home, { rem: { baseUrl: far.baseUrl, models } }, { default_provider: "rem" });
      const typed = ["hello there", isReleased ? `what is ${canary}?` : "what is this?", "one", "two", "three", "four"];
      typed.push(...when === "by hand" ? ["/compact"] : ["five", "six", "seven", "eight"], "are you there?");
      const stdin = typed.map((line) => `${line}\n`).join("");
      const args = isReleased ? ["--allow-protected-prompt"] : [];
      const { stderr } = await runInProcess(["chat", ...args], { home: stage.home, stdin, terminal: true });
      const records = said.filter((words) => words.startsWith("The record:"));
      assert.ok(records.length > 0 && records.every((record) => !record.includes(canary)), stderr);
      assert.equal(
        said.some((words) => words.includes(canary)),
        isReleased,
        "control: it was sent where it was released",
      );
      assert.match(said.at(-1) ?? "", /are you there\?$/, `${when}: ${stderr}`);
      const found = new TreeScan(new LeakScan(stage.canaries), { roots: [stage.home.agentcliHome], skip: () => false });
      await found.look();
      assert.deepEqual([...found.found], []);
    }
  }
});

Deno.test("a prompt that the user released for one provider goes to no other", linux, async () => {
  for (const args of [["--allow-protected-prompt"], []]) {
    await using stage = await openStage();
    const canary = stage.canary("env");
    await using one = startFakeServer({ host: "127.0.0.2", script: () => say("Fine.") });
    await using other = startFakeServer({ host: "127.0.0.2", script: () => say("Fine.") });
    await configure(stage.home, { one: { baseUrl: one.baseUrl }, other: { baseUrl: other.baseUrl } }, {
      default_provider: "one",
    });
    const stdin = `my token is ${canary}\nmore\n/model other\nnext\n`;
    const done = await runInProcess(["chat", ...args], { home: stage.home, stdin, terminal: true });
    const heard = (server: typeof one) => new TextDecoder().decode(joined(server.received()));
    assert.equal(heard(one).includes(canary), args.length > 0, "control: only where it was released");
    assert.ok(!heard(other).includes(canary), done.stderr);
  }
});

Deno.test("a session that cannot be resumed leaves the one that is open as it was", linux, async () => {
  for (const prompt of ["hello", "my token is "]) {
    await using stage = await openStage();
    const typed = [`${prompt}${prompt === "hello" ? "" : stage.canary("env")}`, "/resume 00000000", "next", "again"];
    const { far, shown } = await converse(stage, typed, { model: "rem", args: ["--allow-protected-prompt"] });
    assert.equal(far.split("POST ").length - 1, 3, shown);
  }
});

/** What a person says or does right after protecting `.env`, by the canary in it, and where it would be stored. */
const STORED: Record<string, { place: string; before?: string[]; typed: (canary: string) => string[] }> = {
  "the first prompt": { place: "projects", typed: (canary) => [`is ${canary} right?`] },
  "the first prompt after going back": {
    ...{ place: "projects", before: ["hello", "/rewind", "1"], typed: (canary) => [`is ${canary} right?`] },
  },
  "a name": { place: "projects", before: ["hello"], typed: (canary) => [`/rename ${canary}`] },
  "a reason to refuse a call": { place: "projects", before: ["call"], typed: (canary) => [`no, use ${canary}`] },
  "a rule": { place: "permissions.json", before: ["call canary"], typed: () => ["a", "y"] },
  "what an undo leaves": { place: "undo", before: ["write", "y", "write again", "y"], typed: () => ["/undo"] },
};

for (const [what, { place, before = [], typed }] of Object.entries(STORED)) {
  Deno.test(`${what} is stored by the rules of now, not of the last request`, linux, async () => {
    for (const isProtected of [true, false]) {
      await using stage = await openStage({ bare: true, marker: "no-cloud: other\n" });
      await stage.plant(".env", "env", (canary) => `TOKEN=${canary}\n`);
      const canary = stage.canary("env");
      const write = (text: string) => ({ name: "Write", input: { file_path: ".env", content: `TOKEN=${text}\n` } });
      const calls: Record<string, Parameters<typeof ask>> = {
        "call": [want("shell", { command: "echo one" })],
        "call canary": [want("shell", { command: `echo ${canary}` })],
        "write": [want("read", { path: ".env" }), write("another")],
        "write again": [write("a third")],
      };
      const script: Script = ({ json }) => {
        const last = (json.messages as { role: string; content: string }[]).at(-1);
        const call = last?.role === "user" ? calls[last.content] : undefined;
        return call === undefined ? say("Fine.") : ask(...call);
      };
      const protect = async () => {
        await stage.write(".env", `TOKEN=${canary}\n`);
        if (isProtected) await stage.write(".agentclisecret", "no-cloud: other\nno-cloud: .env\n");
      };
      const chat = await converse(stage, [...before, protect, ...typed(canary)], { model: "loc", script });
      const { agentcliHome } = stage.home;
      const skip = (path: string) => !path.startsWith(`${agentcliHome}/${place}`);
      const found = new TreeScan(new LeakScan(stage.canaries), { roots: [agentcliHome], skip });
      await found.look();
      assert.equal(found.found.size > 0, !isProtected, `${[...found.found].join()}\n${chat.shown}`);
    }
  });
}

const OLD_VALUE = "oldvalue-ZQ81kdLLs92mPwq";

Deno.test(
  "instructions that are protected later go to no remote model, also where their prompt was undone",
  linux,
  async (test) => {
    const ways = {
      "nothing": ["hello"],
      "/undo": ["/undo", "hello"],
      "/rewind": ["one", "two", "/rewind", "2", "three"],
    };
    for (const [way, typed] of Object.entries(ways)) {
      for (const line of ["no-cloud: AGENTS.md\n", "# nothing\n"]) {
        await test.step(`${way}, ${line.trim()}`, async () => {
          await using stage = await openStage({ bare: true, marker: null });
          await stage.write("AGENTS.md", `key: ${OLD_VALUE}\n`);
          const local = await converse(stage, typed, { model: "loc" });
          assert.ok(local.near.includes(OLD_VALUE), "control: they were in the system message");
          await stage.write(".agentclisecret", line);
          await stage.write("AGENTS.md", "key: brandnew-77aaBBccdd\n");
          const isOpen = line.startsWith("#");
          const exported = await runInProcess(["sessions", "export", "latest", "--format", "json"], {
            home: stage.home,
          });
          assert.equal(exported.stdout.includes(OLD_VALUE), isOpen, "control: without the line it is in the document");
          const far = await converse(stage, ["again"], { model: "rem", args: ["--continue"] });
          assert.equal(far.far.includes(OLD_VALUE), isOpen, far.shown);
        });
      }
    }
  },
);

Deno.test("a document leaves out what a call wrote into a file that is protected later", linux, async () => {
  const script: Script = ({ json }: { json: { messages: { role: string; content: string }[] } }) =>
    json.messages.at(-1)?.role === "user"
      ? ask(want("write", { path: "later.txt", content: `key: ${OLD_VALUE}` }))
      : say("Fine.");
  await using stage = await openStage({ bare: true, marker: null });
  await converse(stage, ["go"], { model: "loc", script, args: ["--permission-mode", "acceptEdits"] });
  for (const line of ["# nothing\n", "no-cloud: later.txt\n"]) {
    await stage.write(".agentclisecret", line);
    for (const format of ["json", "markdown", "html"]) {
      const argv = ["sessions", "export", "latest", "--format", format];
      const done = await runInProcess(argv, { home: stage.home });
      assert.equal(done.stdout.includes(OLD_VALUE), line.startsWith("#"), `${format} ${line}`);
    }
  }
});
