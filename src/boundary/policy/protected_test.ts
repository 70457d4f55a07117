import assert from "node:assert/strict";
import { inTemporary, write } from "../../../tests/helpers/protected_tree.ts";
import { lstatSync } from "../../platform/files.ts";
import * as fc from "../../../tests/property.ts";
import { ProtectedSet } from "./protected.ts";
import { ProtectedTree } from "./protected_tree.ts";

/** Which of the paths are covered by a marker of these lines; nothing of them need exist. */
async function covered(lines: string, paths: readonly string[]): Promise<string[]> {
  let found: string[] = [];
  await inTemporary((root) => {
    write(`${root}/.agentclisecret`, lines);
    const set = new ProtectedSet([root]);
    found = paths.filter((path) => set.rule(`${root}/${path}`) !== null);
  });
  return found;
}

/** Lines, what they cover, what they do not. */
const CASES: [string, string[], string[]][] = [
  ["no-cloud: .env", [".env", ".ENV", ".Env", ".env/below", ".env.", ".env ", "a/b/.env"], [
    ".envrc",
    ".en",
    "env",
  ]],
  ["no-cloud: /.env", [".env", ".env/below"], ["a/.env"]],
  ["no-cloud: a/.env", ["a/.env"], [".env", "b/a/.env"]],
  ["no-cloud: secrets", ["secrets", "secrets/a", "secrets/a/b/c", "a/secrets/b"], ["secrets2", "secret"]],
  ["no-cloud: secrets/", ["secrets", "secrets/a", "a/secrets/b"], ["secrets2"]],
  ["no-cloud: ./secrets", ["secrets/a"], ["a/secrets"]],
  ["no-cloud: my\\ file.txt", ["my file.txt", "a/my file.txt"], ["my"]],
  ["no-cloud: \\#x\nno-cloud: \\!y\nno-cloud: \\*z", ["#x", "!y", "*z", "a/*z"], ["x", "y", "a/bz"]],
  ["no-cloud: **.pem", ["x.pem", "a/b/x.pem"], ["x.pem2"]],
  ["no-cloud: secrets/**", ["secrets/a", "secrets/a/b/c"], ["secrets2/a"]],
  ["no-cloud: secrets/*", ["secrets/a", "secrets/a/b", "secrets/.hidden"], ["secrets"]],
  ["no-cloud: ./b//c/.", ["b/c"], ["a/b/c", "a", "b"]],
  ["no-cloud: *.pem", ["x.pem", ".pem", "X.PEM", "x.pem/y", "a/b/x.pem"], ["x.pem2", "xpem"]],
  ["no-cloud: /*.pem", ["x.pem"], ["a/x.pem"]],
  ["no-cloud: **/*.pem", ["x.pem", "a/x.pem", "a/b/c/x.pem"], ["x.pem2"]],
  ["no-cloud: a/**/b", ["a/b", "a/x/b", "a/x/y/b/z"], ["a", "b", "a/x", "a/xb"]],
  ["no-cloud: **/.env*", [".env", "a/.env.local", "a/b/.ENVRC"], ["a/env"]],
  ["no-cloud: k?y", ["key", "kay", "K.y"], ["ky", "keey", "k/y"]],
  ["no-cloud: .", ["a", "a/b", ".agentclisecret"], []],
  ["no-cloud: **", ["a", "a/b"], []],
  ["no-cloud: *", ["a", "a/b", ".x"], []],
  ["no-cloud: s\u00e9crets", ["s\u00e9crets", "se\u0301crets/a", "S\u00c9CRETS"], ["secrets"]],
  ["no-cloud: se\u0301crets", ["s\u00e9crets"], ["secrets"]],
  ["no-cloud: secrets", ["\uff53ecrets/x", "sec\u200brets", "se\u00adcrets"], []],
  ["no-cloud: stra\u00dfe", ["STRASSE", "strasse", "Stra\u00dfe/x"], ["strase"]],
  ["no-cloud: a\\b", ["ab", "a/b"], ["a", "b"]],
  ["no-cloud: a\\\\b", ["a\\b", "a/b"], ["a", "b", "ab"]],
  ["no-cloud: foo*.", ["foobar.", "foobar"], ["barfoo"]],
  ["top-secret: keys", ["keys/a"], ["key"]],
  ["no-cloud: a\nno-cloud: b/c\n\nlist-only: d", ["a", "b/c", "d/e"], ["b"]],
  ["no-cloud: ?ab?", ["[ab]"], ["a", "b"]],
  ["no-cloud: x\uff0ay", ["x\uff0ay"], ["xabcy"]],
];

for (const [lines, inside, outside] of CASES) {
  Deno.test(`${JSON.stringify(lines)} covers what it says`, async () => {
    assert.deepEqual(await covered(lines, [...inside, ...outside]), inside);
  });
}

Deno.test("globs that could take forever are answered at once", async () => {
  const stars = `${"**/".repeat(60)}x`;
  const letters = `${"*a".repeat(60)}b`;
  const deep = "a/".repeat(600) + "y";
  assert.deepEqual(await covered(`no-cloud: ${stars}\nno-cloud: ${letters}\n`, [deep, "a".repeat(250)]), []);
});

Deno.test("a rule is named by marker, line, tier and pattern, and list-only is the stricter one", () =>
  inTemporary((root) => {
    write(`${root}/.agentclisecret`, "# mine\nno-cloud: keys\nlist-only: keys/deep\n");
    const set = new ProtectedSet([root]);
    const rule = { tier: "no-cloud", pattern: "keys", marker: `${root}/.agentclisecret`, line: 2 };
    assert.deepEqual(set.rule(`${root}/keys/a`), rule);
    assert.equal(set.rule(`${root}/keys/deep/a`)?.tier, "list-only");
  }));

Deno.test("markers add up from the file upward, also above the root, and a nested one loosens nothing", () =>
  inTemporary((directory) => {
    const root = `${directory}/project`;
    write(`${directory}/.agentclisecret`, "no-cloud: project/above\n");
    write(`${root}/.agentclisecret`, "no-cloud: sub/a\n");
    write(`${root}/sub/.agentclisecret`, "no-cloud: b\n# sub/a\n");
    const set = new ProtectedSet([root]);
    const markers = ["above/x", "sub/a", "sub/b"].map((path) => set.rule(`${root}/${path}`)?.marker);
    const place = (at: string) => `${directory}/${at}.agentclisecret`;
    assert.deepEqual(markers, [place(""), place("project/"), place("project/sub/")]);
    assert.equal(set.rule(`${root}/b`), null);
  }));

Deno.test("lines whose path leads through a link cover what it leads to, by every name", () =>
  inTemporary((root) => {
    for (const name of ["real/file", "target.txt", "dir/x.key", "other/x.key"]) write(`${root}/${name}`);
    Deno.symlinkSync("target.txt", `${root}/link`);
    Deno.symlinkSync("real", `${root}/gate`);
    Deno.symlinkSync("dir", `${root}/keys`);
    Deno.symlinkSync("../other/x.key", `${root}/real/late.key`);
    write(`${root}/.agentclisecret`, "no-cloud: link\nno-cloud: gate/file\nno-cloud: gate/new\nno-cloud: keys/*.key\n");
    const set = new ProtectedSet([root]);
    set.refresh();
    void set.any;
    for (const path of ["target.txt", "link", "real/file", "gate/file", "real/new", "dir/x.key", "dir/y.key"]) {
      assert.ok(set.rule(`${root}/${path}`), path);
    }
    for (const path of ["real/other", "dir/x.txt", "other/x.key"]) {
      assert.equal(set.rule(`${root}/${path}`), null, path);
    }
  }));

Deno.test("a file that is written under a temporary name is covered as under its own, whatever became of the writing", async () => {
  const temporary = (name: string) => `.${name}.${crypto.randomUUID()}.tmp`;
  const [plain, deep, wild, open] = [temporary(".env"), `a/${temporary("key")}`, temporary("x.pem"), temporary("open")];
  const lines = "no-cloud: .env\nno-cloud: a/key\nno-cloud: *.pem\n";
  assert.deepEqual(await covered(lines, [plain, deep, wild, open, ".x.pem.tmp"]), [plain, deep, wild]);
  await inTemporary(async (root) => {
    write(`${root}/.agentclisecret`, lines);
    write(`${root}/${plain}`);
    write(`${root}/${open}`);
    assert.deepEqual((await new ProtectedSet([root]).hidden()).files, [`${root}/${plain}`]);
  });
});

Deno.test("links that a glob covers take their target with them once the tree was looked at", () =>
  inTemporary(async (root) => {
    write(`${root}/conf/prod.txt`);
    Deno.symlinkSync("conf/prod.txt", `${root}/prod.key`);
    write(`${root}/.agentclisecret`, "no-cloud: *.key\n");
    const set = new ProtectedSet([root]);
    const { files, directories, nameless } = await set.hidden();
    assert.deepEqual({ files, directories, nameless }, {
      files: [`${root}/conf/prod.txt`],
      directories: [],
      nameless: [],
    });
    assert.ok(set.rule(`${root}/conf/prod.txt`));
  }));

Deno.test("every name of a protected file is protected, whatever its link count says", () =>
  inTemporary((root) => {
    write(`${root}/secrets/deep/k.txt`);
    write(`${root}/other.txt`);
    Deno.linkSync(`${root}/secrets/deep/k.txt`, `${root}/h.txt`);
    Deno.linkSync(`${root}/other.txt`, `${root}/twin.txt`);
    write(`${root}/.agentclisecret`, "no-cloud: secrets\n");
    const set = new ProtectedSet([root]);
    const facts = (links: number, path: string) => {
      const { dev, ino, birthtime } = Deno.statSync(path);
      return {
        kind: "file",
        size: 1,
        modified: 0,
        changed: 0,
        born: birthtime?.getTime() ?? 0,
        device: dev,
        inode: ino ?? 0,
        mode: 0,
        owner: 0,
        links,
      } as const;
    };
    assert.ok(set.ruleOfFile(facts(2, `${root}/h.txt`), `${root}/h.txt`));
    assert.ok(set.ruleOfFile(facts(1, `${root}/h.txt`), `${root}/h.txt`));
    assert.equal(set.ruleOfFile(facts(2, `${root}/twin.txt`), `${root}/twin.txt`), null);
    assert.equal(set.ruleOfFile(facts(1, `${root}/other.txt`), `${root}/other.txt`), null);
  }));

Deno.test("in a linked worktree the main tree's rules hold too, wherever the worktree lies", () =>
  inTemporary((directory) => {
    const main = `${directory}/main`;
    write(`${main}/.git/worktrees/wt/commondir`, "../..\n");
    write(`${main}/.agentclisecret`, "no-cloud: .env\nno-cloud: sub/*.key\n");
    write(`${main}/deep/.agentclisecret`, "no-cloud: x\n");
    write(`${directory}/.agentclisecret`, "no-cloud: main/above\n");
    for (const tree of [`${directory}/wt`, `${main}/.trees/wt`]) {
      write(`${tree}/.git`, `gitdir: ${main}/.git/worktrees/wt\n`);
      const set = new ProtectedSet([tree]);
      for (const path of [".env", "sub/a.key", "deep/x", "above/y"]) assert.ok(set.rule(`${tree}/${path}`), path);
      for (const path of ["env", "sub/a.txt", "x"]) assert.equal(set.rule(`${tree}/${path}`), null, path);
    }
  }));

Deno.test("worktrees that name each other in a circle end", () =>
  inTemporary((directory) => {
    write(`${directory}/a/b/.git/worktrees/w/commondir`, "../..\n");
    write(`${directory}/a/.git`, `gitdir: ${directory}/a/b/.git/worktrees/w\n`);
    write(`${directory}/a/b/.agentclisecret`, "no-cloud: x\n");
    const set = new ProtectedSet([`${directory}/a`]);
    assert.ok(set.rule(`${directory}/a/b/x`));
    assert.equal(set.rule(`${directory}/a/b/y`), null);
  }));

Deno.test("what is hidden is one entry a directory, follows changes, and never looks behind links", () =>
  inTemporary(async (root) => {
    for (const name of ["secrets/a", "secrets/b/c", "src/x.pem", "src/deep/y.pem", "pub.txt"]) write(`${root}/${name}`);
    Deno.symlinkSync("src", `${root}/loop`);
    write(`${root}/.agentclisecret`, "no-cloud: secrets\nno-cloud: **/*.pem\nno-cloud: later\n");
    const set = new ProtectedSet([root]);
    assert.equal(set.any, true);
    const hidden = async () => {
      const { files, directories } = await set.hidden();
      return [...files, ...directories].map((path) => path.slice(root.length + 1)).sort();
    };
    assert.deepEqual(await hidden(), ["secrets", "src/deep/y.pem", "src/x.pem"]);
    assert.equal([...set.files()].length, 4);
    write(`${root}/src/deep/z.pem`);
    write(`${root}/later/x`);
    Deno.removeSync(`${root}/src/x.pem`);
    set.refresh();
    assert.deepEqual(await hidden(), ["later", "secrets", "src/deep/y.pem", "src/deep/z.pem"]);
  }));

Deno.test("what programs leave beside a protected file is hidden outside of the roots too", () =>
  inTemporary(async (above) => {
    for (const name of ["project/pub.txt", "keys/a.env", "keys/a.env~", "keys/.a.env.swp", "keys/b.txt"]) {
      write(`${above}/${name}`);
    }
    write(`${above}/.agentclisecret`, "no-cloud: keys/a.env\n");
    const { files } = await new ProtectedSet([`${above}/project`]).hidden();
    assert.deepEqual(
      files.toSorted(),
      ["keys/.a.env.swp", "keys/a.env", "keys/a.env~"].map((name) => `${above}/${name}`),
    );
  }));

Deno.test("a project without a marker protects nothing, and a marker deep inside is found", () =>
  inTemporary(async (root) => {
    write(`${root}/a/b/c/x`);
    const set = new ProtectedSet([root]);
    assert.equal(set.any, false);
    assert.deepEqual([...set.markers], []);
    write(`${root}/a/b/c/.agentclisecret`, "no-cloud: x\n");
    set.refresh();
    assert.equal(set.any, true);
    const { files, directories, nameless } = await set.hidden();
    assert.deepEqual({ files, directories, nameless }, { files: [`${root}/a/b/c/x`], directories: [], nameless: [] });
  }));

Deno.test("a marker that is damaged, a directory, or a link to nowhere protects everything", async (test) => {
  const damages: Record<string, (path: string) => void> = {
    "empty path": (path) => write(path, "no-cloud:\n"),
    "UTF-16": (path) => Deno.writeFileSync(path, new Uint8Array([0xff, 0xfe, 0x6e, 0])),
    directory: (path) => Deno.mkdirSync(path),
    "dangling link": (path) => Deno.symlinkSync("nowhere", path),
    "too large": (path) => write(path, "#".repeat(1024 * 1024 + 1)),
  };
  for (const [name, make] of Object.entries(damages)) {
    await test.step(name, () =>
      inTemporary((root) => {
        make(`${root}/.agentclisecret`);
        const set = new ProtectedSet([root]);
        assert.ok(set.rule(`${root}/anything`)?.damaged);
        assert.ok(set.any);
      }));
  }
});

Deno.test("an unusable marker covers everything until it is gone, and only what the home has lasts", () =>
  inTemporary((root) => {
    const marker = { path: `${root}/.agentclisecret`, lines: [{ tier: "no-cloud" as const, pattern: ".env" }] };
    write(marker.path, "no-cloud: .env\nno-cloud: new\nlist-only: vault\n");
    for (const name of [".env", "open"]) write(`${root}/${name}`, name);
    const derived = [{ path: `${root}/copy`, source: `${root}/.env`, inode: 0, born: 0 }];
    const set = new ProtectedSet([root], { remembered: [{ markers: [marker], derived }] });
    set.refresh();
    const tiers = () =>
      [".env", "new", "vault", "copy", "open"].map((name) => set.rule(`${root}/${name}`)?.tier ?? null);
    const before = ["no-cloud", "no-cloud", "list-only", "no-cloud", null];
    assert.deepEqual(tiers(), before);
    write(`${root}/x/.agentclisecret`, "bad\n");
    set.refresh();
    assert.ok(set.any && set.rule(`${root}/x/a`)?.damaged !== undefined);
    assert.deepEqual(tiers(), ["no-cloud", "no-cloud", "list-only", "no-cloud", "no-cloud"]);
    assert.equal(set.named(`${root}/open`), null);
    assert.deepEqual([...set.files()], [`${root}/.env`], "most of what it covers is no secret");
    const lasting = [".env", "new", "vault", "copy", "open"].filter((name) => set.lasts(`${root}/${name}`));
    assert.deepEqual(lasting, [".env", "copy"]);
    Deno.removeSync(`${root}/x/.agentclisecret`);
    set.refresh();
    assert.deepEqual(tiers(), before);
  }));

Deno.test("any spelling of a protected name is protected, whatever the case, form and invisible characters", () =>
  inTemporary((root) => {
    const name = "s\u00e9cret-Datei.key";
    write(`${root}/.agentclisecret`, `no-cloud: ${name}\nno-cloud: dir/*.Pem\n`);
    const set = new ProtectedSet([root]);
    const spelling = (text: string) =>
      fc.array(fc.constantFrom("upper", "lower", "NFD", "NFC", "joiner", "same"), { maxLength: 12 }).map((changes) =>
        [...text].map((letter, index) => {
          switch (changes[index % Math.max(changes.length, 1)]) {
            case "upper":
              return letter.toUpperCase();
            case "lower":
              return letter.toLowerCase();
            case "NFD":
              return letter.normalize("NFD");
            case "NFC":
              return letter.normalize("NFC");
            case "joiner":
              return `${letter}\u200b`;
            default:
              return letter;
          }
        }).join("")
      );
    fc.assert(fc.property(spelling(name), spelling("dir"), spelling("x.pem"), (plain, directory, pem) => {
      assert.ok(set.rule(`${root}/${plain}`), plain);
      assert.ok(set.rule(`${root}/${plain}/below`), plain);
      assert.ok(set.rule(`${root}/${directory}/${pem}`), `${directory}/${pem}`);
    }));
  }));

Deno.test("a tree that is too large for a moment is known in pieces, and whole when it is asked for whole", async () => {
  const root = await Deno.realPath(await Deno.makeTempDir());
  try {
    for (let at = 0; at < 30; at++) await Deno.mkdir(`${root}/a${at}/b/c`, { recursive: true });
    await Deno.writeTextFile(`${root}/a7/b/c/.agentclisecret`, "no-cloud: .env\n");
    const tree = new ProtectedTree([root], {
      rules: {
        ...{ version: 0, patterns: new Map(), named: () => null, rulesIn: () => null },
        ...{ follow: () => {}, followInto: () => {}, restBehind: () => [], giveUp: () => {} },
      },
    });
    let steps = 1;
    while (tree.step()) steps++;
    assert.equal(steps, 92, "one more directory each time, and the end");
    const set = new ProtectedSet([root]);
    set.refresh();
    // A moment may be over before it began on a machine under load.
    let any = set.anySoon;
    for (let time = 0; time < 100 && any === null; time++) any = set.anySoon;
    assert.equal(any, true, "a marker below the root is found in a small tree");
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("a search in which each walk finds new rules gives up, as on an unusable marker", () =>
  inTemporary((root) => {
    const reasons: string[] = [];
    let version = 0;
    const rules = {
      get version() {
        return version++;
      },
      ...{ patterns: new Map(), named: () => null, rulesIn: () => null, follow: () => {}, followInto: () => {} },
      ...{ restBehind: () => [], giveUp: (reason: string) => void reasons.push(reason) },
    };
    const tree = new ProtectedTree([root], { rules });
    for (let step = 0; step < 100 && reasons.length === 0; step++) tree.step();
    assert.deepEqual(reasons, ["the links that its lines cover lead on without an end"]);
  }));

Deno.test("a marker that is larger than anybody writes is a damaged one, named, until it is repaired", async () => {
  for (const isTooLarge of [false, true]) {
    await inTemporary((root) => {
      const line = "no-cloud: *one*\n";
      const lines = Math.floor(64 * 1024 / line.length) + Number(isTooLarge);
      write(`${root}/d/.agentclisecret`, line.repeat(lines));
      const set = new ProtectedSet([root]);
      set.refresh();
      assert.ok(set.any);
      assert.equal(set.damaged?.damaged, isTooLarge ? "it is larger than 64 KiB" : undefined);
      assert.equal(set.rule(`${root}/anything`) !== null, isTooLarge, "everything counts as protected");
      write(`${root}/d/.agentclisecret`, "no-cloud: one\n");
      set.refresh();
      assert.equal(set.damaged, null, "it was repaired");
    });
  }
});

Deno.test("a file with several names may be the one that cannot be named: it is under the strictest rule there is", {
  ignore: Deno.build.os !== "linux",
}, () =>
  inTemporary(async (root) => {
    Deno.writeTextFileSync(`${root}/.agentclisecret`, "no-cloud: *.pem\nlist-only: vault\n");
    const words = ["-c", "mkdir vault; echo secret > $'vault/\\xe9'; ln vault/* h.txt; echo open > o.txt"];
    assert.ok((await new Deno.Command("bash", { args: words, cwd: root }).output()).success);
    const set = new ProtectedSet([root]);
    const tierOf = (name: string) => {
      const status = lstatSync(`${root}/${name}`);
      return status === null ? "absent" : set.ruleOfFile(status, `${root}/${name}`)?.tier;
    };
    assert.deepEqual([tierOf("h.txt"), tierOf("o.txt")], ["list-only", undefined]);
  }));
