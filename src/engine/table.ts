/**
 * The engines that `local-model serve` starts. Commands, switches and readiness: the wire reference, §11 and §12.15;
 * ids and ports: the table of runtimes. Long option names throughout: they are what help texts are searched for.
 */
import { RUNTIMES } from "../config/base_url.ts";
import { fieldsOf, membersOf } from "../platform/record.ts";
import type { Engine } from "./engine.ts";

/** Tokens: what agent work needs at least, and what the engines with a small default of their own are started with. */
export const AGENT_WINDOW = 65_536;

function place(id: string): { id: string; port: number; product: string } {
  const runtime = RUNTIMES.find((entry) => entry.id === id);
  if (runtime === undefined) throw new RangeError(`no runtime ${id}`);
  return { id, port: runtime.port, product: runtime.product };
}

/** No telemetry, and nothing from the hub of models while `offline` is set. */
const HUB = {
  HF_HUB_OFFLINE: "{offline}",
  TRANSFORMERS_OFFLINE: "{offline}",
  HF_HUB_DISABLE_TELEMETRY: "1",
  DO_NOT_TRACK: "1",
};

/** Every engine, in the order of the help. Made when asked for: nothing is built at start. */
export function engines(): readonly Engine[] {
  return [ollama(), lmStudio(), vllm(), llamaServer(), engineE()];
}

function ollama(): Engine {
  return {
    ...place("runtime_a"),
    servers: ["ollama"],
    model: { required: false, takes: "id" },
    contextWindow: AGENT_WINDOW,
    running: {
      kind: "child",
      commands: [{ programs: ["ollama"], words: ["serve"], options: [], help: [] }],
    },
    environment: {
      OLLAMA_HOST: "{url_host}:{port}",
      OLLAMA_CONTEXT_LENGTH: "{context_window}",
      OLLAMA_NUM_PARALLEL: "{parallel}",
      // Models of the vendor's cloud answer on the same address, under innocent names.
      OLLAMA_NO_CLOUD: "1",
      OLLAMA_FLASH_ATTENTION: "1",
      OLLAMA_KV_CACHE_TYPE: "q8_0",
    },
    ready: { path: "/api/version", proves: ({ json }) => typeof fieldsOf(json)["version"] === "string" },
    preload: "ollama",
    install: {
      linux: "install it as https://ollama.com/download/linux says",
      darwin: "brew install ollama",
      windows: "winget install Ollama.Ollama",
    },
    notes: [
      "Everything is set by variables. The window is for every model: the default of the engine (4,096 on small cards) silently cuts what an agent sends.",
      "With --model that model is loaded once the server answers; it has to be there (ollama pull <id>).",
      "Cloud models are switched off (OLLAMA_NO_CLOUD=1).",
    ],
  };
}

function lmStudio(): Engine {
  const programs = ["lms"];
  return {
    ...place("runtime_b"),
    servers: ["lmstudio"],
    model: { required: false, takes: "id" },
    contextWindow: AGENT_WINDOW,
    running: {
      kind: "service",
      start: [
        { programs, words: ["daemon", "up"], options: [], help: [], mayFail: true },
        {
          programs,
          words: ["server", "start"],
          options: [
            { flag: "--port", value: "{port}", required: true },
            { flag: "--bind", value: "{host}" },
          ],
          help: [["server", "start", "--help"]],
        },
        {
          programs,
          words: ["load", "{model}"],
          options: [
            { flag: "--context-length", value: "{context_window}" },
            { flag: "--parallel", value: "{parallel}" },
            { flag: "--gpu", value: "max" },
            { flag: "--yes" },
          ],
          help: [["load", "--help"]],
          needs: "model",
        },
      ],
      stop: [
        { programs, words: ["unload", "{model}"], options: [], help: [], needs: "model", mayFail: true },
        { programs, words: ["server", "stop"], options: [], help: [] },
      ],
    },
    environment: {},
    ready: { path: "/lmstudio-greeting", proves: ({ json }) => fieldsOf(json)["lmstudio"] === true },
    install: {
      linux: "install LM Studio (https://lmstudio.ai), start it once, then: ~/.lmstudio/bin/lms bootstrap",
      darwin: "install LM Studio (https://lmstudio.ai), start it once, then: ~/.lmstudio/bin/lms bootstrap",
      windows:
        "install LM Studio (https://lmstudio.ai), start it once, then: %USERPROFILE%\\.lmstudio\\bin\\lms.exe bootstrap",
    },
    notes: [
      "The server lives in LM Studio. At the end the model is unloaded and the server stopped.",
      "LM Link can run a model on another device without a sign of it here: `lms link status` tells, `lms link disable` ends it.",
    ],
  };
}

function vllm(): Engine {
  return {
    ...place("runtime_c"),
    servers: ["vllm"],
    model: { required: true, takes: "path or id" },
    running: {
      kind: "child",
      commands: [{
        programs: ["vllm"],
        // The model follows its word at once, as vLLM documents it. One that starts with `-` is refused before.
        words: ["serve", "{model}"],
        options: [
          // Its own default is every interface.
          { flag: "--host", value: "{host}", required: true },
          { flag: "--port", value: "{port}", required: true },
          { flag: "--served-model-name", value: "{name}" },
          { flag: "--max-model-len", value: "{context_window}" },
          { flag: "--max-num-seqs", value: "{parallel}" },
          { flag: "--tool-call-parser", value: "{tool_parser}", valueInHelp: true },
          { flag: "--enable-auto-tool-choice", needs: "tool_parser", with: "--tool-call-parser" },
          { flag: "--tensor-parallel-size", value: "{tensor_parallel}", required: true },
          { flag: "--pipeline-parallel-size", value: "{pipeline_parallel}", required: true },
          { flag: "--distributed-executor-backend", value: "{ray}", required: true },
          // Versions before 0.10 log every prompt, and a detached server's log stays in the home.
          { flag: "--disable-log-requests", optional: true },
        ],
        // Newer versions print all options only when asked for them.
        help: [["serve", "--help=all"], ["serve", "--help"]],
      }],
    },
    environment: { ...HUB, VLLM_NO_USAGE_STATS: "1", VLLM_API_KEY: "{api_key}" },
    ready: { path: "/health", proves: ({ status }) => status === 200 },
    install: {
      linux: "uv pip install vllm (in a virtual environment that is active)",
      darwin: "vLLM wants Linux; see https://docs.vllm.ai for building it, or use runtime_d",
      windows: "vLLM wants Linux: run it in WSL, or use runtime_d",
    },
    notes: [
      "The window is the model's own unless --context-window names a smaller one. Tool calls are parsed by the server where a parser for the model is known (by its name); another: -- --enable-auto-tool-choice --tool-call-parser <name>.",
      "Several cards in one machine: --tensor-parallel <cards>.",
      "Several machines: start Ray on all of them first (ray start --head on the first, ray start --address=<first>:6379 on the others), then here, on the first: --tensor-parallel <cards of each> --pipeline-parallel <machines> --ray. Further options of vLLM and Ray pass through after --.",
      "To use it from another machine bind an address of yours (--host 10.0.0.5, with --api-key), and run `agentcli secrets add --local-endpoint 10.0.0.5:8000` in each project that may send it protected content.",
    ],
  };
}

function llamaServer(): Engine {
  return {
    ...place("runtime_d"),
    servers: ["llama.cpp"],
    model: { required: true, takes: "file or id" },
    contextWindow: AGENT_WINDOW,
    running: {
      kind: "child",
      commands: [{
        programs: ["llama-server"],
        words: [],
        options: [
          { flag: "--model", value: "{model_path}", required: true },
          { flag: "--hf-repo", value: "{model_id}", required: true },
          { flag: "--alias", value: "{name}" },
          { flag: "--host", value: "{host}", required: true },
          { flag: "--port", value: "{port}", required: true },
          // Divided among the slots.
          { flag: "--ctx-size", value: "{context_total}" },
          { flag: "--parallel", value: "{parallel}" },
          // Both were once switches or numbers.
          { flag: "--gpu-layers", value: "auto", inHelp: /--gpu-layers\b[^]{0,300}?'auto'/ },
          { flag: "--flash-attn", value: "auto", inHelp: /--flash-attn\b[^\n]*\bauto\b/ },
          { flag: "--jinja" },
          { flag: "--no-context-shift" },
          // A cache that cannot go back (hybrid models, sliding windows) starts again from a checkpoint: the default of
          // 8,192 tokens between two is a long way for an agent.
          { flag: "--checkpoint-min-step", value: "1024", optional: true },
          // What is pushed out of a slot is kept in memory.
          { flag: "--cache-ram", value: "{cache_memory}", optional: true },
          // Templates show what was reasoned in all turns, so that a prompt begins as the one before.
          { flag: "--reasoning-preserve", optional: true },
          { flag: "--offline", needs: "offline" },
        ],
        help: [["--help"]],
      }],
    },
    environment: { LLAMA_API_KEY: "{api_key}" },
    // 503 on every path while it loads.
    ready: { path: "/health", proves: ({ status, json }) => status === 200 && fieldsOf(json)["status"] === "ok" },
    install: {
      linux: "brew install llama.cpp, or a build from https://github.com/ggml-org/llama.cpp/releases on PATH",
      darwin: "brew install llama.cpp",
      windows: "winget install llama.cpp",
    },
    notes: [
      "--model is a .gguf file, or a repository of the hub (user/name:quant) that was fetched before; --download fetches it.",
      "--context-window is for one conversation: with --parallel 2 the server is given twice as much to divide.",
    ],
  };
}

function engineE(): Engine {
  const listens = [
    { flag: "--host", value: "{host}", required: true },
    { flag: "--port", value: "{port}", required: true },
    { flag: "--max-seq-len-override", value: "{context_window}" },
    { flag: "--max-running-requests", value: "{parallel}" },
  ] as const;
  return {
    ...place("engine_e"),
    product: "FreeToken or mini-sglang",
    servers: ["freetoken", "mini-sglang"],
    model: { required: true, takes: "path or id" },
    running: {
      kind: "child",
      commands: [
        {
          programs: ["ft"],
          words: ["serve"],
          options: [
            { flag: "--model", value: "{model}", required: true },
            { flag: "--served-model-name", value: "{name}" },
            ...listens,
          ],
          help: [["serve", "--help"]],
        },
        {
          programs: ["python3", "python"],
          words: ["-m", "minisgl"],
          options: [{ flag: "--model", value: "{model}", required: true }, ...listens],
          help: [["-m", "minisgl", "--help"]],
        },
      ],
    },
    environment: HUB,
    ready: { path: "/v1/models", proves: ({ status, json }) => status === 200 && hasModels(json) },
    install: {
      linux:
        "install FreeToken (the command is ft) or mini-sglang (python -m minisgl) in a virtual environment that is active",
      darwin: "FreeToken and mini-sglang want Linux with a card; use runtime_d here",
      windows: "FreeToken and mini-sglang want Linux with a card: run them in WSL, or use runtime_d",
    },
    notes: ["The first that is installed is run: ft serve, else python -m minisgl."],
  };
}

/** Returns whether a list of models has one. */
export function hasModels(json: unknown): boolean {
  return membersOf(fieldsOf(json)["data"]).length > 0;
}
