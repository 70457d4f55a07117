/** The package for Debian in a fresh root: installed, run, purged. AGENTCLI_RELEASE names a release with real binaries. */
import assert from "node:assert/strict";
import { writeDeb } from "../../scripts/packaging/deb.ts";
import { outputOf } from "../../src/platform/process.ts";

const hasDpkg = Deno.build.os === "linux" &&
  (await outputOf(new Deno.Command("dpkg-deb", { args: ["--version"] })))?.success;
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

Deno.test({
  name: `the package for Debian is installed, runs, and is purged without a trace${
    hasDpkg ? "" : " (skipped: no dpkg)"
  }`,
  ignore: !hasDpkg || Deno.uid() !== 0,
  async fn() {
    const folder = await Deno.makeTempDir();
    try {
      const { binary, bundle, says } = await sources(folder);
      const source = { version: "1.2.3", processor: "x86_64", binary, bundle, seconds: 1_700_000_000 } as const;
      const name = await writeDeb(folder, source);
      const first = await Deno.readFile(`${folder}/${name}`);
      await writeDeb(folder, source);
      assert.deepEqual(await Deno.readFile(`${folder}/${name}`), first, "the same bytes from the same input");

      const root = `${folder}/root`;
      for (const path of ["updates", "info"]) await Deno.mkdir(`${root}/var/lib/dpkg/${path}`, { recursive: true });
      await Deno.writeTextFile(`${root}/var/lib/dpkg/status`, "");
      const empty = await filesOf(root, "usr/").catch(() => []);
      const dpkg = async (...args: string[]) => {
        const { success, stderr } = await new Deno.Command("dpkg", {
          args: [`--root=${root}`, "--force-not-root", `--log=${folder}/log`, ...args],
          env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin" },
          stdout: "null",
        }).output();
        assert.ok(success, new TextDecoder().decode(stderr));
      };
      await dpkg("--install", `${folder}/${name}`);
      assert.deepEqual(await filesOf(root, "usr/"), [
        "usr/bin/agentcli",
        "usr/share/bash-completion/completions/agentcli",
        "usr/share/doc/agentcli/copyright",
        "usr/share/fish/vendor_completions.d/agentcli.fish",
        "usr/share/zsh/vendor-completions/_agentcli",
      ]);
      const ran = await new Deno.Command(`${root}/usr/bin/agentcli`, { args: ["--version"], env: { HOME: folder } })
        .output();
      assert.match(new TextDecoder().decode(ran.stdout), says);
      await dpkg("--purge", "agentcli");
      assert.deepEqual(await filesOf(root, "usr/").catch(() => []), empty);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
});
