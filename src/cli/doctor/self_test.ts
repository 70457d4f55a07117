/** A whole turn with the scripted model: the program tries itself, in a directory and a home that are thrown away. */
import type { Io } from "../../platform/io.ts";
import { join } from "../../platform/path.ts";
import { withTemporaryDirectory } from "../../platform/temporary.ts";
import type { Check } from "./check.ts";

/** Longest time for the turn, in seconds. */
const TURN_S = 10;

/** Runs the turn: a request, a call of a tool, its result, an answer. Needs no network but loopback. */
export async function checkDemo(io: Io): Promise<Check> {
  const start = io.clock.monotonic();
  const { code, text } = await withTemporaryDirectory(async ({ path, write }) => {
    write("notes.txt", "one line\n");
    const inside = outsideFor(io, path);
    const { main } = await import("../main.ts");
    const argv = ["run", "--model", "demo", "--json", "--no-session-persistence", "--timeout", String(TURN_S)];
    return { code: await main([...argv, "Read notes.txt"], inside.io), text: inside.text() };
  });
  const took = Math.round(io.clock.monotonic() - start);
  if (code === 0 && turnsOf(text) >= 2) {
    return {
      id: "demo",
      state: "ok",
      message: `a turn with a tool call works (${took} ms)`,
      facts: { duration_ms: took },
    };
  }
  return {
    id: "demo",
    state: "fail",
    message: `a turn with the built-in model fails (exit ${code})`,
    hint: 'agentcli run --model demo --verbose "Read README.md"',
  };
}

/** The same outside with its own home and output: what is configured, and who reads, has no part in the test. */
function outsideFor(io: Io, directory: string): { io: Io; text(): string } {
  let text = "";
  const silent = { isTerminal: false, columns: () => 80 };
  const variables = { ...io.environment(), AGENTCLI_HOME: join(directory, "home") };
  const env: Record<string, string | undefined> = { ...variables, AGENTCLI_MODEL: undefined };
  return {
    io: {
      ...io,
      // A terminal, so that no prompt is waited for on it.
      stdin: { isTerminal: true, read: () => Promise.resolve(null), setRaw: () => {} },
      stdout: { ...silent, write: (piece) => Promise.resolve(void (text += piece)) },
      stderr: { ...silent, write: () => Promise.resolve() },
      env: (name) => env[name],
      environment: () => variables,
      cwd: () => directory,
    },
    text: () => text,
  };
}

function turnsOf(text: string): number {
  try {
    const value: unknown = JSON.parse(text);
    const turns = typeof value === "object" && value !== null && "num_turns" in value ? value.num_turns : 0;
    return typeof turns === "number" ? turns : 0;
  } catch {
    return 0;
  }
}
