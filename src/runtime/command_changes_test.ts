import assert from "node:assert/strict";
import { inWatchedProject } from "../../tests/helpers/watched_project.ts";
import { OTHER_SESSION } from "../../tests/helpers/transcripts.ts";

const unix = { ignore: Deno.build.os === "windows" };
const TREE = {
  "a.txt": "a\n",
  "src/one.ts": "one\n",
  "src/deep/two.ts": "two\n",
  "keep/k.txt": "k\n",
  ".gitignore": "out/\n*.log\n",
};

/** Commands by what each does to the files of a project. */
const COMMANDS: Record<string, string> = {
  "changes, makes and removes files": "echo more >> a.txt; echo new > new.txt; rm src/one.ts",
  "changes a file within the same moment, size and all": "printf 'b\\n' > a.txt",
  "changes modes": "chmod 755 a.txt; chmod 400 src/one.ts; chmod 700 src",
  "writes a read-only file over another": "chmod 444 a.txt; cp -f src/one.ts x; chmod 400 x; mv -f x a.txt",
  "renames a directory": "mv src lib",
  "renames a directory over into another": "mv src keep/src; echo z >> keep/src/one.ts",
  "replaces a file by a directory": "rm a.txt; mkdir a.txt; echo in > a.txt/in; mkdir a.txt/empty",
  "replaces a directory by a file": "rm -r src; echo file > src",
  "makes, changes and removes links": "ln -s a.txt link; ln -s link2 link2; ln -sf src/one.ts a.txt",
  "replaces a directory by a link to another": "mv src src2; ln -s keep src",
  "makes and removes empty directories": "mkdir -p x/y/z; rm -r keep/k.txt; rmdir keep",
  "has names with spaces, quotes and lines":
    "printf x > 'a b'; printf y > \"it's\"; printf z > \"$(printf 'l\\nm')\"; mv -- a.txt -n",
  "removes everything": "rm -rf ./* .gitignore",
  "does nothing": "true",
};

for (const [what, line] of Object.entries(COMMANDS)) {
  Deno.test(`what a command changes goes back and forth, also after a restart: it ${what}`, unix, async () => {
    await inWatchedProject(TREE, async (project) => {
      await project.sh("ln -s keep dirlink; chmod 600 keep/k.txt");
      const before = project.tree({ modes: true });
      const session = await project.open();
      await session.command(line);
      const after = project.tree({ modes: true });
      if (line === "true") return assert.deepEqual((await session.store()).turns(), []);
      assert.notDeepEqual(after, before);
      const outcomes = Object.values(await session.undo());
      assert.deepEqual(outcomes.filter((outcome) => !["restored", "removed"].includes(outcome)), []);
      assert.deepEqual(project.tree({ modes: true }), before);
      await session.redo();
      assert.deepEqual(project.tree({ modes: true }), after);
      const later = await project.open();
      await later.undo();
      assert.deepEqual(project.tree({ modes: true }), before);
      assert.deepEqual((await (await project.open()).store()).turns(), []);
    });
  });
}

Deno.test("a project that a command removed as a whole is restored", unix, async () => {
  await inWatchedProject(TREE, async (project) => {
    const before = project.tree();
    const session = await project.open();
    await session.command(() => Deno.remove(project.root, { recursive: true }));
    await session.undo();
    assert.deepEqual(project.tree(), before);
  });
});

Deno.test("tools and commands in one turn go back together, through every version", unix, async () => {
  await inWatchedProject(TREE, async (project) => {
    const before = project.tree();
    const session = await project.open();
    await session.tool("a.txt", "by tool\n");
    await session.command("echo by command >> a.txt");
    await session.tool("a.txt", "by tool again\n");
    await session.command("rm a.txt");
    await session.tool("a.txt", "anew\n", 2);
    await session.command("chmod 755 a.txt", 2);
    assert.deepEqual(await session.undo(2), { "a.txt": "removed" });
    await session.undo(1);
    assert.deepEqual(project.tree(), before);
  });
});

Deno.test("what somebody else changed, made or put in the way meanwhile stays, with a notice", unix, async () => {
  await inWatchedProject(TREE, async (project) => {
    const session = await project.open();
    await session.command("echo x > a.txt; mv src lib; rm keep/k.txt; echo y > y.txt");
    await project.sh("echo mine > a.txt; echo mine > lib/mine.ts; echo mine > keep/k.txt; rm y.txt; mkdir y.txt");
    const told = await session.undo();
    assert.match(told["a.txt"] ?? "", /has changed since/);
    assert.match(told["keep/k.txt"] ?? "", /has changed since/);
    assert.match(told["y.txt"] ?? "", /has changed since/);
    assert.match(told["lib"] ?? "", /holds other files/);
    const tree = project.tree();
    assert.deepEqual([tree["a.txt"], tree["keep/k.txt"], tree["lib/mine.ts"], tree["y.txt"]], [
      ...["mine\n", "mine\n", "mine\n", "dir"],
    ]);
    assert.deepEqual([tree["src/one.ts"], tree["lib/one.ts"]], ["one\n", undefined]);
  });
});

Deno.test("what was changed by hand between two commands of a turn is not lost", unix, async () => {
  await inWatchedProject(TREE, async (project) => {
    const session = await project.open();
    await session.command("echo one >> a.txt");
    await project.sh("echo mine >> a.txt");
    await session.command("echo two >> a.txt");
    assert.match((await session.undo())["a.txt"] ?? "", /changed by somebody else in between/);
    assert.equal(project.tree()["a.txt"], "a\none\nmine\ntwo\n");
  });
});

Deno.test("what is changed between commands is nobody's of the session", unix, async () => {
  await inWatchedProject(TREE, async (project) => {
    const session = await project.open();
    await session.command("true");
    await project.sh("echo mine > a.txt; echo mine > mine.txt");
    await session.command("echo x > x.txt");
    assert.deepEqual(await session.undo(), { "x.txt": "removed" });
  });
});

Deno.test(
  "ignored files, what git keeps and packages are not looked at; what comes out of them is not removed",
  unix,
  async () => {
    await inWatchedProject(TREE, async (project) => {
      await project.sh(
        "mkdir -p out .git node_modules/p; echo o > out/o; echo h > .git/HEAD; echo p > node_modules/p/p; echo l > a.log",
      );
      const session = await project.open();
      // Without the line what was ignored all along looks new.
      await session.command(
        "echo o2 > out/o; echo h2 > .git/HEAD; echo p2 > node_modules/p/p; echo l2 > a.log; rm .gitignore",
      );
      assert.deepEqual(await session.undo(), { ".gitignore": "restored" });
      const tree = project.tree();
      assert.deepEqual([tree["out/o"], tree[".git/HEAD"], tree["node_modules/p/p"], tree["a.log"]], [
        ...["o2\n", "h2\n", "p2\n", "l2\n"],
      ]);
      // And what is ignored from now on looks gone.
      await session.command("echo 'src/' >> .gitignore", 2);
      assert.deepEqual(await session.undo(2), { ".gitignore": "restored" });
      assert.equal(project.tree()["src/one.ts"], "one\n");
    });
  },
);

Deno.test("a file that is too large is not kept, with a notice; small ones beside it are", unix, async () => {
  await inWatchedProject(TREE, async (project) => {
    await project.sh("head -c 17000000 /dev/zero > large");
    const session = await project.open();
    await session.command("echo x >> large; echo x >> a.txt; cp large large2");
    assert.deepEqual(await session.undo(), {
      "a.txt": "restored",
      "large": "it is larger than 16 MiB",
      "large2": "large2 has changed since",
    });
    assert.equal(Deno.statSync(`${project.root}/large`).size, 17_000_002);
  });
});

Deno.test("in a project of too many files nothing is read, with a notice", unix, async () => {
  await inWatchedProject(TREE, async (project) => {
    await project.sh("mkdir many; touch many/0");
    // Names of one file: a disk makes them ten times as fast as files.
    for (let at = 1; at <= 10_000; at++) Deno.linkSync(`${project.root}/many/0`, `${project.root}/many/${at}`);
    const session = await project.open();
    await session.command("echo x > a.txt");
    await session.tool("src/one.ts", "tool\n");
    const { "src/one.ts": tool, ...others } = await session.undo();
    assert.equal(tool, "restored", "what tools change is kept all the same");
    assert.match(Object.values(others).join(), /^it holds more than 10,000 files that are not ignored/);
    // Ignored, they are not in the way; a session that begins later finds that.
    await project.sh("echo many > .gitignore; echo a > a.txt");
    const later = await project.open({ id: OTHER_SESSION });
    await later.command("echo x > a.txt");
    assert.deepEqual(await later.undo(), { "a.txt": "restored" });
  });
});

Deno.test("names that are no UTF-8 are left alone", unix, async () => {
  await inWatchedProject(TREE, async (project) => {
    const session = await project.open();
    await session.command(`printf x > "$(printf 'bad\\377')"; mkdir "$(printf 'dir\\377')"; echo x > a.txt`);
    assert.deepEqual(await session.undo(), { "a.txt": "restored" });
  });
});

Deno.test("pipes and sockets are left alone", unix, async () => {
  await inWatchedProject(TREE, async (project) => {
    const session = await project.open();
    await session.command("mkfifo pipe; rm a.txt; mkfifo a.txt");
    assert.match((await session.undo())["a.txt"] ?? "", /pipe or socket/);
  });
});

Deno.test("a restore that was killed on the way is taken up again", unix, async () => {
  await inWatchedProject(TREE, async (project) => {
    const before = project.tree();
    const session = await project.open();
    await session.command("echo x > a.txt; rm -r src; echo file > src; echo n > n.txt");
    // Killed: some is done, one is half done, and nothing of it is noted.
    await project.sh("echo a > a.txt; rm src");
    await (await project.open()).undo();
    assert.deepEqual(project.tree(), before);
  });
});

Deno.test("what another session's tools write while a command runs is theirs", unix, async () => {
  await inWatchedProject(TREE, async (project) => {
    const [one, other] = [await project.open(), await project.open({ id: OTHER_SESSION })];
    await one.command(async () => {
      await project.sh("echo x > x.txt");
      await other.tool("a.txt", "theirs\n");
    });
    assert.deepEqual(await one.undo(), { "x.txt": "removed" });
    assert.equal(project.tree()["a.txt"], "theirs\n");
    assert.deepEqual(await other.undo(), { "a.txt": "restored" });
  });
});

Deno.test(
  "with two commands of two sessions at once the owner of a change is unknown, with a notice",
  unix,
  async () => {
    await inWatchedProject(TREE, async (project) => {
      const [one, other] = [await project.open(), await project.open({ id: OTHER_SESSION })];
      await one.command(async () => {
        await project.sh("echo x > x.txt");
        await other.command("echo y > y.txt");
      });
      const told = await one.undo();
      for (const text of [told["x.txt"], told["y.txt"], (await other.undo())["y.txt"]]) {
        assert.match(text ?? "", /another session ran a command/);
      }
      assert.deepEqual([project.tree()["x.txt"], project.tree()["y.txt"]], ["x\n", "y\n"]);
      // One after the other is no question.
      await one.command("echo z > z.txt", 2);
      await other.command("echo w > w.txt", 2);
      assert.deepEqual(await one.undo(2), { "z.txt": "removed" });
      assert.deepEqual(await other.undo(2), { "w.txt": "removed" });
    });
  },
);

Deno.test("a command in the background counts in the turns in which it runs, not between them", unix, async () => {
  await inWatchedProject(TREE, async (project) => {
    const { session, watch, command, tool, undo } = await project.open();
    const { signal } = new AbortController();
    const ids: string[] = [];
    Object.assign(session.memory, { commands: { ids: () => ids } });
    await command(() => void ids.push("bg1"));
    await project.sh("echo bg > a.txt");
    await tool("keep/k.txt", "tool\n");
    await watch.turnEnd();
    await project.sh("echo mine > mine.txt");
    await watch.turnStart(signal);
    await project.sh("echo bg > bg.txt");
    await watch.turnEnd();
    assert.deepEqual(await undo(), { "a.txt": "restored", "bg.txt": "removed", "keep/k.txt": "restored" });
    assert.equal(project.tree()["mine.txt"], "mine\n");
  });
});
