/** A client of the protocol for tests: writes lines, waits for lines, holds every one against the schema. */
import { controlLineSchema, eventSchema } from "../../src/protocol/schema.ts";
import { type RunningProgram, type RunOptions, startProgram } from "./program.ts";

/** A line as it came. */
// deno-lint-ignore no-explicit-any -- tests look into lines of any shape, which the schema has approved
export type Line = any;

/** A client with its program. */
export interface TestClient extends AsyncDisposable {
  program: RunningProgram;
  /** All lines so far. */
  lines(): Line[];
  send(...lines: unknown[]): Promise<void>;
  /** A message of the user. */
  say(text: string): Promise<void>;
  /** Sends a control request and gives the body of its answer. */
  request(request: Record<string, unknown>): Promise<Line>;
  /** The next line, after those that were waited for before, that `wanted` wants. */
  next(wanted: (line: Line) => boolean): Promise<Line>;
  result(): Promise<Line>;
  /** Answers the next question of this subtype. */
  answer(subtype: string, response: Record<string, unknown>): Promise<Line>;
  /** Ends the input and gives what came of the program. */
  end(): ReturnType<typeof finish>;
}

/** What clients start the program with. */
export const STREAM = ["--output-format", "stream-json", "--verbose", "--input-format", "stream-json"] as const;

/** Starts the program as a client does. */
export function startClient(args: readonly string[], options: Omit<RunOptions, "stdin">): TestClient {
  const program = startProgram([...STREAM, ...args], options);
  let taken = 0;
  let count = 0;
  const lines = () => program.stdout.text.split("\n").slice(0, -1).map(parse);
  const send = (...given: unknown[]) =>
    program.write(given.map((line) => (typeof line === "string" ? line : JSON.stringify(line)) + "\n").join(""));
  const next = async (wanted: (line: Line) => boolean) => {
    for (;;) {
      const text = await program.stdout.until(new RegExp(`^(?:[^\\n]*\\n){${taken + 1}}`));
      const line = parse(text[0].split("\n")[taken] ?? "");
      taken++;
      if (wanted(line)) return line;
    }
  };
  return {
    program,
    lines,
    send,
    say: (text) => send({ type: "user", message: { role: "user", content: text }, session_id: "" }),
    async request(request) {
      const id = `r${count++}`;
      await send({ type: "control_request", request_id: id, request });
      return (await next((line) => line.type === "control_response" && line.response.request_id === id)).response;
    },
    next,
    result: () => next((line) => line.type === "result"),
    async answer(subtype, response) {
      const question = await next((line) => line.type === "control_request" && line.request.subtype === subtype);
      await send({
        type: "control_response",
        response: { subtype: "success", request_id: question.request_id, response },
      });
      return question.request;
    },
    end: () => finish(program),
    [Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
  };
}

async function finish(program: RunningProgram) {
  await program.closeInput();
  const done = await program.finished;
  return { ...done, lines: done.stdout.split("\n").slice(0, -1).map(parse) };
}

function parse(text: string): Line {
  const value = JSON.parse(text);
  const schema = String(value.type).startsWith("control_") ? controlLineSchema : eventSchema;
  schema.parse(value);
  return value;
}
