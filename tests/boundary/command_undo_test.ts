/**
 * What commands change is kept for undo: never what is protected, however it became so; and what is restored
 * lands nowhere but where it was. Each attack has a control that shows that the content would be found, or the file
 * written.
 */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { inWatchedProject, type WatchedProject } from "../helpers/watched_project.ts";
import { openStage } from "./harness.ts";

const unix = { ignore: Deno.build.os === "windows" };
const CANARY = "CANARY-6f1d2c7a9b40";
const MARKER = { ".agentclisecret": "no-cloud: .env\nno-cloud: vault\nlist-only: sealed\n" };

/** Whether the home's undo holds the canary, in a file's content or its name; also its digest. */
async function isStored({ stored }: WatchedProject, secret = CANARY): Promise<boolean> {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(`${secret}\n`)));
  return stored().includes(secret) || stored().includes(digest.toHex());
}

/**
 * What brings a file with the canary into the project, changes it by a command, and what protects it when. The control
 * is the same where nothing is protected.
 */
const WAYS: Record<string, (project: WatchedProject, options: { isControl: boolean }) => Promise<void>> = {
  async "a file that a rule names, changed by a command"(project) {
    await project.sh(`echo ${CANARY} > .env; mkdir vault sealed; echo ${CANARY} > vault/v; echo ${CANARY} > sealed/s`);
    const session = await project.open();
    await session.command("echo x >> .env; echo x >> vault/v; rm sealed/s; echo x > a.txt");
  },
  async "a file of a name that is protected from the moment of a new line on"(project, { isControl }) {
    await project.sh(`echo ${CANARY} > later.txt`);
    const session = await project.open();
    await session.command("echo x > a.txt");
    if (!isControl) await project.sh("echo 'no-cloud: later.txt' >> .agentclisecret");
    await session.command("echo y >> later.txt");
  },
  async "a file that was kept already when a line protects it"(project, { isControl }) {
    await project.sh(`echo ${CANARY} > later.txt`);
    const session = await project.open();
    await session.command("echo y >> later.txt");
    assert.equal(await isStored(project), true, "the control: kept as long as it is open");
    if (!isControl) await project.sh("echo 'no-cloud: later.txt' >> .agentclisecret");
    await session.command("true");
    if (!isControl) assert.match((await session.undo())["later.txt"] ?? "", /protected by now/);
  },
  async "a file that was kept for what was undone, and redone, when a line protects it"(project, { isControl }) {
    await project.sh(`echo ${CANARY} > later.txt`);
    const session = await project.open();
    await session.command("echo y >> later.txt");
    await session.undo();
    assert.equal(await isStored(project), false, "it was the last that named the content");
    if (!isControl) await project.sh("echo 'no-cloud: later.txt' >> .agentclisecret");
    await session.command("true", 2);
    await session.redo();
    assert.equal(await isStored(project), true, "the control: with the label of the time of the undo");
    await session.command("true", 3);
  },
  async "the same content of two files, of which a line protects one"(project, { isControl }) {
    await project.sh(`echo ${CANARY} > later.txt; cp later.txt same.txt`);
    await (await project.open()).command("echo y >> later.txt; echo z >> same.txt");
    if (!isControl) await project.sh(`echo ${CANARY} > later.txt; echo 'no-cloud: later.txt' >> .agentclisecret`);
    await (await project.open()).store();
  },
  async "a file that was kept by an earlier process when a line protects it"(project, { isControl }) {
    await project.sh(`echo ${CANARY} > later.txt`);
    await (await project.open()).command("echo y >> later.txt");
    assert.equal(await isStored(project), true, "the control");
    if (!isControl) await project.sh("echo 'no-cloud: later.txt' >> .agentclisecret");
    await (await project.open()).store();
  },
  async "a file whose content is protected under another name by now"(project) {
    await project.sh(`echo ${CANARY} > plain.txt`);
    const session = await project.open();
    await session.command("echo y >> plain.txt");
    await project.sh(`mv plain.txt .env`);
    await session.command("true");
  },
  async "a copy that a command makes of a protected file, and changes then"(project) {
    await project.sh(`echo ${CANARY} > .env`);
    const session = await project.open();
    await session.command("cp .env copy.txt");
    await session.command("echo x >> copy.txt; mv copy.txt moved.txt", 2);
    await session.command("rm moved.txt", 3);
  },
  async "a protected file under another name, by a rename and back"(project) {
    await project.sh(`echo ${CANARY} > .env`);
    const session = await project.open();
    await session.command("mv .env plain.txt");
    await session.command("echo x >> plain.txt", 2);
    await session.command("mv plain.txt .env", 3);
  },
  async "another hard link to a protected file"(project) {
    await project.sh(`echo ${CANARY} > .env; ln .env other.txt`);
    const session = await project.open();
    await session.command("echo x >> other.txt");
    await session.command("ln .env third.txt; rm .env", 2);
    await session.command("echo x >> third.txt; rm third.txt", 3);
  },
  async "a link that takes the place of a file, and leads to a protected one"(project) {
    await project.sh(`echo ${CANARY} > .env; echo b > b.txt`);
    const session = await project.open();
    await session.command("rm a.txt; ln -s .env a.txt; ln -s vault v; echo x > b.txt");
    await session.command("rm a.txt; cp .env a.txt", 2);
    await session.command("echo x > a.txt", 3);
    await session.undo(3);
  },
  async "a directory that takes the place of another, with a protected one below"(project) {
    await project.sh(`mkdir dir; echo x > dir/x; mkdir vault; echo ${CANARY} > vault/x`);
    const session = await project.open();
    await session.command("mv dir old; mv vault dir");
    await session.command("echo y >> dir/x", 2);
  },
  async "a name that holds protected content"(project) {
    await project.sh(`echo ${CANARY} > .env`);
    const session = await project.open();
    await session.command(`echo x > n-${CANARY}.txt; ln -s ${CANARY} link`);
  },
  async "a command of a session that holds protected content, in a form that no scan finds"(project, { isControl }) {
    await project.sh(`echo ${CANARY} > .env`);
    const session = await project.open();
    if (!isControl) session.session.items.push({ kind: "user", text: "secret", label: "no-cloud" });
    // Stands for what no scan finds: nothing protects this content.
    await session.command(`echo ${CANARY} > form.txt; echo hidden > .env`);
    await session.command("echo x > form.txt", 2);
    if (!isControl) assert.equal((await session.undo(2))["form.txt"], "restored", "the process itself still has it");
  },
};

for (const [way, work] of Object.entries(WAYS)) {
  Deno.test(`undo stores nothing of ${way}`, unix, async () => {
    await inWatchedProject({ ...MARKER, "a.txt": "a\n" }, async (project) => {
      await work(project, { isControl: false });
      assert.equal(await isStored(project), false, project.stored());
    });
    await inWatchedProject({ "a.txt": "a\n" }, async (project) => {
      await work(project, { isControl: true });
      assert.equal(await isStored(project), true, "the control");
    });
  });
}

Deno.test("a notice names what cannot be undone because a command made it protected", unix, async () => {
  await inWatchedProject({ ...MARKER, "a.txt": "a\n" }, async (project) => {
    await project.sh(`echo ${CANARY} > .env`);
    const session = await project.open();
    await session.command("cp .env vault; echo x > a.txt");
    const told = await session.undo();
    assert.deepEqual(told, { "a.txt": "restored", "vault": "it is protected" });
    assert.equal(await Deno.readTextFile(`${project.root}/vault`), `${CANARY}\n`);
  });
});

Deno.test("what is kept is for its owner alone", unix, async () => {
  await inWatchedProject({ "a.txt": "a\n" }, async (project) => {
    await (await project.open()).command("echo x > a.txt");
    const seen: string[] = [];
    const look = (directory: string) => {
      seen.push(`${directory} ${((Deno.statSync(directory).mode ?? 0) & 0o777).toString(8)}`);
      for (const { name, isDirectory } of isDirectoryAt(directory) ? Deno.readDirSync(directory) : []) {
        if (isDirectory) look(`${directory}/${name}`);
        else seen.push(`${name} ${((Deno.statSync(`${directory}/${name}`).mode ?? 0) & 0o777).toString(8)}`);
      }
    };
    look(project.home.file("undo"));
    assert.ok(seen.length > 4, seen.join());
    for (const one of seen) assert.match(one, / [67]00$/);
  });
});

function isDirectoryAt(path: string): boolean {
  return Deno.statSync(path).isDirectory;
}

/** Tricks of a repository or a program, between a command and undo, that shall lead a restore elsewhere. */
const TRICKS: Record<string, string> = {
  "a directory above is a link that leaves": "mv dir away; ln -s OUTSIDE dir",
  "a directory above is a link to one of git": "mv dir away; ln -s .git/hooks dir",
  "a directory above is a link to an editor's": "mv dir away; ln -s .vscode dir",
  "the directory is a link inside of the project": "mv dir away; mkdir other; ln -s other dir",
  "the file is a link that leaves": "ln -sf OUTSIDE/victim dir/settings.json; ln -sf OUTSIDE/victim dir/pre-commit",
  "the file is a hard link to one elsewhere":
    "rm -f dir/settings.json dir/pre-commit; ln OUTSIDE/victim dir/settings.json; ln OUTSIDE/victim dir/pre-commit",
};

for (const [trick, line] of Object.entries(TRICKS)) {
  Deno.test(`a restore lands nowhere else where ${trick}`, unix, async () => {
    const outside = await Deno.realPath(await Deno.makeTempDir());
    try {
      await inWatchedProject({ "dir/settings.json": "evil\n", "dir/pre-commit": "evil\n" }, async (project) => {
        await Deno.writeTextFile(`${outside}/victim`, "good\n");
        await project.sh("mkdir -p .git/hooks .vscode");
        const session = await project.open();
        // The control: as long as nobody plays a trick, both come back.
        await session.command("rm -r dir", 7);
        assert.deepEqual(Object.values(await session.undo(7)), ["restored", "restored", "restored"]);
        for (
          const change of ["rm dir/settings.json dir/pre-commit", "echo new | tee dir/settings.json dir/pre-commit"]
        ) {
          await project.sh("rm -rf dir away other; mkdir dir; echo evil | tee dir/settings.json dir/pre-commit");
          await session.command(change);
          await project.sh(line.replaceAll("OUTSIDE", outside));
          const told = Object.values(await session.undo());
          assert.deepEqual(told.filter((one) => one === "restored"), [], told.join());
          assert.equal(await Deno.readTextFile(`${outside}/victim`), "good\n");
          assert.deepEqual([...Deno.readDirSync(outside)].map(({ name }) => name), ["victim"]);
          const tree = project.tree();
          for (const place of [".git/hooks/pre-commit", ".vscode/settings.json", "other/settings.json"]) {
            assert.equal(tree[place], undefined);
          }
        }
      });
    } finally {
      await Deno.remove(outside, { recursive: true });
    }
  });
}

Deno.test("no restore writes a file that other programs believe or run, with a notice", unix, async () => {
  const files = { ".vscode/settings.json": "{}\n", ".mcp.json": "{}\n", ".husky/pre-commit": "x\n", "a.json": "{}\n" };
  await inWatchedProject(files, async (project) => {
    const session = await project.open();
    await session.command("for f in .vscode/settings.json .mcp.json .husky/pre-commit a.json; do echo y > $f; done");
    const { "a.json": control, ...told } = await session.undo();
    assert.equal(control, "restored");
    assert.deepEqual(Object.keys(told), [".husky/pre-commit", ".mcp.json", ".vscode/settings.json"]);
    for (const reason of Object.values(told)) assert.match(reason, /may not be written: /);
    assert.equal(project.tree()[".mcp.json"], "y\n");
    await session.command("rm .mcp.json; mkdir -p .vscode/new; rm -r .husky", 2);
    for (const reason of Object.values(await session.undo(2))) {
      assert.match(reason, /may not be written: |restored|removed/);
    }
    assert.equal(project.tree()[".mcp.json"], undefined);
    assert.equal(project.tree()[".husky/pre-commit"], undefined);
  });
});

Deno.test("a marker that a command wrote is not undone, nor one that it removed", unix, async () => {
  await inWatchedProject({ "a.txt": "a\n" }, async (project) => {
    const session = await project.open();
    await session.command("echo 'no-cloud: a.txt' > .agentclisecret; echo b > b.txt");
    const told = await session.undo();
    assert.match(told[".agentclisecret"] ?? "", /it decides what is protected/);
    assert.equal(told["b.txt"], "removed");
    assert.equal(project.tree()[".agentclisecret"], "no-cloud: a.txt\n");
  });
});

Deno.test("a list of changes that somebody forged leads nowhere outside of the project", unix, async () => {
  await inWatchedProject({ "a.txt": "a\n" }, async (project) => {
    const outside = await Deno.realPath(await Deno.makeTempDir());
    await Deno.writeTextFile(`${outside}/victim`, "good\n");
    await (await project.open()).command("echo x > a.txt");
    const [id = ""] = [...Deno.readDirSync(project.home.file("undo"))].flatMap((e) => e.isDirectory ? [e.name] : []);
    const list = project.home.file(`undo/${id}/changes.jsonl`);
    const line = JSON.parse((await Deno.readTextFile(list)).trim());
    const good = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("good\n"))).toHex();
    const forged = [
      `${outside}/victim`,
      `${project.root}/../${outside.split("/").at(-1)}/victim`,
      `${project.root}/.git/x`,
    ];
    await Deno.writeTextFile(
      list,
      forged.map((path) => JSON.stringify({ ...line, path, after: { kind: "content", digest: good } }) + "\n").join(""),
    );
    const told = Object.values(await (await project.open()).undo());
    assert.deepEqual(told.filter((one) => one === "restored"), []);
    assert.equal(await Deno.readTextFile(`${outside}/victim`), "good\n");
    await Deno.remove(outside, { recursive: true });
  });
});

const sandboxed = { ignore: Deno.build.os !== "linux" };
const BYPASS = ["--permission-mode", "bypassPermissions"];

Deno.test("what a sandboxed command of a remote session changed goes back in a later process", sandboxed, async () => {
  await using stage = await openStage();
  const command = "echo x > pub.txt; echo n > new.txt; mkdir -p secrets; echo z > secrets/z; cat .env > got.txt";
  const ran = await stage.play("rem", { script: [ask(want("shell", { command })), say("Done.")], args: BYPASS });
  assert.equal(await Deno.readTextFile(`${stage.project}/pub.txt`), "x\n", ran.done.stderr);
  const undone = await stage.play("rem", {
    script: [say("Nothing.")],
    argv: ["chat", "--continue", "--model", "rem", ...BYPASS],
    stdin: "/undo\n",
  });
  assert.match(undone.done.stderr, /restored [^\n]*pub\.txt/, undone.done.stderr);
  assert.equal(await Deno.readTextFile(`${stage.project}/pub.txt`), "PUB_marker public text\n");
  await assert.rejects(Deno.stat(`${stage.project}/new.txt`));
  for (const { leaks } of [ran, undone]) assert.deepEqual(leaks, { ...leaks, wire: [], disk: [], output: [] });
});

Deno.test(
  "a session that read a protected file takes back what commands changed, and stores none of it",
  sandboxed,
  async () => {
    await using stage = await openStage();
    const canary = stage.canary("env");
    stage.exempt("notes.txt");
    const command = `echo 'key ${canary}' > notes.txt; echo x > pub.txt; echo plain > plain.txt`;
    const played = await stage.play("loc", {
      script: [ask(want("read", { path: ".env" })), ask(want("shell", { command })), say("Done.")],
      argv: ["chat", "--model", "loc", ...BYPASS],
      stdin: "go\n/undo\n",
    });
    assert.match(played.done.stderr, /kept [^\n]*notes\.txt: it is protected/, played.done.stderr);
    assert.equal(await Deno.readTextFile(`${stage.project}/pub.txt`), "PUB_marker public text\n");
    await assert.rejects(Deno.stat(`${stage.project}/plain.txt`));
    assert.deepEqual(played.leaks.disk, []);
    const later = await stage.play("loc", {
      script: [],
      argv: ["chat", "--continue", "--model", "loc", ...BYPASS],
      stdin: "/undo\n",
    });
    assert.match(later.done.stderr, /its undo lasted as long as the process/, later.done.stderr);
  },
);

Deno.test("what a protected session undid is reported to its model, and stored nowhere", sandboxed, async () => {
  for (const isProtected of [true, false]) {
    await using stage = await openStage();
    const played = await stage.play("loc", {
      script: [
        ...isProtected ? [ask(want("read", { path: ".env" }))] : [],
        ...[ask(want("shell", { command: "echo x > name.txt" })), say("Done."), say("Well.")],
      ],
      argv: ["chat", "--model", "loc", ...BYPASS],
      stdin: "go\n/undo\nand now?\n",
    });
    await assert.rejects(Deno.stat(`${stage.project}/name.txt`), played.done.stderr);
    assert.match(played.sent, /The user undid your changes\. Removed: name\.txt/);
    const stored = await new Deno.Command("grep", { args: ["-rl", "Removed: name", stage.home.agentcliHome] }).output();
    assert.equal(stored.stdout.length === 0, isProtected, "and the control");
  }
});
