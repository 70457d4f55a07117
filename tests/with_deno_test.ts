/** What a newcomer is told when Deno cannot be fetched. npm and df are stand-ins; the network is asked for nothing. */
import assert from "node:assert/strict";
import { REPOSITORY, type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const ignore = Deno.build.os === "windows";

/** Sources the script with these programs in front of those of the system, and a Deno that is too old. */
async function findDeno(home: TemporaryHome, tools: Record<string, string>) {
  const all = { deno: 'echo "deno 1.0.0"', df: "printf 'h\\n/ 0 0 999999999 0%% /\\n'", ...tools };
  for (const [name, text] of Object.entries(all)) {
    await Deno.writeTextFile(`${home.tmp}/${name}`, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  }
  const { code, stderr } = await new Deno.Command("sh", {
    args: ["-c", `. '${REPOSITORY}/scripts/with_deno.sh'; echo found`],
    clearEnv: true,
    env: { HOME: home.home, PATH: `${home.tmp}:/usr/bin:/bin` },
    stdin: "null",
  }).output();
  return { code, lines: new TextDecoder().decode(stderr).trimEnd().split("\n") };
}

Deno.test({
  name: "too little room for Deno is said in one line, before npm is asked",
  ignore,
  fn: async () => {
    await using home = await temporaryHome();
    const { code, lines } = await findDeno(home, {
      df: "printf 'h\\n/ 0 0 40960 0%% /\\n'",
      npm: `echo ran > '${home.root}/ran'`,
    });
    assert.equal(code, 1);
    assert.equal(lines.length, 1, lines.join("\n"));
    assert.match(lines[0] ?? "", /needs 150 MB in .*\.cache\/agentcli for Deno, and 40 MB are free; .*XDG_CACHE_HOME/);
    await assert.rejects(Deno.stat(`${home.root}/ran`), Deno.errors.NotFound);
  },
});

Deno.test({
  name: "a failing npm has its say, tries no longer than seconds, and our last line says what to do",
  ignore,
  fn: async () => {
    await using home = await temporaryHome();
    const npm = `printf '%s\\n' "$@" > '${home.root}/words'; echo 'npm error code EAI_AGAIN' >&2; exit 1`;
    const { code, lines } = await findDeno(home, { npm });
    assert.equal(code, 1);
    assert.equal(lines.at(-2), "npm error code EAI_AGAIN");
    assert.match(lines.at(-1) ?? "", /^npm could not fetch Deno .* run this again with the network, or install Deno/);
    const words = (await Deno.readTextFile(`${home.root}/words`)).split("\n");
    assert.ok(words.includes("--fetch-retries=1") && words.includes("--fetch-retry-mintimeout=1000"));
    assert.deepEqual([...Deno.readDirSync(`${home.home}/.cache/agentcli`)], []);
  },
});

Deno.test({
  name: "an npm that installs nothing and says nothing is reported with the disk space that is left",
  ignore,
  fn: async () => {
    await using home = await temporaryHome();
    const { code, lines } = await findDeno(home, { npm: "exit 0" });
    assert.equal(code, 1);
    assert.match(lines.at(-1) ?? "", /none for this system, or no room for it \(976562 MB are free in .*\); .*by hand/);
  },
});
