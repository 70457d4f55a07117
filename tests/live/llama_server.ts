/**
 * A real llama-server on a loopback port, for tests that are run by `deno task test-llama` alone. The script behind the
 * task names the program and the model: AGENTCLI_LLAMA_SERVER, AGENTCLI_TINY_MODEL.
 */
import { configure, type TemporaryHome } from "../helpers/program.ts";

/** The model's id in requests; the server serves its one model under any name. */
export const MODEL = "tiny-agent";

/** Longest wait for a server that comes up, in milliseconds. */
const READY_LIMIT_MS = 60_000;

/** How a server is started. */
export interface LlamaOptions {
  /** Tokens of all slots together; default 16,384. */
  contextWindow?: number;
  /** Slots; default 1. */
  parallel?: number;
  key?: string;
  /** The chat template, in place of the model's own. */
  template?: string;
  /** Further options of llama-server. */
  more?: readonly string[];
  /** Whether to wait until the model can be asked; default true. */
  ready?: boolean;
}

/** What the server says of a slot, as far as tests look at it. */
export interface Slot {
  id: number;
  n_ctx: number;
  is_processing: boolean;
}

/** A running server. */
export interface LlamaServer extends AsyncDisposable {
  origin: string;
  baseUrl: string;
  /** GET of a path from the origin, with the key if there is one. */
  get(path: string): Promise<Response>;
  slots(): Promise<Slot[]>;
  /** Resolves when `holds` does; throws with the server's log after a minute. */
  until(what: string, holds: () => Promise<boolean>): Promise<void>;
  signal(signal: Deno.Signal): void;
}

/** A variable that the task sets. */
export function required(name: string): string {
  const value = Deno.env.get(name);
  if (value) return value;
  throw new Error(`${name} is not set: run these tests with \`deno task test-llama\``);
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return (listener.addr as Deno.NetAddr).port;
}

/** The end of what a child writes, for messages. */
function tailOf(stream: ReadableStream<Uint8Array>): { readonly text: string; done: Promise<void> } {
  const tail = { text: "", done: Promise.resolve() };
  tail.done = (async () => {
    for await (const piece of stream.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)) {
      tail.text = (tail.text + piece).slice(-8000);
    }
  })();
  return tail;
}

/** Starts a server; it ends with the test, by its process id alone. */
export async function startLlama(options: LlamaOptions = {}): Promise<LlamaServer> {
  const port = freePort();
  const origin = `http://127.0.0.1:${port}`;
  const child = new Deno.Command(required("AGENTCLI_LLAMA_SERVER"), {
    args: [
      ...["--model", required("AGENTCLI_TINY_MODEL"), "--alias", MODEL, "--host", "127.0.0.1", "--port", String(port)],
      ...["--ctx-size", String(options.contextWindow ?? 16_384), "--parallel", String(options.parallel ?? 1)],
      ...["--threads", "1", "--jinja", "--no-context-shift", "--offline"],
      // The model was trained on 2,048 tokens, and a slot gets no more than that unless the file says otherwise.
      ...["--override-kv", "qwen2.context_length=int:1000000"],
      ...(options.template === undefined ? [] : ["--chat-template-file", options.template]),
      ...(options.key === undefined ? [] : ["--api-key", options.key]),
      ...(options.more ?? []),
    ],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const log = tailOf(child.stderr);
  let ended: Deno.CommandStatus | null = null;
  const status = child.status.then((value) => ended = value);
  const headers = options.key === undefined ? undefined : { authorization: `Bearer ${options.key}` };
  const get = (path: string) => fetch(origin + path, { ...(headers === undefined ? {} : { headers }) });
  const signal = (name: Deno.Signal) => {
    if (ended === null) child.kill(name);
  };
  const server: LlamaServer = {
    origin,
    baseUrl: `${origin}/v1`,
    get,
    slots: async () => await (await get("/slots")).json(),
    async until(what, holds) {
      const limit = Date.now() + READY_LIMIT_MS;
      while (!await holds().catch(() => false)) {
        if (ended !== null) throw new Error(`llama-server ended while waiting for ${what}:\n${log.text}`);
        if (Date.now() > limit) throw new Error(`waited too long for ${what}:\n${log.text}`);
        // The server tells of no change by itself: it has to be asked again.
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    },
    signal,
    async [Symbol.asyncDispose]() {
      // A stopped process takes no other signal than this one.
      signal("SIGKILL");
      await status;
      await log.done;
    },
  };
  if (options.ready ?? true) {
    try {
      await server.until("its model", async () => await answers(server, 200));
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }
  return server;
}

/** Whether `/health` answers with this status. */
export async function answers(server: LlamaServer, status: number): Promise<boolean> {
  const response = await server.get("/health");
  await response.body?.cancel();
  return response.status === status;
}

/** Whether no slot works. */
export async function isIdle(server: LlamaServer): Promise<boolean> {
  return (await server.slots()).every((slot) => !slot.is_processing);
}

/** Writes providers.yaml with the server as `llama`; `model` are further keys of its one model. */
export async function configureLlama(
  home: TemporaryHome,
  server: LlamaServer,
  more: { apiKey?: string; model?: Record<string, unknown> } = {},
): Promise<void> {
  await configure(home, {
    llama: {
      baseUrl: server.baseUrl,
      apiKey: more.apiKey ?? "local",
      models: [{ id: MODEL, context_window: 16_384, ...more.model }],
    },
  });
}
