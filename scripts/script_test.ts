import assert from "node:assert/strict";
import { readLine, UsageError } from "./script.ts";

const OPTIONS = { check: "flag", runs: "value", target: "list" } as const;

Deno.test("a script's line is read by its options, and nothing else is taken for one", () => {
  const given = readLine(["--target", "a", "one", "--check", "--target", "b"], OPTIONS, { words: 1 });
  assert.deepEqual([...given.flags], ["check"]);
  assert.deepEqual(given.values, { target: ["a", "b"] });
  assert.deepEqual(given.words, ["one"]);
  const wrong = [["--Check"], ["-x"], ["--runs"], ["--runs", ""], ["--runs", "1", "--runs", "2"], ["one"], [
    "--toString",
  ]];
  for (const args of wrong) assert.throws(() => readLine(args, OPTIONS), UsageError, args.join(" "));
});

const root = decodeURIComponent(new URL("..", import.meta.url).pathname);
const DENO = [Deno.execPath(), "run", "--quiet", "-A", "--no-config"];

/** What starts each script that has options; the last word is its file. */
const SCRIPTS = [
  ...[
    "bench/bench",
    "compile/compile",
    "compile/denort",
    "compile/inspect",
    "protocol_docs",
    "release/release",
    "release/commit",
    "release/serve_folder",
    "cli_docs",
  ]
    .map((name) => [...DENO, `${root}scripts/${name}.ts`]),
  ...["build", "compile/bases", "compile/smoke", "install"].map((name) => ["sh", `${root}scripts/${name}.sh`]),
];

for (const argv of SCRIPTS) {
  const name = argv.at(-1)?.slice(`${root}scripts/`.length);
  const script = async (option: string) => {
    const [program = "", ...args] = argv;
    const command = new Deno.Command(program, {
      args: [...args, option],
      stdin: "null",
      env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
      signal: AbortSignal.timeout(180_000),
    });
    const { code, stdout, stderr } = await command.output();
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  };
  Deno.test({
    name: `${name} helps, and does nothing for an option that it does not know`,
    ignore: Deno.build.os === "windows",
  }, async () => {
    const help = await script("--help");
    assert.equal(help.code, 0, help.stderr);
    assert.match(help.stdout, /Usage:|deno task/);
    const wrong = await script("--no-such-option");
    assert.equal(wrong.code, 2, wrong.stderr);
    assert.equal(wrong.stdout, "");
    assert.notEqual(wrong.stderr, "");
  });
}
