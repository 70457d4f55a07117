/**
 * The program without a process of its own: the same entry with streams, environment and directory that are passed in,
 * at a twentieth of the time. For commands that neither change the process nor are ended by signals.
 */
import { main } from "../../src/cli/main.ts";
import { denoIo } from "../../src/platform/deno_io.ts";
import type { Io, Output } from "../../src/platform/io.ts";
import { environmentOf, type Finished, type RunOptions, runProgram } from "./program.ts";

/**
 * Runs the program to its end, as `runProgram` does. A child is started for another form of it (`AGENTCLI_BIN`), and
 * where Deno is to permit less.
 */
export async function runInProcess(
  args: readonly string[],
  options: RunOptions & {
    /** The streams say that they are a terminal; nobody types on it but `answers`. */
    terminal?: boolean;
    /** Typed one after the other, each once a question with `[y/N]` is shown. */
    answers?: readonly string[];
    /** In place of `stdin`: each line is read when the one before is done, and functions are called in between. */
    lines?: readonly (string | (() => unknown))[];
  },
): Promise<Finished> {
  const { terminal = false, answers = [] } = options;
  const lines = [...options.lines ?? []];
  const asked = answers.map(() => Promise.withResolvers<void>());
  let [shown, read] = [0, 0];
  // A child has no terminal.
  const isChild = Deno.env.get("AGENTCLI_BIN") !== undefined && !terminal;
  if (isChild || options.permissions !== undefined) return await runProgram(args, options);
  const started = performance.now();
  const environment = environmentOf(options);
  const written = { stdout: "", stderr: "" };
  const output = (name: keyof typeof written): Output => ({
    isTerminal: terminal,
    columns: () => 80,
    write(text) {
      written[name] += text;
      if (String(text).includes("[y/N]")) asked[shown++]?.resolve();
      return Promise.resolve();
    },
  });
  const { stdin } = options;
  const waiting = stdin === undefined
    ? []
    : [typeof stdin === "string" ? new TextEncoder().encode(stdin) : new Uint8Array(stdin)];
  const { clock, os } = denoIo();
  const io: Io = {
    stdin: {
      isTerminal: terminal,
      async read() {
        for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
          if (typeof line === "string") return new TextEncoder().encode(`${line}\n`);
          await line();
        }
        const at = read++;
        await asked[at]?.promise;
        return answers[at] === undefined ? waiting.pop() ?? null : new TextEncoder().encode(`${answers[at]}\n`);
      },
      setRaw: () => {},
    },
    stdout: output("stdout"),
    stderr: output("stderr"),
    env: (name) => environment[name],
    environment: () => ({ ...environment }),
    cwd: () => options.cwd ?? options.home.project,
    clock,
    os,
    onSignal: () => () => {},
  };
  const code = await main([...args], io);
  return { code, signal: null, ...written, durationMs: performance.now() - started, timedOut: false };
}
