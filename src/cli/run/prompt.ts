/** The user's words: the argument, standard input, or both joined, and the files attached to them. */
import type { Label } from "../../boundary/label.ts";
import { highestLabel } from "../../boundary/label.ts";
import { AgentcliError } from "../../errors.ts";
import type { Io } from "../../platform/io.ts";
import type { UserItem } from "../../session/item.ts";
import type { ToolContext } from "../../tools/tool.ts";

/** Largest prompt from standard input, in bytes. */
const INPUT_LIMIT = 16 * 1024 * 1024;
/** Largest attached file, in bytes. */
const FILE_LIMIT = 1024 * 1024;
/** Standard input that says nothing for this long is mentioned: it may be a pipe that nobody will close. */
const PATIENCE_MS = 1000;

/**
 * The prompt's text: `argument`, or all of standard input where it is `-` or missing; a prompt and piped input are
 * joined. Throws `usage` when that comes to nothing.
 */
export async function readPrompt(argument: string | undefined, io: Io, signal: AbortSignal): Promise<string> {
  const typed = argument === "-" ? undefined : argument;
  const piped = io.stdin.isTerminal && argument !== "-" ? "" : await readInput(io, signal);
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

/** Where attached files are read, and by which rule one may not be. */
export type AttachFrom = Pick<ToolContext, "workspace" | "readDenied">;

/**
 * The user's item: the prompt and the attached files, with the highest label of what is in it. A file that cannot be
 * attached is `usage`, a protected one `policy_refused`, one that a deny rule of Read covers `permission_denied`.
 */
export async function userItem(prompt: string, files: readonly string[], from: AttachFrom): Promise<UserItem> {
  const attached = await Promise.all(files.map((file) => attach(file, from)));
  const label = highestLabel([from.workspace.ambientLabel, ...attached.map((file) => file.label)]);
  return { kind: "user", text: [prompt, ...attached.map((file) => file.text)].join("\n\n"), label };
}

async function attach(file: string, { workspace, readDenied }: AttachFrom): Promise<{ text: string; label: Label }> {
  const resolved = await workspace.resolve(file);
  if ("refused" in resolved) throw refused(file, resolved.message);
  const rule = readDenied?.(resolved) ?? null;
  if (rule !== null) {
    throw new AgentcliError("permission_denied", `cannot attach ${file}: the rule ${rule} denies reading it`, {
      hint: "take the rule out of permissions.deny or --disallowed-tools, or leave the file out",
    });
  }
  const content = await workspace.read(resolved, { limit: FILE_LIMIT });
  if ("refused" in content) {
    if (content.refused === "protected") throw new AgentcliError("policy_refused", content.message);
    throw refused(file, content.message);
  }
  if (content.more) throw refused(file, `it is larger than ${FILE_LIMIT / 1024 / 1024} MiB`);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(content.bytes);
  } catch {
    throw refused(file, "it is not UTF-8 text");
  }
  return { text: `File ${resolved.display}:\n${text}`, label: content.label };
}

function refused(file: string, reason: string): AgentcliError {
  return new AgentcliError("usage", `cannot attach ${file}: ${reason}`);
}
