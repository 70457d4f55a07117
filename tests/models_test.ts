import assert from "node:assert/strict";
import { runProgram, temporaryHome } from "./helpers/program.ts";

Deno.test("models suggest names what the machine has, the models, and the commands to get them; it writes nothing", async () => {
  await using home = await temporaryHome();
  await Deno.mkdir(`${home.root}/bin`);
  // A card of 24 GB, as its tool tells it (MiB).
  await Deno.writeTextFile(`${home.root}/bin/nvidia-smi`, "#!/bin/sh\necho 24564\n", { mode: 0o755 });
  const env = { PATH: `${home.root}/bin:/usr/bin:/bin` };
  const { code, stdout, stderr } = await runProgram(["models", "suggest"], { home, env });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^This machine has \d+ GB of memory and 26 GB on its graphics card\.$/m);
  assert.match(stderr, /^The commands are those of Ollama, which is not installed here: https:/m);
  await Deno.writeTextFile(`${home.root}/bin/ollama`, "#!/bin/sh\n", { mode: 0o755 });
  assert.doesNotMatch((await runProgram(["models", "suggest"], { home, env })).stderr, /installed/);
  assert.match(stdout, /^qwen3\.5:27b +20 GB +graphics card /m);
  assert.match(
    stdout,
    /^ollama pull qwen3\.5:27b && agentcli init-providers && agentcli chat --model ollama:qwen3\.5:27b$/m,
  );
  assert.equal((await runProgram(["models", "suggest"], { home, env: { ...env, NO_COLOR: "1" } })).stdout, stdout);
  const json = JSON.parse((await runProgram(["models", "suggest", "--json"], { home, env })).stdout);
  assert.deepEqual(json.models[0].commands, [
    "ollama pull qwen3.5:27b",
    "agentcli init-providers",
    "agentcli chat --model ollama:qwen3.5:27b",
  ]);
  assert.equal(await Deno.stat(home.agentcliHome).catch(() => null), null);
});

Deno.test("a tool of the graphics card that fails or is not there is no error", async () => {
  await using home = await temporaryHome();
  await Deno.mkdir(`${home.root}/bin`);
  await Deno.writeTextFile(`${home.root}/bin/nvidia-smi`, "#!/bin/sh\necho 'no devices were found'; exit 6\n", {
    mode: 0o755,
  });
  const { stderr } = await runProgram(["models", "suggest"], { home, env: { PATH: `${home.root}/bin:/usr/bin:/bin` } });
  assert.match(stderr, /no graphics card was found/);
});
