/** The user's words: the argument, standard input, or both joined. */
import { AgentcliError } from "../../errors.ts";
import type { Io } from "../../platform/io.ts";

/** Largest prompt from standard input, in bytes. */
const INPUT_LIMIT = 16 * 1024 * 1024;
/** Standard input that says nothing for this long is mentioned: it may be a pipe that nobody will close. */
const PATIENCE_MS = 1000;

/**
 * The prompt's text: `argument`, or all of standard input where it is `-` or missing; a prompt and piped input are
 * joined. Throws `usage` when that comes to nothing.
 */
export async function readPrompt(argument: string | undefined, io: Io, signal: AbortSignal): Promise<string> {
  const typed = argument === "-" ? undefined : argument;
  const piped = io.stdin.isTerminal && argument !== "-" ? "" : await readInput(io, signal);
  // Servers and templates end a text at one, and what holds one is no text.
  if (piped.includes("\0")) {
    throw new AgentcliError("usage", "standard input is not text: it holds NUL bytes", {
      hint: "pipe text in, or name the file in the prompt; images go with --file",
    });
  }
  const prompt = [typed ?? "", piped].filter((part) => part.trim() !== "").join("\n\n");
  if (prompt === "") {
    throw new AgentcliError("usage", "the prompt is empty", {
      hint: 'give it as an argument or on standard input: agentcli run "<prompt>"',
    });
  }
  return prompt;
}

async function readInput(io: Io, signal: AbortSignal): Promise<string> {
  // A flag, since telling a signal to abort costs half a millisecond of every start.
  let waiting = true;
  void io.clock.sleep(PATIENCE_MS).then(() =>
    waiting ? io.stderr.write("reading standard input; end it with Ctrl-D, or start with </dev/null\n") : undefined
  );
  const decoder = new TextDecoder();
  const stopped = aborted(signal);
  const parts: string[] = [];
  let size = 0;
  try {
    while (true) {
      const bytes = await Promise.race([io.stdin.read(), stopped.promise]);
      waiting = false;
      if (bytes === null) return parts.join("") + decoder.decode();
      size += bytes.length;
      if (size > INPUT_LIMIT) {
        throw new AgentcliError("usage", `standard input is larger than ${INPUT_LIMIT / 1024 / 1024} MiB`, {
          hint: "save it to a file and let the model read it in parts",
        });
      }
      parts.push(decoder.decode(bytes, { stream: true }));
    }
  } finally {
    waiting = false;
    stopped.forget();
  }
}

/** A promise that rejects with the signal's reason when it is aborted. */
function aborted(signal: AbortSignal): { promise: Promise<never>; forget(): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  // Nobody may be waiting when it rejects.
  promise.catch(() => {});
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  return { promise, forget: () => signal.removeEventListener("abort", stop) };
}
