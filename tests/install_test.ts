import { outputOf } from "../src/platform/process_group.ts";
import assert from "node:assert/strict";
import { serveFolder } from "../scripts/release/serve_folder.ts";
import { sha256, writeSums } from "../scripts/release/sums.ts";
import { REPOSITORY } from "./helpers/program.ts";

const BINARY = "agentcli-x86_64-unknown-linux-gnu";
const PROGRAM = `#!/bin/sh
case $1 in
  --version) echo "9.8.7 (agentcli)" ;;
  completions) echo "complete -W one agentcli # $2" ;;
esac
`;
const ignore = Deno.build.os === "windows";
const test = (name: string, fn: (test: Deno.TestContext) => Promise<void>) => Deno.test({ name, ignore }, fn);

/** What the script calls besides. */
const TOOLS = ["sh", "sed", "basename", "dirname", "mkdir", "rm", "mv", "cp", "cut", "awk", "chmod", "grep"];

interface Place extends AsyncDisposable {
  home: string;
  release: string;
  /** Programs that are found before those of the system. */
  tools: string;
}

async function script(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(path, text);
  await Deno.chmod(path, 0o755);
}

/** An empty home and a release whose binary is a script. The system says that it is Linux on x86_64. */
async function place(): Promise<Place> {
  const folder = await Deno.makeTempDir();
  const [home, release, tools] = [`${folder}/a home's`, `${folder}/release`, `${folder}/tools`];
  for (const path of [home, release, tools]) await Deno.mkdir(path);
  await Deno.writeTextFile(`${release}/${BINARY}`, PROGRAM);
  await Deno.writeTextFile(`${release}/agentcli.js`, 'console.log("9.8.7 (agentcli)");\n');
  await writeSums(release);
  await script(`${tools}/uname`, "#!/bin/sh\ncase $1 in -m) echo x86_64 ;; *) echo Linux ;; esac\n");
  return { home, release, tools, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}

async function install(args: readonly string[], { home, tools }: Place, env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await new Deno.Command("sh", {
    args: [`${REPOSITORY}/scripts/install.sh`, ...args],
    clearEnv: true,
    env: { HOME: home, PATH: `${tools}:/usr/local/bin:/usr/bin:/bin`, SHELL: "/bin/bash", ...env },
    stdin: "null",
  }).output();
  return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
}

async function filesOf(folder: string): Promise<string[]> {
  const found: string[] = [];
  for await (const entry of Deno.readDir(folder)) {
    if (entry.isDirectory) found.push(...(await filesOf(`${folder}/${entry.name}`)));
    else found.push(`${folder}/${entry.name}`);
  }
  return found.sort();
}

async function whereIs(tool: string): Promise<string | null> {
  for (const folder of ["/usr/local/bin", "/usr/bin", "/bin"]) {
    const path = `${folder}/${tool}`;
    if (await Deno.stat(path).then(() => true, () => false)) return path;
  }
  return null;
}

/** One line that says why, and nothing left behind. */
async function assertRefused(ran: Awaited<ReturnType<typeof install>>, why: RegExp, { home }: Place): Promise<void> {
  assert.equal(ran.code, 1, ran.stdout);
  assert.match(ran.stderr, why);
  assert.equal(ran.stderr.trimEnd().split("\n").length, 1, ran.stderr);
  assert.deepEqual(await filesOf(home), []);
}

test("install.sh installs a folder, sets up the shell, and takes all of it away again", async () => {
  await using at = await place();
  const start = `${at.home}/.bashrc`;
  await Deno.writeTextFile(start, "alias ll='ls -l'");
  const first = await install(["--from", at.release], at);
  assert.equal(first.code, 0, first.stderr);
  assert.match(first.stdout, /^9\.8\.7 \(agentcli\) is installed: /);
  const asked = await new Deno.Command("bash", {
    args: ["--norc", "-c", '. "$HOME/.bashrc"; agentcli --version; complete -p agentcli'],
    clearEnv: true,
    env: { HOME: at.home, PATH: "/usr/bin:/bin" },
  }).output();
  assert.match(new TextDecoder().decode(asked.stdout), /^9\.8\.7 \(agentcli\)\ncomplete -W/);
  // Again: nothing is doubled.
  assert.equal((await install(["--from", at.release], at)).code, 0);
  assert.equal((await Deno.readTextFile(start)).match(/>>> agentcli >>>/g)?.length, 1);
  const gone = await install(["--uninstall"], at);
  assert.equal(gone.code, 0, gone.stderr);
  assert.deepEqual(await filesOf(at.home), [start]);
  assert.equal(await Deno.readTextFile(start), "alias ll='ls -l'\n");
  assert.match((await install(["--uninstall"], at)).stderr, /nothing is installed/);
});

test("install.sh takes a start-up file away that it made, and no other", async () => {
  for (const text of [null, "", "# mine\n"]) {
    for (const added of ["", "alias ll='ls -l'\n"]) {
      await using at = await place();
      const start = `${at.home}/.bashrc`;
      if (text !== null) await Deno.writeTextFile(start, text);
      for (let round = 0; round < 2; round++) assert.equal((await install(["--from", at.release], at)).code, 0);
      await Deno.writeTextFile(start, added, { append: true });
      assert.equal((await install(["--uninstall"], at)).code, 0);
      const isLeft = text !== null || added !== "";
      assert.deepEqual(await filesOf(at.home), isLeft ? [start] : []);
      if (isLeft) assert.equal(await Deno.readTextFile(start), (text ?? "") + added);
    }
  }
});

test("install.sh changes no shell's files when asked not to, and takes another folder", async () => {
  await using at = await place();
  const { code, stdout } = await install(["--from", at.release, "--bin", `${at.home}/b`, "--no-shell"], at);
  assert.equal(code, 0);
  assert.match(stdout, /is not on PATH/);
  assert.deepEqual(await filesOf(at.home), [`${at.home}/.local/share/agentcli/installed`, `${at.home}/b/agentcli`]);
});

test("install.sh writes start-up files that zsh, fish and sh read without a word", async (test) => {
  await using at = await place();
  const shells = [["zsh", ".zshrc"], ["fish", ".config/fish/conf.d/agentcli.fish"], ["sh", ".profile"]] as const;
  for (const [shell, file] of shells) {
    const started = await outputOf(new Deno.Command(shell, { args: ["-c", "true"] }));
    if (started === null) continue;
    await test.step(shell, async () => {
      assert.equal((await install(["--from", at.release], at, { SHELL: `/bin/${shell}` })).code, 0);
      await Deno.writeTextFile(`${at.home}/.local/share/agentcli/completions.${shell}`, "");
      const asked = await new Deno.Command(shell, {
        args: ["-c", `. "$HOME/${file}"; agentcli --version`],
        clearEnv: true,
        env: { HOME: at.home, PATH: "/usr/bin:/bin", ZDOTDIR: at.home },
      }).output();
      assert.equal(new TextDecoder().decode(asked.stderr), "");
      assert.equal(new TextDecoder().decode(asked.stdout), "9.8.7 (agentcli)\n");
      assert.equal((await install(["--uninstall"], at)).code, 0);
    });
  }
});

test("install.sh installs from an address with wget where there is no curl", async () => {
  await using at = await place();
  const needed = [...TOOLS, "df", "sha256sum", "wget"];
  const paths = await Promise.all(needed.map((tool) => whereIs(tool)));
  if (paths.includes(null)) return;
  for (const [index, path] of paths.entries()) await Deno.symlink(path ?? "", `${at.tools}/${needed[index]}`);
  const server = serveFolder(at.release);
  const address = `http://127.0.0.1:${server.addr.port}`;
  const only = { PATH: at.tools };
  const ran = await install(["--from", address, "--no-shell"], at, only);
  assert.equal(ran.code, 0, ran.stderr);
  assert.equal((await install(["--uninstall"], at)).code, 0);
  await assertRefused(await install(["--from", `${address}/none`], at, only), /has no SHA256SUMS/, at);
  await server.shutdown();
  await assertRefused(await install(["--from", address], at, only), /cannot be reached/, at);
});

test("install.sh installs from an address", async () => {
  await using at = await place();
  await using server = serveFolder(at.release);
  const { code, stderr } = await install(["--from", `http://127.0.0.1:${server.addr.port}/`], at);
  assert.equal(code, 0, stderr);
  assert.equal(await Deno.readTextFile(`${at.home}/.local/bin/agentcli`), PROGRAM);
});

test("install.sh --bundle runs the one file with the Deno that is there", async () => {
  await using at = await place();
  await Deno.symlink(Deno.execPath(), `${at.tools}/deno`);
  const ran = await install(["--from", at.release, "--bundle", "--no-shell"], at);
  assert.equal(ran.code, 0, ran.stderr);
  // The binary in its place afterwards leaves nothing of it.
  assert.equal((await install(["--from", at.release, "--no-shell"], at)).code, 0);
  const files = (await filesOf(at.home)).filter((path) => !path.includes("/.cache/"));
  assert.deepEqual(files, [`${at.home}/.local/bin/agentcli`, `${at.home}/.local/share/agentcli/installed`]);
});

test("what install.sh --bundle installs says in one line that the directory is gone", async () => {
  await using at = await place();
  await Deno.symlink(Deno.execPath(), `${at.tools}/deno`);
  assert.equal((await install(["--bundle", "--from", at.release, "--no-shell"], at)).code, 0);
  const started = async (words: string) => {
    // The shell that starts it has words of its own for that, and so may the one that runs it.
    const command = new Deno.Command("sh", {
      args: ["-c", `mkdir "$HOME/gone" && cd "$HOME/gone" && ${words} exec "$HOME/.local/bin/agentcli" --version`],
      clearEnv: true,
      env: { HOME: at.home, PATH: "/usr/bin:/bin" },
      stdin: "null",
    });
    const { code, stdout, stderr } = await command.output();
    return { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  };
  const gone = await started('rmdir "$HOME/gone" &&');
  assert.equal(gone.code, 2, gone.stderr);
  assert.match(gone.stderr, /agentcli: the directory you are in is gone; go into one that is there\n$/);
  assert.equal(gone.stdout, "");
  const there = await started("");
  assert.deepEqual([there.code, there.stdout], [0, "9.8.7 (agentcli)\n"], "control");
});

test("install.sh installs nothing that differs from its sum, or from what is known of the sums", async () => {
  await using at = await place();
  const sums = async () => await sha256(await Deno.readFile(`${at.release}/SHA256SUMS`));
  const known = await sums();
  await Deno.writeTextFile(`${at.release}/${BINARY}`, PROGRAM + "# changed\n");
  await using server = serveFolder(at.release);
  const places = [at.release, `http://127.0.0.1:${server.addr.port}`];
  for (const from of places) await assertRefused(await install(["--from", from], at), /is damaged: its SHA-256/, at);
  // Whoever replaced the file replaced the sums, too.
  await writeSums(at.release);
  for (const from of places) {
    await assertRefused(await install(["--from", from, "--sums", known], at), /SHA256SUMS of .* is another one/, at);
  }
  const ran = await install(["--from", at.release, "--sums", (await sums()).toUpperCase()], at);
  assert.equal(ran.code, 0, ran.stderr);
});

test("install.sh names what is missing of a release, an address, a folder", async () => {
  await using at = await place();
  const server = serveFolder(at.tools);
  const address = `http://127.0.0.1:${server.addr.port}`;
  await assertRefused(await install(["--from", address], at), /has no SHA256SUMS/, at);
  await server.shutdown();
  await assertRefused(await install(["--from", address], at), /cannot be reached \(no network/, at);
  await assertRefused(await install(["--from", at.tools], at), /no folder of a release/, at);
  await assertRefused(await install([], at), /name the release/, at);
  await assertRefused(await install(["--from"], at), /--from needs a value/, at);
  const mistyped = await install(["--form", "x"], at);
  assert.equal(mistyped.code, 2);
  await assertRefused({ ...mistyped, code: 1 }, /unknown option --form/, at);
});

test("install.sh takes no address that is open to changes on the way, and shows no password", async () => {
  await using at = await place();
  const ran = await install(["--from", "http://user:word@example.com/r"], at);
  await assertRefused(ran, /http:\/\/example\.com\/r is not encrypted/, at);
  await assertRefused(await install(["--from", "http://127.0.0.1.example.com/r"], at), /is not encrypted/, at);
  await assertRefused(await install(["--from", "ftp://127.0.0.1/r"], at), /only https addresses and folders/, at);
});

test("install.sh says when there is no binary for the processor or the system", async () => {
  await using at = await place();
  const uname = (machine: string, system: string) =>
    script(`${at.tools}/uname`, `#!/bin/sh\ncase $1 in -m) echo ${machine} ;; *) echo ${system} ;; esac\n`);
  await uname("riscv64", "Linux");
  await assertRefused(await install(["--from", at.release], at), /no binary for riscv64 processors/, at);
  await uname("amd64", "FreeBSD");
  await assertRefused(await install(["--from", at.release], at), /no binary for FreeBSD/, at);
  await uname("arm64", "Darwin");
  await assertRefused(await install(["--from", at.release], at), /has no agentcli-aarch64-apple-darwin/, at);
});

test("install.sh puts nothing in place that does not run", async () => {
  await using at = await place();
  await Deno.writeTextFile(`${at.release}/${BINARY}`, "\x7fELF of another machine");
  await writeSums(at.release);
  await assertRefused(await install(["--from", at.release], at), /does not run on this system/, at);
});

test("install.sh --bundle says why Deno does not run the file", async () => {
  await using at = await place();
  await Deno.symlink(Deno.execPath(), `${at.tools}/deno`);
  await Deno.mkdir(`${at.home}/.npmrc`);
  // Deno leaves its caches there, some or none of them: it ends while it still opens them.
  const cache = { XDG_CACHE_HOME: `${at.tools}/cache` };
  await assertRefused(
    await install(["--bundle", "--from", at.release], at, cache),
    /agentcli\.js does not run with .+\/deno: Error loading \.npmrc at /,
    at,
  );
});

test("install.sh --bundle says when Deno is old or missing", async () => {
  await using at = await place();
  for (const version of ["1.46.3", "2.7.10", "2.6.0"]) {
    await script(`${at.tools}/deno`, `#!/bin/sh\necho "deno ${version} (stable)"\n`);
    await assertRefused(await install(["--from", at.release, "--bundle"], at), /is too old, 2\.7\.11 is needed/, at);
  }
  await Deno.remove(`${at.tools}/deno`);
  for (const tool of ["sh", "sed", "basename", "dirname", "cat"]) {
    await Deno.symlink(`/bin/${tool}`, `${at.tools}/${tool}`);
  }
  const ran = await install(["--from", at.release, "--bundle"], at, { PATH: at.tools });
  await assertRefused(ran, /there is no deno on PATH/, at);
});

test("install.sh leaves a command alone that it did not put there", async () => {
  await using at = await place();
  const command = `${at.home}/.local/bin/agentcli`;
  await Deno.mkdir(`${at.home}/.local/bin`, { recursive: true });
  await Deno.writeTextFile(command, "of somebody else");
  assert.match((await install(["--from", at.release], at)).stderr, /was not installed by this script/);
  assert.equal(await Deno.readTextFile(command), "of somebody else");
});

test("install.sh says that the disk is full", async () => {
  await using at = await place();
  await Deno.writeTextFile(`${at.release}/${BINARY}`, PROGRAM + "#".repeat(300_000));
  await writeSums(at.release);
  await using server = serveFolder(at.release);
  const mount = new Deno.Command("mount", {
    args: ["-t", "tmpfs", "-o", "size=128k", "tmpfs", at.home],
    stderr: "null",
  });
  const mounted = await outputOf(mount);
  if (!mounted?.success) return;
  try {
    await assertRefused(await install(["--from", at.release], at), /no space left in .* MB free/, at);
    const address = `http://127.0.0.1:${server.addr.port}`;
    await assertRefused(await install(["--from", address], at), /no space left in /, at);
  } finally {
    await new Deno.Command("umount", { args: [at.home] }).output();
  }
});

test("install.sh installs beside a start-up file that cannot be written, and says so", async () => {
  await using at = await place();
  await Deno.mkdir(`${at.home}/.bashrc`);
  const ran = await install(["--from", at.release], at);
  assert.deepEqual([ran.code, ran.stderr], [0, ""]);
  assert.match(ran.stdout, /is installed: /);
  assert.match(ran.stdout, /^The shell is not set up: .*\.bashrc cannot be written to\. The completions are in /m);
  assert.match(ran.stdout, /is not on PATH/);
  await Deno.remove(`${at.home}/.bashrc`);
  await Deno.writeTextFile(`${at.home}/.bashrc`, "# >>> agentcli >>>\n");
  const damaged = await install(["--from", at.release], at);
  assert.match(damaged.stdout, /has the line '# >>> agentcli >>>' and not/);
  const gone = await install(["--uninstall"], at);
  assert.equal(gone.code, 0);
  assert.match(gone.stderr, /take our lines out by hand/);
  assert.deepEqual(await filesOf(at.home), [`${at.home}/.bashrc`]);
});

test("install.sh ends a download that stalls, and uninstall takes what a killed one left", async () => {
  await using at = await place();
  await using server = serveFolder(at.release);
  const address = `http://127.0.0.1:${server.addr.port}`;
  await script(`${at.tools}/curl`, `#!/bin/sh\nprintf '%s\\n' "$@" > '${at.tools}/words'\nexit 28\n`);
  await assertRefused(await install(["--from", address], at), /stopped sending; try again/, at);
  const words = (await Deno.readTextFile(`${at.tools}/words`)).split("\n");
  assert.equal(words[words.indexOf("--speed-time") + 1], "30");
  await Deno.remove(`${at.tools}/curl`);
  assert.equal((await install(["--from", address, "--no-shell"], at)).code, 0);
  await Deno.mkdir(`${at.home}/.local/bin/.agentcli-install.1`);
  assert.equal((await install(["--uninstall"], at)).code, 0);
  assert.deepEqual([...Deno.readDirSync(`${at.home}/.local/bin`)], []);
});

test("install.sh --bundle takes the Deno that a checkout's scripts fetched, and says so", async () => {
  await using at = await place();
  await Deno.mkdir(`${at.home}/.cache/agentcli/deno-2.9.6/bin`, { recursive: true });
  const deno = `${at.home}/.cache/agentcli/deno-2.9.6/bin/deno`;
  await Deno.symlink(Deno.execPath(), deno);
  for (const tool of [...TOOLS, "cat", "sha256sum"]) {
    await Deno.symlink(await whereIs(tool) ?? assert.fail(tool), `${at.tools}/${tool}`);
  }
  const ran = await install(["--from", at.release, "--bundle", "--no-shell"], at, { PATH: at.tools });
  assert.equal(ran.code, 0, ran.stderr);
  assert.ok(ran.stdout.includes(`It runs with ${deno}, which has to stay there.`));
});

Deno.test({
  name: "root installs nothing into the home of somebody else",
  ignore: ignore || Deno.uid() !== 0,
  async fn() {
    await using at = await place();
    await Deno.chown(at.home, 54321, 54321);
    const refused = await install(["--from", at.release], at);
    await assertRefused(refused, /belongs to another user, and this is root; run it without sudo/, at);
    await assert.rejects(Deno.stat(`${at.home}/.local`), Deno.errors.NotFound);
    const own = { XDG_DATA_HOME: `${at.tools}/share` };
    const elsewhere = await install(["--from", at.release, "--bin", `${at.tools}/own`, "--no-shell"], at, own);
    assert.equal(elsewhere.code, 0, elsewhere.stderr);
  },
});
