import assert from "node:assert/strict";
import { join } from "../src/platform/path.ts";
import { startFakeServer } from "./helpers/fake_server.ts";
import { configure, runProgram, startProgram, type TemporaryHome, temporaryHome } from "./helpers/program.ts";
import { freePort, runs, type StandIns, standIns, type StandInSettings, until } from "./helpers/stand_in_engine.ts";

const unix = { ignore: Deno.build.os === "windows" };

const LLAMA_HELP = `
-m,    --model FNAME      -hf, --hf-repo <user>/<model>[:quant]
-c,    --ctx-size N   -np, --parallel N   -a, --alias STRING   --host HOST   --port PORT
-ngl,  --gpu-layers, --n-gpu-layers N   an exact number,
                          'auto', or 'all' (default: auto)
-fa,   --flash-attn [on|off|auto]   set Flash Attention use
--jinja, --no-jinja   --context-shift, --no-context-shift   --offline   --threads N   -cms, --checkpoint-min-step N   -cram, --cache-ram N   --reasoning-preserve
`;

async function place(
  home: TemporaryHome,
  { help = LLAMA_HELP, ...more }: { help?: string } & Partial<Pick<StandInSettings, "loadingAnswers" | "dies">> = {},
) {
  const programs = await standIns(home);
  await programs.install("llama-server", { kind: "llama-server", help: { "--help": help }, ...more });
  const model = await home.write("a model; $(touch pwned).gguf", "");
  return { programs, model };
}

function serve(home: TemporaryHome, programs: StandIns, args: readonly string[]) {
  return runProgram(["local-model", "serve", ...args], { home, env: { PATH: programs.path } });
}

function command(home: TemporaryHome, programs: StandIns, args: readonly string[]) {
  return runProgram(["local-model", ...args], { home, env: { PATH: programs.path } });
}

Deno.test("in the foreground: the command first, then the log, ready, and its end with ours", unix, async () => {
  await using home = await temporaryHome();
  const { programs } = await place(home, { loadingAnswers: 2 });
  const port = String(freePort());
  const options = { home, env: { PATH: programs.path, MY_API_KEY: "sk-of-mine", KEPT: "yes" } };
  const words = ["serve", "--engine", "runtime_d", "--model", "a model; $(touch pwned).gguf", "--port", port];
  await using program = startProgram(
    ["local-model", ...words, "--context-window", "4096", "--parallel", "2", "--", "--threads", "3"],
    options,
  );
  await program.stdout.until(
    /llama\.cpp \(runtime_d\) is ready after \d+\.\d s: http:\/\/127\.0\.0\.1:\d+\/v1\n/,
  );
  await program.stdout.until(/model a model; \$\(touch pwned\), window 4,096 tokens\n/);
  const [start, more] = await programs.starts();
  const model = join(home.project, "a model; $(touch pwned).gguf");
  assert.match(start?.argv.at(-5) ?? "", /^\d{3,5}$/);
  assert.deepEqual(start?.argv.with(-5, "MiB"), [
    ...["--model", model, "--alias", "a model; $(touch pwned)", "--host", "127.0.0.1", "--port", port],
    ...["--ctx-size", "8192", "--parallel", "2", "--gpu-layers", "auto", "--flash-attn", "auto", "--jinja"],
    ...["--no-context-shift", "--checkpoint-min-step", "1024", "--cache-ram", "MiB", "--reasoning-preserve"],
    ...["--offline", "--threads", "3"],
  ]);
  assert.deepEqual([start?.env["KEPT"], start?.env["MY_API_KEY"], more], ["yes", undefined, undefined]);
  await program.stderr.until(/up\n/);
  const stderr = program.stderr.text;
  assert.ok(stderr.indexOf(`llama-server --model '${model}'`) < stderr.indexOf("listening to be"), stderr);
  program.kill("SIGINT");
  assert.equal((await program.finished).code, 130);
  assert.equal(await runs(start?.pid ?? 0), false);
  await assert.rejects(home.read("pwned"), Deno.errors.NotFound);
});

Deno.test("a program that was killed leaves no engine behind", { ignore: Deno.build.os !== "linux" }, async () => {
  await using home = await temporaryHome();
  const { programs, model } = await place(home);
  const args = ["local-model", "serve", "--engine", "runtime_d", "--model", model, "--port", String(freePort())];
  await using program = startProgram(args, { home, env: { PATH: programs.path } });
  await program.stdout.until(/is ready/);
  const [start] = await programs.starts();
  program.kill("SIGKILL");
  await program.finished;
  await until(async () => !await runs(start?.pid ?? 0));
});

Deno.test("what the installed version does not know is left out and reported", unix, async () => {
  await using home = await temporaryHome();
  const help = "-m, --model F  --host H  --port P  -c, --ctx-size N  -fa, --flash-attn  enable it\n";
  const { programs, model } = await place(home, { help });
  const done = await serve(home, programs, ["--engine", "runtime_d", "--model", model, "--dry-run"]);
  assert.equal(done.code, 0);
  assert.equal(done.stdout, `llama-server --model '${model}' --host 127.0.0.1 --port 8080 --ctx-size 65536\n`);
  for (const flag of ["--alias", "--parallel 1", "--gpu-layers auto", "--jinja", "--no-context-shift", "--offline"]) {
    assert.match(done.stderr, new RegExp(`not passed: ${flag}.*: the installed version does not know it`));
  }
  assert.match(done.stderr, /not passed: --flash-attn auto: the installed version does not know this value/);
  assert.deepEqual(await programs.starts(), []);
});

Deno.test("an engine that dies shows the end of its log, cleaned, and is exit 1", unix, async () => {
  await using home = await temporaryHome();
  const { programs, model } = await place(home, { dies: { lines: 30, code: 7 } });
  for (const mode of [["--quiet"], ["--detach"]]) {
    const args = ["--engine", "runtime_d", "--model", model, "--port", String(freePort()), ...mode];
    const done = await serve(home, programs, args);
    assert.equal(done.code, 1);
    assert.equal(done.stdout, "");
    assert.match(done.stderr, /llama\.cpp \(runtime_d\) exited on its own \(exit code 7\)/);
    const lines = done.stderr.split("\n").filter((line) => line.includes("log line"));
    assert.equal(lines.length, 20);
    assert.match(lines[0] ?? "", /log line 11\\x1b/);
    assert.match((await command(home, programs, ["status"])).stderr, /no engine was started/);
  }
});

Deno.test(
  "detached it keeps running, is listed, is reused and registered, and is ended with all it started",
  unix,
  async () => {
    await using home = await temporaryHome();
    const { programs, model } = await place(home);
    const port = String(freePort());
    const name = `runtime_d-${port}`;
    const started = await serve(home, programs, [
      "--engine=runtime_d",
      `--model=${model}`,
      `--port=${port}`,
      "--detach",
    ]);
    assert.equal(started.code, 0, started.stderr);
    assert.match(started.stderr, new RegExp(`agentcli local-model stop ${name}`));
    const [start] = await programs.starts();
    try {
      const [listed] = JSON.parse((await command(home, programs, ["status", "--json"])).stdout);
      assert.deepEqual([listed.name, listed.state, listed.pid], [name, "ready", start?.pid]);
      assert.match(await Deno.readTextFile(listed.log), /listening to be/);
      assert.equal((await Deno.stat(listed.log)).mode! & 0o777, 0o600);

      const again = await serve(home, programs, [
        "--engine=runtime_d",
        `--model=${model}`,
        `--port=${port}`,
        "--register",
      ]);
      assert.equal(again.code, 0, again.stderr);
      assert.match(again.stdout, /is already running/);
      assert.equal((await programs.starts()).length, 1);
      const written = await Deno.readTextFile(join(home.agentcliHome, "providers.yaml"));
      assert.match(
        written,
        new RegExp(`runtime_d:\n    type: openai_compat\n    base_url: http://localhost:${port}/v1\n`),
      );
      assert.match(written, /context_window: 4096/);

      const other = await serve(home, programs, ["--engine=runtime_c", "--model=a/b", `--port=${port}`]);
      assert.equal(other.code, 1);
      assert.match(other.stderr, new RegExp(`port ${port} is in use by llama\\.cpp`));
    } finally {
      const stopped = await command(home, programs, ["stop"]);
      assert.equal(stopped.stdout, `stopped ${name}\n`);
    }
    assert.equal(await runs(start?.pid ?? 0), false);
    assert.equal((await command(home, programs, ["status", "--json"])).stdout, "[]\n");
  },
);

Deno.test("a record whose process id now means another process ends nothing", unix, async () => {
  await using home = await temporaryHome();
  const programs = await standIns(home);
  await using bystander = startProgram(["run", "-"], { home });
  const record = {
    version: 1,
    name: "runtime_d",
    engine: "runtime_d",
    product: "llama.cpp server",
    host: "127.0.0.1",
    port: 8080,
    base_url: "http://127.0.0.1:8080/v1",
    command: "llama-server",
    started: "2026-01-01T00:00:00.000Z",
    process: { pid: bystander.pid, identity: `${bystander.pid} another start` },
  };
  await Deno.mkdir(join(home.agentcliHome, "engines"), { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(join(home.agentcliHome, "engines/runtime_d.json"), JSON.stringify(record));
  assert.match((await command(home, programs, ["status"])).stdout, /runtime_d +llama\.cpp server +ended/);
  assert.equal((await command(home, programs, ["stop", "runtime_d"])).stdout, "runtime_d had already stopped\n");
  assert.equal(await runs(bystander.pid), true);
});

Deno.test("a port with something else on it is refused by name", unix, async () => {
  await using home = await temporaryHome();
  const { programs, model } = await place(home);
  await using server = startFakeServer({ models: { object: "list", data: [{ id: "m", owned_by: "vllm" }] } });
  await using mute = startFakeServer({ models: null });
  const args = ["--engine", "runtime_d", "--model", model, "--port"];
  const met = await serve(home, programs, [...args, String(server.port)]);
  assert.deepEqual([met.code, /in use by vLLM/.test(met.stderr)], [1, true], met.stderr);
  const page = await serve(home, programs, [...args, String(mute.port)]);
  assert.deepEqual([page.code, /in use by something that is no model/.test(page.stderr)], [1, true], page.stderr);
  assert.deepEqual(await programs.starts(), []);
});

Deno.test("Ollama is set up by variables, without its cloud, and loads the model", unix, async () => {
  await using home = await temporaryHome();
  const programs = await standIns(home);
  await programs.install("ollama", { kind: "ollama", help: {}, model: "qwen3:8b" });
  const port = freePort();
  const args = ["local-model", "serve", "--engine=runtime_a", "--model=qwen3:8b", `--port=${port}`, "--json"];
  await using program = startProgram(args, { home, env: { PATH: programs.path } });
  const report = JSON.parse((await program.stdout.until(/.*\n/))[0]);
  assert.deepEqual(report.models, [{ id: "qwen3:8b", context_window: 65536 }]);
  const [start] = await programs.starts();
  assert.deepEqual(start?.argv, ["serve"]);
  const set = Object.entries(start?.env ?? {}).filter(([name]) => name.startsWith("OLLAMA_"));
  assert.deepEqual(Object.fromEntries(set), {
    OLLAMA_HOST: `127.0.0.1:${port}`,
    OLLAMA_CONTEXT_LENGTH: "65536",
    OLLAMA_NUM_PARALLEL: "1",
    OLLAMA_NO_CLOUD: "1",
    OLLAMA_FLASH_ATTENTION: "1",
    OLLAMA_KV_CACHE_TYPE: "q8_0",
  });
  program.kill("SIGTERM");
  assert.equal((await program.finished).code, 143);
});

Deno.test(
  "vLLM gets the model behind its word, its key in the environment, parallel and Ray options",
  unix,
  async () => {
    await using home = await temporaryHome();
    const programs = await standIns(home);
    const options = [
      ...["--host", "--port", "--served-model-name", "--max-model-len", "--tensor-parallel-size"],
      ...["--pipeline-parallel-size", "--distributed-executor-backend", "--enable-auto-tool-choice"],
    ];
    const all = `${options.join(" X ")} --tool-call-parser {hermes,mistral}`;
    await programs.install("vllm", {
      kind: "vllm",
      help: { "--help": "--host H", "--help=all": all },
      model: "Qwen/Qwen3-8B",
    });
    const port = String(freePort());
    const args = ["--engine=runtime_c", "--model=Qwen/Qwen3-8B", `--port=${port}`, "--api-key", "$THE_KEY"];
    const spread = ["--tensor-parallel=2", "--pipeline-parallel=3", "--ray"];
    await using program = startProgram(["local-model", "serve", ...args, ...spread, "--register"], {
      home,
      env: { PATH: programs.path, THE_KEY: "sk-canary-0123456789" },
    });
    await program.stdout.until(/provider runtime_c in providers\.yaml/);
    const [start] = await programs.starts();
    assert.deepEqual(start?.argv, [
      ...["serve", "Qwen/Qwen3-8B", "--host", "127.0.0.1", "--port", port, "--tool-call-parser", "hermes"],
      ...["--enable-auto-tool-choice", "--tensor-parallel-size", "2", "--pipeline-parallel-size", "3"],
      ...["--distributed-executor-backend", "ray"],
    ]);
    assert.equal(start?.env["VLLM_API_KEY"], "sk-canary-0123456789");
    assert.equal(start?.env["HF_HUB_OFFLINE"], "1");
    program.kill("SIGINT");
    const { stdout, stderr } = await program.finished;
    assert.match(stderr, /VLLM_API_KEY="\$THE_KEY" vllm serve Qwen\/Qwen3-8B/);
    const written = await Deno.readTextFile(join(home.agentcliHome, "providers.yaml"));
    assert.match(written, /api_key: \$THE_KEY\n/);
    assert.doesNotMatch(stdout + stderr + written, /canary/);
  },
);

Deno.test("engine E is ft where it is installed, else mini-sglang, else a hint how to install it", unix, async () => {
  await using home = await temporaryHome();
  const programs = await standIns(home);
  const args = ["--engine=engine_e", "--model=a/b", "--context-window=8192"];
  const python = { kind: "minisgl", model: "a/b" } as const;
  await programs.install("python3", { ...python, help: {} });
  await Deno.writeTextFile(
    join(home.root, "bin/python3"),
    "#!/bin/sh\necho 'python3: No module named minisgl'\nexit 1\n",
    { mode: 0o755 },
  );
  await Deno.copyFile(join(home.root, "bin/python3"), join(home.root, "bin/python"));
  const absent = await serve(home, programs, [...args, "--port", String(freePort())]);
  assert.equal(absent.code, 1);
  assert.match(absent.stderr, /engine_e needs ft or python3 or python, which is not on PATH\n.*install FreeToken/);
  await programs.install("python3", { ...python, help: { "--help": "--model --host --port --max-seq-len-override" } });
  const second = await serve(home, programs, [...args, "--dry-run"]);
  assert.match(
    second.stdout,
    /python3 -m minisgl --model a\/b --host 127\.0\.0\.1 --port 1919 --max-seq-len-override 8192\n/,
  );
  await programs.install("ft", { kind: "freetoken", help: { "--help": "--model --host --port" }, model: "a/b" });
  const first = await serve(home, programs, [...args, "--dry-run"]);
  assert.match(first.stdout, / ft serve --model a\/b --host 127\.0\.0\.1 --port 1919\n/);
  const port = String(freePort());
  await using program = startProgram(["local-model", "serve", ...args, "--port", port], {
    home,
    env: { PATH: programs.path },
  });
  await program.stdout.until(/\(engine_e\) is ready/);
  program.kill("SIGINT");
  await program.finished;
});

Deno.test("LM Studio is set up call by call, and taken down again", unix, async () => {
  await using home = await temporaryHome();
  const programs = await standIns(home);
  const help = "--port --bind --context-length --gpu --yes";
  await programs.install("lms", { kind: "lms", help: { "--help": help }, model: "qwen3" });
  const port = String(freePort());
  const args = ["--engine=runtime_b", "--model=qwen3", `--port=${port}`];
  const calls = async () =>
    (await programs.starts()).filter(({ program }) => program === "lms")
      .map(({ argv }) => argv.join(" "));
  const up = [
    "daemon up",
    `server start --port ${port} --bind 127.0.0.1`,
    // The same words again: the server that the stand-in starts notes itself too.
    `server start --port ${port} --bind 127.0.0.1`,
    "load qwen3 --context-length 65536 --gpu max --yes",
  ];
  const down = ["unload qwen3", "server stop"];
  {
    await using program = startProgram(["local-model", "serve", ...args], { home, env: { PATH: programs.path } });
    await program.stdout.until(/LM Studio \(runtime_b\) is ready/);
    program.kill("SIGINT");
    assert.equal((await program.finished).code, 130);
  }
  assert.deepEqual(await calls(), [...up, ...down]);
  const detached = await serve(home, programs, [...args, "--detach"]);
  assert.equal(detached.code, 0, detached.stderr);
  assert.equal((await command(home, programs, ["stop"])).stdout, `stopped runtime_b-${port}\n`);
  assert.deepEqual(await calls(), [...up, ...down, ...up, ...down]);
});

Deno.test("a template of the user is run word by word", unix, async () => {
  await using home = await temporaryHome();
  const programs = await standIns(home);
  await programs.install("mine", { kind: "plain", help: {}, model: "m" });
  const port = freePort();
  const command = ["mine", "--host", "{host}", "--port={port}", "--port", "{port}", "x {model} $(y)", "{other}"];
  await configure(home, {}, {
    engines: { own: { command, ready: "/up", port, env: { WINDOW: "{context_window}" } } },
  });
  await using program = startProgram(["local-model", "serve", "--engine=own", "--model=a {port}"], {
    home,
    env: { PATH: programs.path },
  });
  await program.stdout.until(/mine \(own\) is ready/);
  const [start] = await programs.starts();
  assert.deepEqual(start?.argv, [
    ...["--host", "127.0.0.1", `--port=${port}`, "--port", String(port), "x a {port} $(y)", "{other}"],
  ]);
  assert.equal(start?.env["WINDOW"], "65536");
  program.kill("SIGINT");
  await program.finished;
});

Deno.test("what does not fit is refused before anything is started", unix, async () => {
  await using home = await temporaryHome();
  const { programs, model } = await place(home);
  const cases: [string[], RegExp][] = [
    [[], /--engine is required[^]*runtime_a, runtime_b/],
    [["--engine=runtime_x"], /no engine runtime_x/],
    [["--engine=runtime_d"], /needs --model/],
    [["--engine=runtime_d", "--model=-x"], /does not start with -/],
    [["--engine=runtime_d", "--model=./none.gguf"], /no model at /],
    [["--engine=runtime_a", "--model=./x.gguf"], /takes the id of a model/],
    [["--engine=runtime_d", `--model=${model}`, "--host=evil host"], /--host takes/],
    [["--engine=runtime_d", `--model=${model}`, "--host=127.1"], /--host takes/],
    [["--engine=runtime_d", `--model=${model}`, "--ray"], /takes no --ray/],
    [["--engine=runtime_a", "--api-key=k"], /takes no --api-key/],
    [["--engine=runtime_d", `--model=${model}`, "--", "--host", "0.0.0.0"], /--host cannot follow after --/],
    [["--engine=runtime_d", `--model=${model}`, "word"], /"word" is no option/],
  ];
  for (const [args, message] of cases) {
    const done = await serve(home, programs, args);
    assert.deepEqual([done.code, done.stdout], [2, ""], args.join(" "));
    assert.match(done.stderr, message);
  }
  assert.deepEqual(await programs.starts(), []);
});

Deno.test("an address that others reach is warned about, with the line that makes it local", unix, async () => {
  await using home = await temporaryHome();
  const { programs, model } = await place(home);
  const args = ["local-model", "serve", "--engine=runtime_d", "--model", model, "--host=127.0.0.2", "--port"];
  await using program = startProgram([...args, String(freePort())], { home, env: { PATH: programs.path } });
  await program.stdout.until(/is ready after .*: http:\/\/127\.0\.0\.2:/);
  await program.stderr.until(/reachable from other machines, without a key/);
  await program.stderr.until(/agentcli secrets add --local-endpoint 127\.0\.0\.2:\d+\n/);
  program.kill("SIGINT");
  await program.finished;
});

Deno.test("the help describes every engine, or one", async () => {
  await using home = await temporaryHome();
  const all = await runProgram(["local-model", "serve", "--help"], { home });
  for (const id of ["runtime_a", "runtime_b", "runtime_c", "runtime_d", "engine_e"]) {
    assert.match(all.stdout, new RegExp(`^[A-Z][\\w. -]+ \\(${id}\\), port \\d+$`, "mi"));
  }
  assert.match(all.stdout, /OLLAMA_NO_CLOUD=1/);
  const one = await runProgram(["local-model", "serve", "--engine", "vllm", "--help"], { home });
  assert.doesNotMatch(one.stdout, /\(runtime_d\), port/);
  assert.match(one.stdout, /--tensor-parallel <cards>/);
  assert.match(one.stdout, /ray start --head/);
  assert.match(one.stdout, /secrets\s+add\s+--local-endpoint\s+10\.0\.0\.5:8000/);
});
