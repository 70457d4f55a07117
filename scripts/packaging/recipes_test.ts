import assert from "node:assert/strict";
import { parseYaml, plainValue } from "../../src/config/yaml.ts";
import { TARGETS } from "../compile/binary.ts";
import { readSums, recipes } from "./recipes.ts";

const ADDRESS = "https://releases.invalid/v1.2.3";
const names = [
  "agentcli.js",
  ...TARGETS.map((target) => `agentcli-${target}${target.includes("windows") ? ".exe" : ""}`),
];
const sums = readSums(names.map((name, at) => `${String(at).repeat(64)}  ${name}\n`).join(""));
const made = recipes({ version: "1.2.3", address: ADDRESS, sums });

Deno.test("every recipe names files of the release with their sums, and the version", () => {
  const named = new Set<string>();
  for (const [path, text] of made) {
    for (const [, name = ""] of text.matchAll(/https:\/\/releases\.invalid\/v1\.2\.3\/([\w.-]+)/g)) {
      assert.ok(text.includes(sums.get(name) ?? assert.fail(`${path} names ${name}`)), `${path}: the sum of ${name}`);
      named.add(name);
    }
    assert.ok(path.startsWith("nix/") || text.includes("1.2.3\n") || text.includes('"1.2.3"'), path);
  }
  assert.deepEqual([...named].sort(), [...names].sort());
});

Deno.test("the recipes are what their readers parse", async () => {
  assert.equal(JSON.parse(made.get("scoop/agentcli.json") ?? "").architecture.arm64.hash.length, 64);
  for (const [path, text] of made) {
    if (!path.endsWith(".yaml")) continue;
    const manifest = plainValue(parseYaml(text)) as Record<string, unknown>;
    assert.deepEqual([manifest.PackageVersion, manifest.ManifestVersion], ["1.2.3", "1.6.0"], path);
  }
  const bash = new Deno.Command("bash", { args: ["-n"], stdin: "piped", stderr: "piped" }).spawn();
  const writer = bash.stdin.getWriter();
  await writer.write(new TextEncoder().encode(made.get("aur/PKGBUILD")));
  await writer.close();
  assert.equal((await bash.output()).code, 0);
});

Deno.test("a file without a sum is named", () => {
  const some = new Map([...sums].filter(([name]) => name !== "agentcli.js"));
  assert.throws(() => recipes({ version: "1.2.3", address: ADDRESS, sums: some }), /SHA256SUMS has no agentcli\.js/);
});
