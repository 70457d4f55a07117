/**
 * Writes and removals while somebody swaps the directory for a link: nothing may land, or be lost, where it leads to.
 */
import assert from "node:assert/strict";
import { programCommand, type RunningProgram, runProgram, startCommand, temporaryHome } from "../helpers/program.ts";

const unix = { ignore: Deno.build.os === "windows" };
/** Files of one race: before their directory was held, 3 to 12 of 300 landed outside. */
const FILES = 300;

interface Race {
  /** Why each file was refused; null for one that was not. */
  results: (string | null)[];
  /** Where the writer was afterwards. */
  cwd: string;
  /** Names in the directory that the link leads to. */
  outside: string[];
}

interface RaceOptions {
  what: "write" | "remove" | "link" | "directory";
  /** What Deno lets the writer do; `PLACE` stands for the directory of it all. */
  permissions?: readonly string[];
  /** Called when the writer is about to start, with its working directory. */
  before?(start: string): Promise<void>;
  /** Somebody swaps the directory meanwhile. */
  swapped?: boolean;
}

async function race({ what, permissions = ["-A"], before, swapped = true }: RaceOptions): Promise<Race> {
  await using home = await temporaryHome();
  const [sub, outside, start] = [`${home.project}/sub`, `${home.root}/outside`, `${home.root}/start`];
  for (const directory of [sub, outside, start]) await Deno.mkdir(directory);
  for (const directory of what === "remove" ? [sub, outside] : []) {
    for (let index = 0; index < FILES; index++) await Deno.writeTextFile(`${directory}/${index}`, "old");
  }
  const helper = async (name: string, args: string[], flags: readonly string[]): Promise<RunningProgram> => {
    const script = new URL(`../helpers/${name}.ts`, import.meta.url).href;
    const options = ["--no-config", "--no-check", "--no-prompt", "--quiet"];
    const program = startCommand([Deno.execPath(), "run", ...flags, ...options, script, ...args], { home, cwd: start });
    await program.stdout.until(/ready\n/);
    return program;
  };
  const flags = permissions.map((permission) => permission.replace("PLACE", home.root));
  await using writer = await helper("write_in_race", [
    what,
    home.project,
    home.agentcliHome,
    String(FILES),
    swapped ? "raced" : "",
  ], flags);
  await using swapper = swapped ? await helper("swap_directory", [sub, `${home.project}/kept`, outside], ["-A"]) : null;
  await before?.(start);
  await writer.closeInput();
  const [, ended = ""] = await writer.stdout.until(/^(\{.*\})\n/m);
  await swapper?.closeInput();
  assert.equal((await swapper?.finished)?.stderr ?? "", "");
  return { ...JSON.parse(ended), outside: Array.from(Deno.readDirSync(outside), ({ name }) => name) };
}

/** A race in which nobody was ever in the way, or always, proves nothing. */
function assertRaced({ results }: Race): void {
  const refused = results.filter((result) => result !== null).length;
  assert.ok(refused > 0 && refused < FILES, `${refused} of ${FILES} refused`);
}

Deno.test("nothing that is written lands where a link leads that took the directory's place", unix, async () => {
  const seen = await race({ what: "write" });
  assert.deepEqual(seen.outside, []);
  assertRaced(seen);
  assert.match(seen.cwd, /\/start$/);
});

Deno.test("nothing is removed where a link leads that took the directory's place", unix, async () => {
  const seen = await race({ what: "remove" });
  assert.equal(seen.outside.length, FILES);
  assertRaced(seen);
  assert.match(seen.cwd, /\/start$/);
});

for (const what of ["link", "directory"] as const) {
  Deno.test(`no ${what} is made where a link leads that took the directory's place`, unix, async () => {
    const seen = await race({ what });
    assert.deepEqual(seen.outside, []);
    assertRaced(seen);
    assert.match(seen.cwd, /\/start$/);
  });
}

Deno.test("under narrow permissions what lands elsewhere is removed, or reported", unix, async () => {
  const seen = await race({ what: "write", permissions: ["--allow-read", "--allow-write=PLACE"] });
  assertRaced(seen);
  const said = seen.results.flatMap((result, index) =>
    /something may have been left/.test(result ?? "") ? [index] : []
  );
  for (const name of seen.outside) {
    // What had no name of its own yet is `.12.<random>.tmp`, and empty.
    assert.ok(said.includes(parseInt(name.replace(/^\./, ""))), `${name} lies outside, and nobody said so`);
  }
});

Deno.test("a working directory that was removed keeps nothing from being written", unix, async () => {
  const seen = await race({ what: "write", swapped: false, before: (start) => Deno.remove(start) });
  assert.deepEqual(seen.results.filter((result) => result !== null), []);
  assert.equal(seen.cwd, "/");
});

// A binary has all permissions built in.
const compiled = programCommand()[0] !== Deno.execPath();
Deno.test("a session says once that it may not hold directories, if it can write", { ignore: compiled }, async () => {
  await using home = await temporaryHome();
  await home.write("a.txt", "a");
  const narrow = ["--no-prompt", "--allow-read", `--allow-write=${home.root}`, "--allow-net", "--allow-env"];
  const run = async (permissions: readonly string[], ...args: string[]) => {
    const { code, stderr } = await runProgram(["run", "--model", "demo", "What is here?", ...args], {
      home,
      permissions,
    });
    assert.equal(code, 0, stderr);
    return stderr.split("permissions are narrow").length - 1;
  };
  assert.equal(await run(narrow), 1);
  assert.equal(await run(["-A"]), 0);
  assert.equal(await run(narrow, "--disallowed-tools", "Write,Edit"), 0);
});
