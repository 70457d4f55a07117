/** `agentcli sandbox`: a command in the view, as a person or another program runs it. */
import assert from "node:assert/strict";
import { configure, programCommand, runProgram, startCommand, startProgram } from "../helpers/program.ts";
import { openStage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";

const bubblewrap = { ignore: !hasBubblewrap() };

Deno.test(
  "a command runs without the protected paths, and its output, input and exit code are passed on",
  bubblewrap,
  async () => {
    await using stage = await openStage({ git: true });
    const { home, project } = stage;
    const script = 'cat; cat pub.txt .env secrets/k.txt; ls .git; echo made > made; echo "$1" >&2; exit 7';
    const done = await runProgram(["sandbox", "--", "sh", "-c", script, "sh", "--to stderr"], {
      home,
      stdin: "input\n",
    });
    assert.equal(done.code, 7, done.stderr);
    assert.equal(done.stdout, "input\nPUB_marker public text\n");
    assert.match(done.stderr, /\.env: Permission denied[^]*--to stderr/);
    assert.ok(!done.stdout.includes(stage.canary("env")));
    assert.equal(await Deno.readTextFile(`${project}/made`), "made\n");
    const below = await runProgram(["sandbox", "--", "pwd"], { home, cwd: `${project}/sub` })
      .catch(() => null);
    assert.equal(below, null, "the directory is not there yet");
    await Deno.mkdir(`${project}/sub`);
    assert.equal(
      (await runProgram(["sandbox", "--", "pwd"], { home, cwd: `${project}/sub` })).stdout,
      `${project}/sub\n`,
    );
    assert.equal((await runProgram(["sandbox", "--", "no-such-program"], { home })).code, 127);
    assert.equal((await runProgram(["sandbox"], { home })).code, 2);
  },
);

Deno.test(
  "a directory as standard input leads to nothing that is protected, a file is passed on",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    const { home } = stage;
    const script = "cat /proc/self/fd/0/.env /proc/self/cwd/.env; cat; echo ran";
    const line = [...programCommand(), "sandbox", "--", "sh", "-c", script];
    for (const [input, read] of [[".", ""], ["pub.txt", "PUB_marker public text\n"]]) {
      await using program = startCommand(["sh", "-c", `exec "$@" < ${input}`, "sh", ...line], { home });
      const { stdout } = await program.finished;
      assert.equal(stdout, `${read}ran\n`);
    }
  },
);

Deno.test("a command that is one word is a line for a shell; a name alone is a program", bubblewrap, async () => {
  await using stage = await openStage();
  const { home } = stage;
  const line = await runProgram(["sandbox", "--", "cat pub.txt .env | wc -l; [[ 1 ]] && exit 3"], { home });
  assert.equal(line.code, 3, line.stderr);
  assert.equal(line.stdout.trim(), "1");
  assert.match(line.stderr, /\.env/);
  assert.equal((await runProgram(["sandbox", "--", "pwd"], { home })).stdout, `${stage.project}\n`);
  // Of several words none is read by a shell.
  assert.equal((await runProgram(["sandbox", "--", "echo", "a; b"], { home })).stdout, "a; b\n");
});

Deno.test("it gets what the environment's list names, and no value that is protected", bubblewrap, async () => {
  await using stage = await openStage();
  const { home } = stage;
  const canary = stage.canary("env");
  await configure(home, { p: { baseUrl: "http://127.0.0.1:9/v1", apiKey: "$KEY_OF_P" } }, {
    sandbox: { env: ["GOFLAGS", "DATABASE_URL", "KEY_OF_P"] },
  });
  const env = { GOFLAGS: "-v", DATABASE_URL: `x:${canary}`, KEY_OF_P: "key-of-p", OTHER: "other" };
  const { stdout } = await runProgram(["sandbox", "--", "env"], { home, env });
  assert.match(stdout, /^GOFLAGS=-v$/m);
  assert.doesNotMatch(stdout, /DATABASE_URL|OTHER|KEY_OF_P/);
});

Deno.test("the network is there when it is asked for", bubblewrap, async () => {
  await using stage = await openStage();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const taken = (async () => {
    for await (const connection of listener) {
      connection.close();
      return;
    }
  })();
  const command = ["bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/${listener.addr.port} && echo connected`];
  assert.equal((await runProgram(["sandbox", "--", ...command], { home: stage.home })).stdout, "");
  assert.equal(
    (await runProgram(["sandbox", "--network", "--", ...command], { home: stage.home })).stdout,
    "connected\n",
  );
  await taken;
});

Deno.test(
  "what could run code later goes to quarantine, and where nothing is protected it stays",
  bubblewrap,
  async () => {
    const argv = ["sandbox", "--", "sh", "-c", "mkdir .vscode; echo '{}' > .vscode/tasks.json"];
    await using stage = await openStage();
    const done = await runProgram(argv, { home: stage.home });
    assert.equal(done.code, 0);
    assert.match(
      done.stderr,
      /\.vscode, which could run code later: moved to quarantine.*agentcli quarantine restore \S+\n/,
    );
    await assert.rejects(Deno.stat(`${stage.project}/.vscode/tasks.json`), Deno.errors.NotFound);
    await using open = await openStage({ marker: null });
    assert.equal((await runProgram(argv, { home: open.home })).stderr, "");
    assert.ok(await Deno.stat(`${open.project}/.vscode/tasks.json`));
  },
);

Deno.test("a signal ends the command with everything that it started", bubblewrap, async () => {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    await using stage = await openStage();
    const length = `1${crypto.getRandomValues(new Uint32Array(1)).join("")}`;
    const script = `sleep ${length} & echo started; sleep ${length}`;
    await using program = startProgram(["sandbox", "--", "sh", "-c", script], { home: stage.home });
    await program.stdout.until(/started/);
    program.kill(signal);
    const { code } = await program.finished;
    assert.ok(code === 130 || code === 143, `${signal}: ${code}`);
    const deadline = performance.now() + 5_000;
    for (;;) {
      const { stdout } = await new Deno.Command("/bin/ps", { args: ["-A", "-o", "args="] }).output();
      const left = new TextDecoder().decode(stdout).split("\n").filter((line) => line.includes(`sleep ${length}`));
      if (left.length === 0) break;
      assert.ok(performance.now() < deadline, left.join("\n"));
      await new Promise((on) => setTimeout(on, 20));
    }
  }
});

Deno.test("where there is no sandbox, or nothing to see in one, the command does not run", bubblewrap, async () => {
  await using stage = await openStage();
  const { home, project } = stage;
  // A system without the programs, as far as this process can tell.
  const without = ["bwrap", "--dev-bind", "/", "/"];
  for (const name of ["bwrap", "unshare"]) without.push("--ro-bind", "/dev/null", `/usr/bin/${name}`);
  await using program = startCommand([...without, ...programCommand(), "sandbox", "--", "touch", "ran"], { home });
  const { code, stderr } = await program.finished;
  assert.equal(code, 6, stderr);
  assert.match(stderr, /the command was not run: neither bubblewrap nor unshare[^]*install bubblewrap/);
  await stage.write(".agentclisecret", "\0");
  const whole = await runProgram(["sandbox", "--", "touch", "ran"], { home });
  assert.equal(whole.code, 6);
  assert.match(whole.stderr, /whole project is protected/);
  await assert.rejects(Deno.stat(`${project}/ran`), Deno.errors.NotFound);
});

Deno.test("a program that needs a network is reported to have none before it starts", bubblewrap, async () => {
  await using stage = await openStage();
  const said = /the sandbox has no network: agentcli sandbox --network/;
  assert.match((await runProgram(["sandbox", "--", "npm", "--version"], { home: stage.home })).stderr, said);
  assert.doesNotMatch((await runProgram(["sandbox", "--", "false"], { home: stage.home })).stderr, said);
  assert.doesNotMatch(
    (await runProgram(["sandbox", "--network", "--", "npm", "-v"], { home: stage.home })).stderr,
    said,
  );
});

Deno.test("output streams in half a second, in order, as bytes, and without an end to it", bubblewrap, async () => {
  await using stage = await openStage();
  const { home } = stage;
  const script = "echo ready; until [ -e go ]; do sleep 0.02; done; echo over";
  await using program = startProgram(["sandbox", "--", "sh", "-c", script], { home });
  await program.stdout.until(/ready/);
  // Now the look that comes by itself is as far away as it can be.
  const start = performance.now();
  await stage.write("go", "");
  await program.stdout.until(/over/);
  const took = performance.now() - start;
  assert.ok(took < 1_500, `${took} ms`);
  assert.equal((await program.finished).code, 0);
  // Of two outputs that are one the order stays, and no byte is lost to a reader that is slow.
  const lines = 'for i in $(seq 200); do echo "o $i"; echo "e $i" >&2; done; head -c 4000000 /dev/zero';
  const shell = [...programCommand(), "sandbox", "--", "bash", "-c", lines].map((word) =>
    `'${word.replaceAll("'", "'\\''")}'`
  );
  await using joined = startCommand(["sh", "-c", `${shell.join(" ")} 2>&1 | { sleep 1; cat; }`], { home });
  const { stdout } = await joined.finished;
  const expected = Array.from({ length: 200 }, (_, index) => `o ${index + 1}\ne ${index + 1}\n`).join("");
  assert.ok(stdout.startsWith(expected), stdout.slice(0, 400));
  assert.equal(stdout.length, expected.length + 4_000_000);
  // A command that would run forever ends with its reader.
  await using cut = startCommand(["sh", "-c", `${programCommand().join(" ")} sandbox -- yes | head -n 2`], { home });
  assert.equal((await cut.finished).stdout, "y\ny\n");
  const bytes = await runProgram(["sandbox", "--", "printf", "\\303\\050 | \\377"], { home });
  assert.equal(bytes.stdout, new TextDecoder().decode(Uint8Array.of(0xc3, 0x28, 0x20, 0x7c, 0x20, 0xff)));
});
