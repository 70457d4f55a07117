/**
 * `agentcli mcp serve` without a process of its own, and a client of it; nobody waits for a second that it waits for.
 */
import { openHere, serve as serveClient } from "../../src/cli/mcp/serve.ts";
import { denoIo } from "../../src/platform/deno_io.ts";
import type { ServiceClock } from "../../src/private/service.ts";
import type { Io, Output } from "../../src/platform/io.ts";
import type { TemporaryHome } from "./home.ts";
import { environmentOf } from "./program.ts";

/** What a call came to; `structured` is its `structuredContent`. */
export interface Told {
  // deno-lint-ignore no-explicit-any -- tests look into results of any shape
  structured: any;
  text: string;
  isError: boolean;
  /** Milliseconds that the client waited, as the server counts them. */
  waited: number;
}

/** A running server. */
export interface Served extends AsyncDisposable {
  /** Sends a request and gives its answer, with `result` or `error`. */
  // deno-lint-ignore no-explicit-any -- as above
  request(method: string, params?: Record<string, unknown>): Promise<any>;
  send(message: Record<string, unknown>): void;
  call(tool: string, given?: Record<string, unknown>): Promise<Told>;
  /** All that the client could read so far. */
  readonly seen: { stdout: string; stderr: string };
  /** Resolves with the exit code. */
  end(): Promise<number>;
}

/** Goes on with what is slept; the time for a model's work passes as it does. */
function skippingClock(): ServiceClock & { skipped: number } {
  const { clock } = denoIo();
  const skipping = {
    skipped: 0,
    now: () => clock.now() + skipping.skipped,
    monotonic: () => clock.monotonic() + skipping.skipped,
    sleep: clock.sleep,
    hold(milliseconds: number, signal?: AbortSignal) {
      signal?.throwIfAborted();
      skipping.skipped += milliseconds;
      return Promise.resolve();
    },
  };
  return skipping;
}

/** Starts the server in the project of a home, and says who its client is. */
export function serve(
  home: TemporaryHome,
  { model, audit = false }: { model?: string; audit?: boolean } = {},
): Served {
  const seen = { stdout: "", stderr: "" };
  const waiting: Uint8Array<ArrayBuffer>[] = [];
  let isEnded = false;
  let wake = Promise.withResolvers<void>();
  const answers = new Map<unknown, (message: unknown) => void>();
  const output = (name: keyof typeof seen): Output => ({
    isTerminal: false,
    columns: () => 80,
    write(text) {
      const written = typeof text === "string" ? text : new TextDecoder().decode(text);
      seen[name] += written;
      if (name === "stdout") {
        for (const line of written.split("\n").filter((one) => one !== "")) {
          const message = JSON.parse(line);
          answers.get(message.id)?.(message);
        }
      }
      return Promise.resolve();
    },
  });
  const environment = environmentOf({ home });
  const clock = skippingClock();
  const io: Io = {
    stdin: {
      isTerminal: false,
      async read() {
        while (waiting.length === 0 && !isEnded) await wake.promise;
        return waiting.shift() ?? null;
      },
      setRaw: () => {},
    },
    stdout: output("stdout"),
    stderr: output("stderr"),
    env: (name) => environment[name],
    environment: () => ({ ...environment }),
    cwd: () => home.project,
    clock: denoIo().clock,
    os: denoIo().os,
    onSignal: () => () => {},
  };
  const globals = { cwd: home.project, json: false, quiet: false, verbose: false, noColor: true, yes: false };
  const code = serveClient(
    { options: { model, audit, http: undefined }, arguments: [], context: { io, globals } },
    { clock, open: openHere({ io, cwd: home.project, model }) },
  );
  const stir = () => {
    wake.resolve();
    wake = Promise.withResolvers<void>();
  };
  let count = 0;
  const served: Served = {
    seen,
    send(message) {
      waiting.push(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n"));
      stir();
    },
    async request(method, params = {}) {
      const id = ++count;
      const { promise, resolve } = Promise.withResolvers<unknown>();
      answers.set(id, resolve);
      served.send({ id, method, params });
      const ended = code.then((ended) => Promise.reject(new Error(`it ended with ${ended}: ${seen.stderr}`)));
      ended.catch(() => {});
      return await Promise.race([promise, ended]);
    },
    async call(tool, given = {}) {
      const started = clock.monotonic();
      const { result, error } = await served.request("tools/call", { name: tool, arguments: given });
      if (error !== undefined) throw new Error(error.message);
      return {
        structured: result.structuredContent,
        text: result.content[0].text,
        isError: result.isError === true,
        waited: clock.monotonic() - started,
      };
    },
    async end() {
      isEnded = true;
      stir();
      return await code;
    },
    async [Symbol.asyncDispose]() {
      await served.end();
    },
  };
  return served;
}
