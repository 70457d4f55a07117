/** Threat 104: files of the tool's home are for its owner alone, whatever the umask, at every moment. */
import assert from "node:assert/strict";
import { ask, say, startFakeServer, want } from "../helpers/fake_server.ts";
import { configure, programCommand, startCommand, type TemporaryHome, temporaryHome } from "../helpers/program.ts";

/** Paths below `directory` that others could read, as `mode path`. */
function looseBelow(directory: string): string[] {
  const found: string[] = [];
  const look = (path: string) => {
    let status: Deno.FileInfo;
    try {
      status = Deno.lstatSync(path);
    } catch {
      return;
    }
    const mode = (status.mode ?? 0) & 0o777;
    if (!status.isSymlink && mode !== (status.isDirectory ? 0o700 : 0o600)) found.push(`${mode.toString(8)} ${path}`);
    if (!status.isDirectory) return;
    try {
      for (const entry of Deno.readDirSync(path)) look(`${path}/${entry.name}`);
    } catch {
      // Gone meanwhile.
    }
  };
  look(directory);
  return found;
}

/** Runs the program with no umask at all, looking at its home all the time; gives what was loose at any moment. */
async function runOpenly(
  home: TemporaryHome,
  args: readonly string[],
): Promise<{ loose: Set<string>; code: number; text: string }> {
  const argv = ["/bin/sh", "-c", 'umask 000; exec "$@"', "sh", ...programCommand(), ...args];
  await using program = startCommand(argv, { home });
  await program.closeInput();
  const loose = new Set<string>();
  let running = true;
  const ended = program.finished.then(() => running = false);
  while (running) {
    for (const path of looseBelow(home.agentcliHome)) loose.add(path);
    let timer: ReturnType<typeof setTimeout> | undefined;
    await Promise.race([ended, new Promise<void>((resolve) => timer = setTimeout(resolve, 1))]);
    clearTimeout(timer);
  }
  for (const path of looseBelow(home.agentcliHome)) loose.add(path);
  const { code, stdout, stderr } = await program.finished;
  return { loose, code, text: stdout + stderr };
}

function present(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map((entry) => entry.name);
}

Deno.test({
  name: "with umask 000 every file of the home is 0600 and every directory 0700, at every moment",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using home = await temporaryHome();
    await using server = startFakeServer({
      script: [
        ask(want("write", { path: "a.txt", content: "new\n" })),
        ask(want("read", { path: "a.txt" })),
        say("Done."),
      ],
    });
    const lines: string[][] = [
      ["init-providers", "--timeout", "100"],
      ["providers", "add", "loc", "--base-url", server.baseUrl, "--api-key", "sk-1234567890abcdef", "--model", "fake"],
      ["config", "set", "default_provider", "loc", "--yes"],
      ["providers", "model", "add", "loc", "other"],
      ["run", "write it", "--model", "loc:fake", "--permission-mode", "acceptEdits"],
      ["providers", "list"],
    ];
    for (const args of lines) {
      const { loose, code, text } = await runOpenly(home, args);
      assert.equal(code, 0, `${args.join(" ")}\n${text}`);
      assert.deepEqual([...loose], [], args.join(" "));
    }
    assert.ok(present(home.agentcliHome).includes("providers.yaml"));
    assert.equal(await home.read("a.txt"), "new\n");
  },
});

Deno.test({
  name: "a file and a directory that were left open are closed when they are met",
  ignore: Deno.build.os === "windows",
  async fn() {
    await using home = await temporaryHome();
    await configure(home, { loc: { baseUrl: "http://127.0.0.1:9/v1" } });
    await Deno.chmod(home.agentcliHome, 0o755);
    await Deno.chmod(`${home.agentcliHome}/providers.yaml`, 0o644);
    assert.equal(looseBelow(home.agentcliHome).length, 2, "control: both are open before");
    const { code, text } = await runOpenly(home, ["providers", "list"]);
    assert.equal(code, 0, text);
    assert.deepEqual(looseBelow(home.agentcliHome), []);
  },
});
