import assert from "node:assert/strict";
import { say, startFakeServer, type Step } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

function json(value: unknown): Step {
  const headers = { "content-type": "application/json" };
  return { kind: "status", status: 200, body: JSON.stringify(value), headers };
}

Deno.test("the list of models shows size, quantization, window, and what is loaded, for each kind of server", async () => {
  await using ollama = startFakeServer({
    models: {
      object: "list",
      data: [{ id: "qwen3:8b", owned_by: "library" }, { id: "gemma3:4b", owned_by: "library" }],
    },
    routes: {
      "/api/tags": json({
        models: [
          { name: "qwen3:8b", size: 5_200_000_000, details: { quantization_level: "Q4_K_M" } },
          { name: "gemma3:4b", size: 3_300_000_000, details: { quantization_level: "Q4_0\x1b[2J" } },
        ],
      }),
      "/api/ps": json({ models: [{ name: "qwen3:8b", context_length: 32768 }] }),
    },
  });
  await using studio = startFakeServer({
    models: { data: [{ id: "nemo", owned_by: "organization_owner" }, { id: "eye", owned_by: "organization_owner" }] },
    routes: {
      "/api/v1/models": json({
        models: [
          {
            key: "nemo",
            size_bytes: 7_000_000_000,
            quantization: { name: "Q6_K" },
            loaded_instances: [],
            capabilities: { vision: false, trained_for_tool_use: true },
          },
          {
            key: "eye",
            size_bytes: 900_000_000,
            loaded_instances: [{ id: "eye", config: { context_length: 8192 } }],
            capabilities: { vision: true, trained_for_tool_use: false },
          },
        ],
      }),
    },
  });
  await using llama = startFakeServer({
    name: "llama.cpp",
    models: {
      data: [{ id: "Qwen3-4B-UD-Q5_K_XL.gguf", owned_by: "llamacpp", meta: { size: 2_800_000_000, n_ctx: 16384 } }],
    },
  });
  await using home = await temporaryHome();
  await configure(home, {
    ollama: { baseUrl: ollama.baseUrl, models: [] },
    studio: { baseUrl: studio.baseUrl, models: [] },
    llama: { baseUrl: llama.baseUrl, models: [] },
  }, { default_provider: "ollama", default_model: "qwen3:8b" });
  const { stderr } = await runInProcess(["chat"], { home, stdin: "/models\n" });
  const rows = stderr.split("\n").filter((line) => / (?:ollama|studio|llama):/.test(line)).join("\n");
  assert.match(rows, /ollama:qwen3:8b {2}5\.2 GB · Q4_K_M · 32\.8k window · loaded · local · default/, stderr);
  assert.match(rows, /ollama:gemma3:4b {2}3\.3 GB · Q4_0\\x1b\[2J · not loaded · local/);
  assert.match(rows, /studio:nemo {2}7\.0 GB · Q6_K · not loaded · tools · local/);
  assert.match(rows, /studio:eye {2}900 MB · 8\.2k window · loaded · no tools · vision · local/);
  assert.match(rows, /llama:Qwen3-4B-UD-Q5_K_XL\.gguf {2}2\.8 GB · UD-Q5_K_XL · 16\.4k window · local/);
});

Deno.test({
  name: "the list of models is searched, marks the current one, and Ctrl-S makes one the default",
  ignore: !HAS_TMUX,
  fn: async () => {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: () => say("Fine."), models: ["one", "two"] });
    await configure(home, { loc: { baseUrl: server.baseUrl, models: ["one", "two"] } }, { default_model: "one" });
    await using terminal = await openTerminal(["-m", "loc:one"], { home });
    await terminal.shows(/local · loc:one/);
    await terminal.type("/model");
    await terminal.press("Enter");
    await terminal.shows(/loc:one {2}current · [^\n]*local/);
    await terminal.type("two");
    await terminal.press("C-s");
    await terminal.shows(/loc:two is the default model from now on/);
    assert.match(await Deno.readTextFile(`${home.agentcliHome}/providers.yaml`), /default_model"?: ?"?two/);
    await terminal.press("Enter");
    await terminal.shows(/model: loc:two \(local\)/);
  },
});
