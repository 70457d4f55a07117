import assert from "node:assert/strict";
import { gitPrograms, settingsIn } from "./git_programs.ts";

/** Pieces that files of settings are put together from: where a section begins, a name, what leads to a value, and values. */
const HEADS = [
  ...["[core]\n", "[Core] ", " [ core ]\n", "\ufeff[core]\n", "[core] # c \\\n", '[core "Sub"]\n', "[core.sub]"],
  ...['[filter "a]b"]\n', '[filter "a\\"b\\\\c"]\n', '[filter "a[x]"][core]', "# c \\\n[core]\n", "[core]\n;\\\r\n"],
];
const NAMES = ["hooksPath", "a-b", "\tfsmonitor ", "x1\t"];
const VALUES = [
  ...[" ", "\t", "\\\n", "\\\r\n", '"my hooks"', '"a#b;c"', '"', '\\"', "\\\\", "\\t", "#", " ; ", "x", ".githooks"],
  ...["tools/run.sh", "\u00e9", "]", "[core]", "=", "a b", '"\\""', "'q'", "\\n", '""'],
];

/** White space within a value is kept by some versions of git, and by others not. */
function plain(entry: string): string {
  return entry.replace(/\s+/g, " ");
}

Deno.test("every setting that git finds in a file is found", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const file = `${directory}/config`;
    let seed = 7;
    const next = (below: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
    let found = 0;
    for (let round = 0; round < 400; round++) {
      const pick = (pieces: readonly string[]) => pieces[next(pieces.length)] ?? "";
      const line = () => `${pick(NAMES)}=${Array.from({ length: 1 + next(5) }, () => pick(VALUES)).join("")}\n`;
      const text = pick(HEADS) + line() + (next(2) === 0 ? line() : "");
      await Deno.writeTextFile(file, text);
      const git = new Deno.Command("git", { args: ["config", "--null", "--list", "-f", file], cwd: directory });
      const { code, stdout } = await git.output();
      if (code !== 0) continue;
      const own = new Set(settingsIn(text.replace(/^\ufeff/, "")).map(([key, value]) => plain(`${key}\n${value}`)));
      for (const entry of new TextDecoder().decode(stdout).split("\0")) {
        // A key without a value is a switch.
        if (!entry.includes("\n")) continue;
        found++;
        assert.ok(own.has(plain(entry)), JSON.stringify({ text, entry, own: [...own] }));
      }
    }
    assert.ok(found > 50, `${found} settings`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("files that include one another, and those that variables name, count", async () => {
  const base = await Deno.realPath(await Deno.makeTempDir());
  try {
    const write = async (name: string, text: string) => {
      await Deno.mkdir(`${base}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${base}/${name}`, text);
    };
    await write(
      "project/.git/config",
      '[include]\npath = ../team.conf\n[includeIf "onbranch:x"]\npath = ~/by-branch\n',
    );
    await write("project/team.conf", "[include]\npath = .git/config\n[core]\nhooksPath = tools/hooks\n");
    await write("home/by-branch", '[filter "x"]\nclean = "bin/clean it" %f\n');
    await write("home/.gitconfig", "[core]\nfsmonitor = watch/one\n");
    await write("xdg/git/config", "[core]\nfsmonitor = watch/two\n");
    await write("other", "[core]\nfsmonitor = watch/three\n");
    const root = `${base}/project`;
    const find = (variables: Record<string, string> = {}) =>
      gitPrograms({ repositories: [`${root}/.git`] }, {
        roots: [root],
        user: { userHome: `${base}/home`, env: (name) => ({ GIT_CONFIG_SYSTEM: "/dev/null", ...variables })[name] },
      })?.filter((path) => !path.includes("/.git/")).map((path) => path.slice(root.length + 1)) ?? [];
    const always = ["team.conf", "tools/hooks", "bin/clean"];
    for (const name of always) assert.ok(find().includes(name), `${name}: ${find()}`);
    assert.ok(find().includes("watch/one") && !find().includes("watch/two"));
    const withPlace = find({ XDG_CONFIG_HOME: `${base}/xdg` });
    assert.ok(withPlace.includes("watch/one") && withPlace.includes("watch/two"));
    const named = find({ XDG_CONFIG_HOME: `${base}/xdg`, GIT_CONFIG_GLOBAL: `${base}/other` });
    assert.deepEqual(named.filter((path) => path.startsWith("watch")), ["watch/three"]);
    await write("project/.git/config", `[core]\nx = ${"y".repeat(9_000_000)}\n`);
    assert.equal(
      gitPrograms({ repositories: [`${root}/.git`] }, { roots: [root], user: { userHome: null } }),
      null,
      "what is too much is not passed over",
    );
  } finally {
    await Deno.remove(base, { recursive: true });
  }
});
