/** One line typed without being shown: for keys. */
import { AgentcliError } from "../errors.ts";
import type { Io } from "../platform/io.ts";

/** Longest line that is taken, in characters. */
const LINE_LIMIT = 64 * 1024;

/** What was typed so far, or how it ended. */
export type HiddenLine =
  | { kind: "typing"; text: string }
  | { kind: "done"; text: string }
  | { kind: "ended" }
  | { kind: "interrupted" };

/** The line after one more character: enter ends it, backspace and control-U take back, control-C and -D give up. */
export function typed(line: HiddenLine, character: string): HiddenLine {
  if (line.kind !== "typing") return line;
  const { text } = line;
  if (character === "\r" || character === "\n") return { kind: "done", text };
  if (character === "\x03") return { kind: "interrupted" };
  if (character === "\x04") return text === "" ? { kind: "ended" } : line;
  if (character === "\x7f" || character === "\b") return { kind: "typing", text: [...text].slice(0, -1).join("") };
  if (character === "\x15") return { kind: "typing", text: "" };
  return { kind: "typing", text: text + character };
}

/**
 * Asks for a line that is not shown while it is typed; null when the input ended. The terminal is set back whatever
 * happens. Without a terminal it is `usage`; control-C is `interrupted`, SIGTERM and SIGHUP are `terminated`.
 */
export async function askHidden(
  io: Pick<Io, "stdin" | "stderr" | "onSignal">,
  question: string,
): Promise<string | null> {
  if (!io.stdin.isTerminal || !io.stderr.isTerminal) {
    throw new AgentcliError("usage", "a question needs an answer, and standard input is not a terminal");
  }
  const stopped = Promise.withResolvers<never>();
  stopped.promise.catch(() => {});
  const release = io.onSignal((signal) =>
    stopped.reject(new AgentcliError(signal === "SIGINT" ? "interrupted" : "terminated", "stopped; nothing changed"))
  );
  // Before the question is shown: what is typed at once must not be shown either.
  io.stdin.setRaw(true);
  try {
    await io.stderr.write(question);
    const line = await Promise.race([readHidden(io.stdin), stopped.promise]);
    if (line.kind === "interrupted") throw new AgentcliError("interrupted", "stopped; nothing changed");
    return line.kind === "done" ? line.text : null;
  } finally {
    io.stdin.setRaw(false);
    release();
    await io.stderr.write("\n");
  }
}

async function readHidden(stdin: Io["stdin"]): Promise<HiddenLine> {
  const decoder = new TextDecoder();
  let line: HiddenLine = { kind: "typing", text: "" };
  while (line.kind === "typing") {
    const bytes = await stdin.read();
    if (bytes === null) return line.text === "" ? { kind: "ended" } : { kind: "done", text: line.text };
    for (const character of decoder.decode(bytes, { stream: true })) line = typed(line, character);
    if (line.kind === "typing" && line.text.length > LINE_LIMIT) {
      throw new AgentcliError("usage", "the answer is too long");
    }
  }
  return line;
}
