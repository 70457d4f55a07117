/**
 * The packages for Debian and Fedora in a fresh root: installed, run, removed. AGENTCLI_RELEASE names a release with
 * real binaries.
 */
import assert from "node:assert/strict";
import { writeDeb, writeRpm } from "../../scripts/packaging/linux.ts";
import { outputOf } from "../../src/platform/process_group.ts";

const release = Deno.env.get("AGENTCLI_RELEASE");

/** A folder with a program and a bundle: of the release, or scripts that answer as they do. */
async function sources(folder: string): Promise<{ binary: string; bundle: string; says: RegExp }> {
  if (release !== undefined) {
    const binary = `${release}/agentcli-x86_64-unknown-linux-gnu`;
    return { binary, bundle: `${release}/agentcli.js`, says: /^\d+\.\d+\.\d+ \(agentcli\)\n$/ };
  }
  const [binary, bundle] = [`${folder}/binary`, `${folder}/bundle.js`];
  await Deno.writeTextFile(binary, "#!/bin/sh\necho stand-in\n", { mode: 0o755 });
  await Deno.writeTextFile(bundle, "console.log(`completions of ${Deno.args[1]}`);\n");
  return { binary, bundle, says: /^stand-in\n$/ };
}

async function filesOf(folder: string, at = ""): Promise<string[]> {
  const found: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(`${folder}/${at}`)) {
    found.push(...isDirectory ? await filesOf(folder, `${at}${name}/`) : [`${at}${name}`]);
  }
  return found.sort();
}

/** Runs a program that installs. */
async function done(program: string, ...args: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command(program, {
    args,
    env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
    stdout: "null",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
}

const FORMATS = [
  {
    family: "Debian",
    tool: "dpkg-deb",
    write: writeDeb,
    zsh: "zsh/vendor-completions",
    license: "doc/agentcli/copyright",
    async prepare(root: string) {
      for (const path of ["updates", "info"]) await Deno.mkdir(`${root}/var/lib/dpkg/${path}`, { recursive: true });
      await Deno.writeTextFile(`${root}/var/lib/dpkg/status`, "");
    },
    install: (root: string, file: string) =>
      done("dpkg", `--root=${root}`, "--force-not-root", `--log=${root}/log`, "--install", file),
    remove: (root: string) =>
      done("dpkg", `--root=${root}`, "--force-not-root", `--log=${root}/log`, "--purge", "agentcli"),
  },
  {
    family: "Fedora",
    tool: "rpmbuild",
    write: writeRpm,
    zsh: "zsh/site-functions",
    license: "licenses/agentcli/LICENSE",
    prepare: (root: string) => Deno.mkdir(root),
    install: (root: string, file: string) => done("rpm", `--root=${root}`, "--dbpath=/var/lib/rpm", "--install", file),
    remove: (root: string) => done("rpm", `--root=${root}`, "--dbpath=/var/lib/rpm", "--erase", "agentcli"),
  },
];

for (const { family, tool, write, zsh, license, prepare, install, remove } of FORMATS) {
  const isHere = Deno.build.os === "linux" &&
    (await outputOf(new Deno.Command(tool, { args: ["--version"] })))?.success;
  Deno.test({
    name: `the package for ${family} is installed, runs, and is removed without a trace${
      isHere ? "" : ` (skipped: no ${tool})`
    }`,
    ignore: !isHere || Deno.uid() !== 0,
    async fn() {
      const folder = await Deno.makeTempDir();
      try {
        const { binary, bundle, says } = await sources(folder);
        const source = { version: "1.2.3", processor: "x86_64", binary, bundle, seconds: 1_700_000_000 } as const;
        const name = await write(folder, source);
        const first = await Deno.readFile(`${folder}/${name}`);
        await write(folder, source);
        assert.deepEqual(await Deno.readFile(`${folder}/${name}`), first, "the same bytes from the same input");
        if (release === undefined) {
          assert.match(await write(folder, { ...source, processor: "aarch64" }), /(?:arm64|aarch64)\.(?:deb|rpm)$/);
        }
        const root = `${folder}/root`;
        await prepare(root);
        await install(root, `${folder}/${name}`);
        assert.deepEqual(
          await filesOf(root, "usr/"),
          [
            "usr/bin/agentcli",
            "usr/share/bash-completion/completions/agentcli",
            `usr/share/${license}`,
            "usr/share/fish/vendor_completions.d/agentcli.fish",
            `usr/share/${zsh}/_agentcli`,
          ].sort(),
        );
        const ran = await new Deno.Command(`${root}/usr/bin/agentcli`, { args: ["--version"], env: { HOME: folder } })
          .output();
        assert.match(new TextDecoder().decode(ran.stdout), says);
        await remove(root);
        assert.deepEqual(await filesOf(root, "usr/").catch(() => []), []);
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  });
}
