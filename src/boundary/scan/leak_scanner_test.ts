import assert from "node:assert/strict";
import { ProtectedSet } from "../policy/protected.ts";
import { type AllowedFragments, LeakScanner } from "./leak_scanner.ts";

const SECRET = "tok_5f1b0c9ae47d2386";

interface Project extends AsyncDisposable {
  root: string;
  protection: ProtectedSet;
  write(path: string, text: string): Promise<void>;
  scanner(allowed?: AllowedFragments, more?: { limit: number }): LeakScanner;
}

async function project(marker = "no-cloud: .env\n"): Promise<Project> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  const write = async (path: string, text: string) => {
    const place = `${root}/${path}`;
    await Deno.mkdir(place.slice(0, place.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(place, text);
  };
  await write(".agentclisecret", marker);
  const protection = new ProtectedSet([root]);
  protection.refresh();
  return {
    root,
    protection,
    write,
    scanner: (allowed, more) => new LeakScanner(protection, { root, allowed, ...more }),
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

Deno.test("a hit is reported with file, line, rule and form, and without the fragment", async () => {
  await using given = await project();
  await given.write(".env", `# settings\nTOKEN=${SECRET}\n`);
  const scanner = given.scanner();
  const plain = await scanner.check([`x ${SECRET} y`]);
  assert.equal(plain && scanner.describe(plain), "line 2 of .env (.agentclisecret:1 no-cloud: .env)");
  const coded = await scanner.check([`why is ${btoa(SECRET)} wrong?`]);
  assert.equal(coded && scanner.describe(coded), "line 2 of .env (.agentclisecret:1 no-cloud: .env), base64");
  assert.equal(await scanner.check(["hello"]), null);
});

Deno.test("the scanner covers what the marker covers, also what appears or changes later", async () => {
  await using given = await project("no-cloud: .env\nno-cloud: secrets\n");
  const scanner = given.scanner();
  assert.equal(await scanner.check(["first-value-of-it"]), null);
  await given.write(".env", "A=first-value-of-it\n");
  given.protection.refresh();
  assert.ok(await scanner.check(["first-value-of-it"]) !== null, "a text that passed before is looked at again");
  await given.write(".env", "A=second-value-now\n");
  assert.ok(await scanner.check(["second-value-now"]) !== null);
  assert.ok(await scanner.check(["first-value-of-it"]) !== null, "what it held before is forgotten");
  await given.write("secrets/deep/k", "value-in-the-deep\n");
  given.protection.refresh();
  assert.ok(await scanner.check(["value-in-the-deep"]) !== null);
});

Deno.test("a fragment that is allowed does not count, and is asked about once", async () => {
  await using given = await project();
  await given.write(".env", `TOKEN=${SECRET}\nLICENSE=the quick brown license text\n`);
  let asked = 0;
  const scanner = given.scanner((fragments) => {
    asked++;
    return Promise.resolve(new Set(fragments.map(({ normalized }) => normalized).filter((text) => /quick/.test(text))));
  });
  const text = "according to the quick brown license text";
  assert.equal(await scanner.check(["what does this project do?"]), null);
  assert.equal(asked, 0, "nothing is asked while nothing is found");
  assert.equal(await scanner.check([text]), null);
  assert.equal(await scanner.check([`${text} again`]), null);
  assert.equal(asked, 1);
  assert.ok(await scanner.check([`${text} and ${SECRET}`]) !== null);
});

Deno.test("fragments that may leave, however many, hide none that may not", async () => {
  await using given = await project();
  const entries = Array.from({ length: 560 }, (_, at) => `entry ${at * 7919} of a list`);
  await given.write(".env", `${entries.join("\n")}\nTOKEN=${SECRET}\n`);
  const scanner = given.scanner((fragments) =>
    Promise.resolve(new Set(fragments.map(({ normalized }) => normalized).filter((text) => /entry/.test(text))))
  );
  const text = (list: readonly string[]) => list.join("\n#~#\n");
  assert.equal(await scanner.check([text(entries.slice(0, 280))]), null);
  assert.equal(await scanner.check([text(entries.slice(280))]), null);
  assert.equal(await scanner.check([text(entries)]), null, "control: each of them is known to be allowed");
  assert.ok(await scanner.check([text([...entries, `var k = "${SECRET}"`])]) !== null);
});

Deno.test("a fragment that passed is checked again once there is another rule", async () => {
  await using given = await project();
  await given.write(".env", `${SECRET}\n`);
  let isOpen = true;
  const scanner = given.scanner((fragments) =>
    Promise.resolve(new Set(isOpen ? fragments.map(({ normalized }) => normalized) : []))
  );
  assert.equal(await scanner.check([SECRET, `see ${SECRET}`]), null);
  isOpen = false;
  given.protection.refresh();
  assert.equal(
    await scanner.check([SECRET, `see ${SECRET}`]),
    null,
    "control: by the same rules it is not asked about",
  );
  await given.write(".agentclisecret", "no-cloud: .env\nno-cloud: list.txt\n");
  given.protection.refresh();
  assert.ok(await scanner.check([SECRET]) !== null, "a text that passed");
  assert.ok(await scanner.check([`look at ${SECRET}`]) !== null, "a fragment that passed");
});

Deno.test("nothing in the project allows a fragment: no tracked copy, whoever made it", async () => {
  await using given = await project();
  await given.write(".env", `TOKEN=${SECRET}\n`);
  await given.write("copy.txt", `${SECRET}\n`);
  for (const args of [["init", "--quiet"], ["add", "--force", "copy.txt"]]) {
    const { success } = await new Deno.Command("git", { args, cwd: given.root, env: { HOME: given.root } }).output();
    assert.ok(success);
  }
  assert.ok(await given.scanner().check([`see ${SECRET}`]) !== null);
});

Deno.test("a file with a copy counts as a whole, also when its source holds nothing any more", async () => {
  await using given = await project();
  await given.write("app.js", `const key = "${SECRET}";\nconst nothing = "of a secret at all";\n`);
  const file = { path: `${given.root}/app.js`, source: `${given.root}/.env`, inode: 0, born: 0 };
  for (const derived of [[file], []]) {
    const remembered = [{ markers: given.protection.seen, derived }];
    const scanner = new LeakScanner(new ProtectedSet([given.root], { remembered }), { root: given.root });
    const isFound = async (text: string) => await scanner.check([text]) !== null;
    assert.equal(await isFound(`the key ${SECRET}`), derived.length > 0);
    assert.equal(await isFound("nothing = 'of a secret at all'"), derived.length > 0);
  }
});

Deno.test("a protected file that cannot be read is reported", async () => {
  await using given = await project("no-cloud: keys\n");
  await given.write("keys/big", "");
  await Deno.truncate(`${given.root}/keys/big`, 65 * 1024 * 1024);
  const scanner = given.scanner();
  await scanner.check([]);
  assert.deepEqual(scanner.notScanned, [`${given.root}/keys/big`]);
});

Deno.test("large files take no room from small ones, and are not read where there is none", async () => {
  await using given = await project("no-cloud: a\nno-cloud: middle\nno-cloud: z\n");
  const big = (sign: string) => Array.from({ length: 600 }, (_, at) => `${sign}${at * 7919}`).join(" ");
  await given.write("a/big", big("a"));
  await given.write("middle", big("m").slice(0, 990));
  await given.write("z/small", `TOKEN=${SECRET}\n`);
  await given.write("z/big", big("z"));
  const scanner = given.scanner(undefined, { limit: 1000 });
  const { openSync } = Deno;
  const opened: string[] = [];
  Deno.openSync = (path, ...words) => {
    opened.push(String(path));
    return openSync(path, ...words);
  };
  try {
    assert.ok(await scanner.check([`see ${SECRET}`]) !== null);
  } finally {
    Deno.openSync = openSync;
  }
  assert.deepEqual(scanner.notScanned.toSorted(), ["a/big", "middle", "z/big"].map((name) => `${given.root}/${name}`));
  assert.deepEqual(opened.filter((path) => path.endsWith("/big")), []);
  assert.equal(opened.filter((path) => path.endsWith("/small")).length, 1, "and nothing is read twice");
});

Deno.test("files that are made later take no room from older ones", async () => {
  await using given = await project("no-cloud: *.key\n");
  const words = (sign: string, count: number) =>
    Array.from({ length: count }, (_, at) => `${sign}${at * 7919}`).join(" ");
  const old = `${SECRET} ${words("o", 30)}`;
  await given.write("old.key", old);
  const protection = new ProtectedSet([given.root]);
  protection.refresh();
  const scanner = new LeakScanner(protection, { root: given.root, limit: 1_000 });
  assert.ok(await scanner.check([SECRET]) !== null, "control: there is room");
  for (const isOld of [true, false]) {
    if (!isOld) await Deno.remove(`${given.root}/old.key`);
    for (let file = 0; file < 9; file++) await given.write(`new${file}.key`, words(`n${file}`, file === 0 ? 15 : 20));
    if (!isOld) await given.write("old.key", old);
    protection.refresh();
    assert.equal(await scanner.check([`again ${SECRET}`]) !== null, isOld, "control: the same file, made last");
    assert.ok(
      await scanner.check([words("n0", 15)]) !== null,
      "control: small ones come first in the rest of the room",
    );
  }
});

Deno.test("of a thousand protected files unchanged ones are not read again", async () => {
  await using given = await project("no-cloud: secrets\n");
  for (let directory = 0; directory < 10; directory++) {
    await Deno.mkdir(`${given.root}/secrets/${directory}`, { recursive: true });
    for (let file = 0; file < 100; file++) {
      const text = `token-${directory}-${file}-${directory * 7919 + file}\n`;
      Deno.writeTextFileSync(`${given.root}/secrets/${directory}/${file}`, text);
    }
  }
  const scanner = given.scanner();
  const { openSync } = Deno;
  let opened = 0;
  Deno.openSync = (...words) => {
    opened++;
    return openSync(...words);
  };
  try {
    assert.ok(await scanner.check(["token-4-42-31718"]) !== null);
    assert.ok(opened >= 1_000, `${opened} files opened`);
    opened = 0;
    assert.equal(await scanner.check(["a harmless request"]), null);
    assert.equal(opened, 0);
  } finally {
    Deno.openSync = openSync;
  }
});

Deno.test("reading much content ends with a signal, and continues when it is asked again", async () => {
  await using given = await project("no-cloud: keys\n");
  const line = "a line of a large protected file, number ";
  for (let file = 0; file < 5; file++) {
    const text = Array.from({ length: 20_000 }, (_, at) => `${line}${file} ${at * 7919}`).join("\n");
    await given.write(`keys/${file}`, file === 4 ? `${text}\n${SECRET} ` : text);
  }
  const scanner = given.scanner();
  const stop = new AbortController();
  const checking = scanner.check([`see ${SECRET}`], { signal: stop.signal });
  stop.abort(new Error("stopped"));
  await assert.rejects(checking, /stopped/);
  const found = await Promise.all([1, 2].map(() => scanner.check([`see ${SECRET}`])));
  assert.ok(found.every((hit) => hit !== null));
});

Deno.test("a text that passed while another check read more is looked at again", async () => {
  await using given = await project();
  await given.write(".env", `KEY=${SECRET}\n`);
  const scanner = given.scanner();
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  scanner.allowed = async (fragments) => {
    asked.resolve();
    await answered.promise;
    return new Set(fragments.map(({ normalized }) => normalized));
  };
  const later = "another-protected-value-4711";
  const text = `${SECRET} and ${later}`;
  const first = scanner.check([text]);
  await asked.promise;
  await given.write(".env", `KEY=${later}-and-more\n`);
  await scanner.check(["something else"]);
  answered.resolve();
  assert.equal(await first, null, "control: all that was known then may leave");
  scanner.allowed = () => Promise.resolve(new Set());
  assert.ok(await scanner.check([text]) !== null);
});
