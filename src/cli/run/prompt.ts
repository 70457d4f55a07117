/** The user's words: the argument, standard input, or both joined, and the files attached to them. */
import type { Label } from "../../boundary/label.ts";
import { highestLabel } from "../../boundary/label.ts";
import type { Refusal } from "../../boundary/workspace.ts";
import { AgentcliError } from "../../errors.ts";
import type { Io } from "../../platform/io.ts";
import type { ShownImage } from "../../provider/image.ts";
import type { UserItem } from "../../session/item.ts";
import type { ToolContext } from "../../tools/tool.ts";

/** Largest prompt from standard input, in bytes. */
const INPUT_LIMIT = 16 * 1024 * 1024;
/** Largest attached text, in bytes; images have a limit of their own. */
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
 * The user's item: the prompt, the attached files and images, with the highest label of what is in it. A file that cannot be
 * attached is `usage`, a protected one `policy_refused`, one that a deny rule of Read covers `permission_denied`.
 */
export async function userItem(prompt: string, files: readonly string[], from: AttachFrom): Promise<UserItem> {
  const attached = await Promise.all(files.map((file) => attach(file, from)));
  const label = highestLabel([from.workspace.ambientLabel, ...attached.map((file) => file.label)]);
  const item: UserItem = { kind: "user", text: [prompt, ...attached.map((file) => file.text)].join("\n\n"), label };
  const images = attached.flatMap(({ image }) => image === undefined ? [] : [image]);
  return images.length === 0 ? item : { ...item, images };
}

/** A file as a part of the prompt. */
interface Attached {
  text: string;
  label: Label;
  image?: ShownImage;
}

async function attach(file: string, { workspace, readDenied }: AttachFrom): Promise<Attached> {
  const resolved = await workspace.resolve(file);
  if ("refused" in resolved) throw refused(file, resolved.message);
  const rule = readDenied?.(resolved) ?? null;
  if (rule !== null) {
    throw new AgentcliError("permission_denied", `cannot attach ${file}: the rule ${rule} denies reading it`, {
      hint: "take the rule out of permissions.deny or --disallowed-tools, or leave the file out",
    });
  }
  const content = await workspace.read(resolved, { limit: FILE_LIMIT });
  if ("refused" in content) throw refusal(file, content);
  const text = content.more ? null : decoded(content.bytes);
  if (text === null || text.includes("\0")) {
    const { attachedImage } = await import("./attached_image.ts");
    const image = await attachedImage(resolved, content, workspace);
    if (image !== null && "image" in image) return image;
    if (image !== null) throw "refused" in image ? refusal(file, image) : refused(file, image.problem);
  }
  if (content.more) throw refused(file, `it is larger than ${FILE_LIMIT / 1024 / 1024} MiB`);
  if (text === null) throw refused(file, "it is not UTF-8 text");
  return { text: `File ${resolved.display}:\n${text}`, label: content.label };
}

/** Null for what is no UTF-8. */
function decoded(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}

function refusal(file: string, { refused: why, message }: Refusal): AgentcliError {
  return why === "protected" ? new AgentcliError("policy_refused", message) : refused(file, message);
}

function refused(file: string, reason: string): AgentcliError {
  return new AgentcliError("usage", `cannot attach ${file}: ${reason}`);
}
