/** A home that belongs to somebody else: nothing is read from it and nothing is written into it, whoever asks. */
import assert from "node:assert/strict";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, type Finished, type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const OTHER = 54321;
/** Only root can give files to somebody else. */
const isRoot = Deno.build.os !== "windows" && Deno.uid() === 0;

/** Every path below a directory with its owner and mode. */
function ownersIn(directory: string): string[] {
  return [...Deno.readDirSync(directory)].sort((one, other) => one.name < other.name ? -1 : 1).flatMap((entry) => {
    const path = `${directory}/${entry.name}`;
    const { uid, mode } = Deno.lstatSync(path);
    return [`${path} ${uid} ${mode}`, ...entry.isDirectory ? ownersIn(path) : []];
  });
}

async function giveAway(directory: string): Promise<void> {
  for (const line of ownersIn(directory)) await Deno.chown(line.replace(/ \d+ \d+$/, ""), OTHER, OTHER);
  await Deno.chown(directory, OTHER, OTHER);
}

/** As `sudo -E` starts it: HOME is that of the user, and nothing else says where the home is. */
async function asRoot(home: TemporaryHome, words: readonly string[]): Promise<Finished> {
  return await runInProcess(words, { home, env: { AGENTCLI_HOME: null } });
}

/** Commands that read the home, and commands that write it. */
const COMMANDS: readonly (readonly string[])[] = [
  ["config", "set", "default_model", "x", "--yes"],
  ["config", "get", "default_model"],
  ["config", "list"],
  ["providers", "list"],
  ["providers", "add", "p", "--base-url", "http://127.0.0.1:9/v1"],
  ["init-providers", "--host", "127.0.0.1:9", "--timeout", "1"],
  ["run", "--model", "demo", "hello"],
  ["sessions", "list"],
  ["local-model", "status"],
  ["editor", "list"],
  ["editor", "add", "hook", "no-cloud-guard", "--scope", "user", "--yes"],
];

for (const [what, isMade] of [["that is there", true], ["that is not made yet", false]] as const) {
  Deno.test({
    name: `root neither obeys nor changes a home ${what} in somebody else's directory`,
    ignore: !isRoot,
    async fn() {
      await using home = await temporaryHome();
      if (isMade) await configure(home, { a: { baseUrl: "http://127.0.0.1:9/v1" } }, { default_model: "theirs" });
      await giveAway(home.home);
      const before = ownersIn(home.home);
      for (const words of COMMANDS) {
        const { code, stdout, stderr } = await asRoot(home, words);
        const told = stdout + stderr;
        assert.equal(code, 3, `${words.join(" ")}: ${told}`);
        assert.match(told, /belongs to another user \(uid 54321\), and this is root/, words.join(" "));
        assert.match(
          told,
          /run it as that user, or .* sudo -H agentcli …, in a container AGENTCLI_HOME=\/var\/lib\/agentcli/,
          words.join(" "),
        );
        assert.doesNotMatch(stdout, /theirs/);
      }
      assert.deepEqual(ownersIn(home.home), before);
      // What is protected stands in the project: that is said all the same.
      const protectedPaths = await asRoot(home, ["secrets", "list"]);
      assert.match(protectedPaths.stdout, /provider: none \(the home .* belongs to another user/);
      const checked = await asRoot(home, ["doctor"]);
      assert.equal(checked.code, 1);
      assert.match(checked.stdout, /\[FAIL\] home.*belongs to another user/);
      assert.deepEqual(ownersIn(home.home), before);
    },
  });
}

Deno.test({
  name: "root with a home of its own works, whoever HOME belongs to",
  ignore: !isRoot,
  async fn() {
    await using home = await temporaryHome();
    await giveAway(home.home);
    const before = ownersIn(home.home);
    const env = { AGENTCLI_HOME: `${home.root}/of root/deep` };
    const set = await runInProcess(["config", "set", "default_model", "x", "--yes"], { home, env });
    assert.equal(set.code, 0, set.stderr);
    assert.equal((await runInProcess(["config", "get", "default_model"], { home, env })).stdout, "x\n");
    assert.deepEqual(ownersIn(home.home), before);
  },
});
