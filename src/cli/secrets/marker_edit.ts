/** Adding lines to a marker. Only the user does that, by `secrets add`: tools may not write markers. */
import { AgentcliError } from "../../errors.ts";
import { diskAdvice, diskReason } from "../../platform/disk_failure.ts";
import { lstat, writeAtomically } from "../../platform/files.ts";
import { join } from "../../platform/path.ts";
import { MARKER_NAME } from "../../boundary/policy/marker.ts";
import { escapedPath, parseMarker } from "../../boundary/policy/marker_text.ts";
import { readRegularFile } from "../../boundary/reader.ts";

/** Permission bits of a new marker: everybody who may look at the project may know its rules. */
const NEW_MARKER_MODE = 0o644;

/** A path below the marker's directory as a line of the marker holds it. Throws `usage` for a name with a line end. */
export function markerValue(path: string): string {
  if (/[\r\n]/.test(path)) {
    throw new AgentcliError("usage", "a name with a line end cannot be written into a marker", {
      hint: "protect its directory, or write a ? for that character",
    });
  }
  return escapedPath(path);
}

/**
 * Appends lines to the marker of `root`, which is made when there is none; everything in it stays as it is. Throws `usage`
 * when it is damaged or no plain file, or when the system refuses.
 */
export async function addToMarker(root: string, lines: readonly string[]): Promise<void> {
  const path = join(root, MARKER_NAME);
  const unusable = (reason: string) =>
    new AgentcliError("usage", `${path} was not changed: ${reason}`, { hint: "repair it with an editor first" });
  const status = await lstat(path);
  let text = "";
  if (status !== null) {
    if (status.kind !== "file") throw unusable("it is no plain file");
    const read = readRegularFile(path, { display: path });
    if ("refused" in read) throw unusable("it cannot be read");
    const { damaged } = parseMarker(read.bytes);
    if (damaged !== undefined) throw unusable(damaged);
    text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(read.bytes);
  }
  const end = text.includes("\r\n") ? "\r\n" : "\n";
  const start = text === "" || /[\r\n]$/.test(text) ? text : text + end;
  const added = lines.map((line) => line + end).join("");
  try {
    await writeAtomically(path, start + added, { mode: status?.mode ?? NEW_MARKER_MODE });
  } catch (error) {
    const reason = diskReason(error);
    if (reason === null) throw error;
    throw new AgentcliError("usage", `${path} was not ${status === null ? "made" : "changed"}: ${reason}`, {
      hint: diskAdvice(error) ?? `check the owner and the permissions of ${root}`,
      cause: error,
    });
  }
}
