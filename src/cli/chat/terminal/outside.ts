/**
 * Programs that get the terminal of the chat: the person's editor, and commands of their own. Loaded with the first.
 */
import { AgentcliError } from "../../../errors.ts";
import type { Io } from "../../../platform/io.ts";
import { join } from "../../../platform/path.ts";
import { runOnOwnStreams, suspendJob } from "../../../platform/runtime.ts";
import { withTemporaryDirectory } from "../../../platform/temporary.ts";
import { clean } from "../../../terminal/clean.ts";
import { type Row, row } from "../../../terminal/style.ts";

/** The extension shows editors that it is Markdown. */
const DRAFT = "draft.md";
/** The exit code by which a shell reports a missing program. */
const NOT_FOUND = 127;

/** Returns the text as the person's editor left it. Throws `usage` where no editor starts, or it failed. */
export async function editOutside(draft: string, { io, cwd }: { io: Io; cwd: string }): Promise<string> {
  const named = ["VISUAL", "EDITOR"].map((name) => io.env(name)?.trim() ?? "").find((value) => value !== "");
  const editor = named ?? (io.os === "windows" ? "notepad" : "vi");
  // A directory of its own: editors leave backups and swap files beside what they edit, and all of it is removed.
  return await withTemporaryDirectory(async (directory) => {
    directory.write(DRAFT, draft);
    const file = join(directory.path, DRAFT);
    // As git starts it: the variable may hold options.
    const command: [string, ...string[]] = io.os === "windows"
      ? ["cmd", "/d", "/c", `${editor} "${file}"`]
      : ["sh", "-c", `${editor} "$@"`, editor, file];
    const code = await runOnOwnStreams(command, { env: io.environment(), io, cwd });
    if (code !== 0) throw editorFailed(editor, code);
    return directory.read(DRAFT).replace(/\r\n?/g, "\n").replace(/\n+$/, "");
  });
}

function editorFailed(editor: string, code: number): AgentcliError {
  const shown = clean(editor);
  return new AgentcliError(
    "usage",
    code === NOT_FOUND ? `the editor ${shown} was not found` : `the editor ${shown} ended with exit code ${code}`,
    { hint: "the draft is as it was; set VISUAL or EDITOR to an editor that waits, such as `vim` or `code --wait`" },
  );
}

/**
 * Runs a command in the person's own shell, with the terminal; returns what to say of it. The model learns nothing of
 * it.
 */
export async function runOutside(command: string, { io, cwd }: { io: Io; cwd: string }): Promise<Row[]> {
  const argv: [string, ...string[]] = io.os === "windows"
    ? [io.env("COMSPEC") ?? "cmd", "/d", "/s", "/c", command]
    : [io.env("SHELL") || "/bin/sh", "-c", command];
  const code = await runOnOwnStreams(argv, { env: io.environment(), io, cwd });
  return code === 0 ? [] : [row(`  exit code ${code}`, "warning")];
}

/** A requested stop of this process takes effect after a moment. Milliseconds. */
const SUSPENDING_MS = 50;

/** Stops this process until the shell continues it. */
export async function suspend({ io }: { io: Pick<Io, "clock"> }): Promise<void> {
  if (suspendJob()) await io.clock.sleep(SUSPENDING_MS);
}
