/** Other agent CLIs that the bench knows how to start: where each takes its settings from, and how it runs one turn. */

/** Where a peer finds its server. */
export interface PeerServer {
  /** With `/v1`. */
  baseUrl: string;
  /** The scenarios. */
  models: readonly string[];
}

/** One program. All is as it is installed: nothing is switched off for the measurement. */
export interface Peer {
  /** Looked for on PATH. */
  program: string;
  /** Settings below its home: path and text. */
  files(server: PeerServer): Record<string, string>;
  /** Arguments of a turn with a prompt, all tools allowed. */
  turn(of: { model: string; prompt: string; home: string }): string[];
  env?(of: { model: string; baseUrl: string }): Record<string, string>;
}

/** Far from where any of them begins to summarize. */
const WINDOW = 1_000_000;
const OUTPUT = 100_000;

function json(value: unknown): string {
  return JSON.stringify(value, null, 1);
}

function fromModels<T>(models: readonly string[], make: (id: string) => T): Record<string, T> {
  return Object.fromEntries(models.map((id) => [id, make(id)]));
}

const opencode: Peer = {
  program: "opencode",
  files: ({ baseUrl, models }) => ({
    ".config/opencode/opencode.json": json({
      model: "bench/short",
      provider: {
        bench: {
          npm: "@ai-sdk/openai-compatible",
          name: "Bench",
          options: { baseURL: baseUrl, apiKey: "local" },
          models: fromModels(models, (name) => ({ name, tool_call: true, limit: { context: WINDOW, output: OUTPUT } })),
        },
      },
    }),
  }),
  turn: ({ model, prompt }) => ["run", "--auto", "-m", `bench/${model}`, prompt],
};

const codex: Peer = {
  program: "codex",
  files: ({ baseUrl }) => ({
    ".codex/config.toml": [
      'model_provider = "bench"',
      `model_context_window = ${WINDOW}`,
      "[model_providers.bench]",
      'name = "Bench"',
      `base_url = "${baseUrl}"`,
      'wire_api = "responses"',
      "",
    ].join("\n"),
  }),
  turn: ({ model, prompt }) => [
    ...["exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"],
    ...["-m", model, prompt],
  ],
};

const qwen: Peer = {
  program: "qwen",
  files: () => ({ ".qwen/settings.json": json({ security: { auth: { selectedType: "openai" } } }) }),
  turn: ({ model, prompt }) => ["-y", "-m", model, "--prompt", prompt],
  env: ({ model, baseUrl }) => ({ OPENAI_API_KEY: "local", OPENAI_BASE_URL: baseUrl, OPENAI_MODEL: model }),
};

const pi: Peer = {
  program: "pi",
  files: ({ baseUrl, models }) => ({
    ".pi/agent/models.json": json({
      providers: {
        bench: {
          baseUrl,
          api: "openai-completions",
          apiKey: "local",
          models: models.map((id) => ({ id, name: id, input: ["text"], contextWindow: WINDOW, maxTokens: OUTPUT })),
        },
      },
    }),
  }),
  turn: ({ model, prompt }) => ["--provider", "bench", "--model", model, "-p", prompt],
};

const cn: Peer = {
  program: "cn",
  files: ({ baseUrl, models }) =>
    Object.fromEntries(models.map((model) => [
      `${model}.yaml`,
      json({
        name: "bench",
        version: "0.0.1",
        schema: "v1",
        models: [{
          name: model,
          provider: "openai",
          model,
          apiBase: baseUrl,
          apiKey: "local",
          roles: ["chat"],
          capabilities: ["tool_use"],
          defaultCompletionOptions: { contextLength: WINDOW, maxTokens: OUTPUT },
        }],
      }),
    ])),
  turn: ({ model, prompt, home }) => ["--config", `${home}/${model}.yaml`, "--auto", "-p", prompt],
};

/** All of them. */
export const PEERS: readonly Peer[] = [opencode, codex, qwen, pi, cn];
