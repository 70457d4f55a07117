/** Adding to a file of the project, whole or not at all. */
import { AgentcliError } from "../../errors.ts";
import { writeAtomically } from "../../platform/files.ts";
import type { Home } from "../../platform/home.ts";
import { FILE_LIMIT, linkOnTheWay, readFound } from "../disk.ts";

const NEW_FILE_MODE = 0o644;

/**
 * Appends `text` to a file below `base`. A file that would grow beyond 4 MiB is put aside as `<path>.1` first. Throws
 * `usage` where a link stands in the way.
 */
export async function appendText(
  home: Home,
  { base, path, text }: { base: string; path: string; text: string },
): Promise<void> {
  await home.locked("editor/append", async () => {
    const link = await linkOnTheWay(base, path) ?? await linkOnTheWay(base, `${path}.1`);
    if (link !== null) throw new AgentcliError("usage", `${link} is a link; nothing is written through links`);
    const found = readFound(path);
    const added = new TextEncoder().encode(text);
    let before = found?.bytes ?? new Uint8Array();
    if (before.length + added.length > FILE_LIMIT) {
      await writeAtomically(`${path}.1`, before, { mode: found?.mode ?? NEW_FILE_MODE });
      before = new Uint8Array();
    }
    const whole = new Uint8Array(before.length + added.length);
    whole.set(before);
    whole.set(added, before.length);
    await writeAtomically(path, whole, { mode: found?.mode ?? NEW_FILE_MODE });
  });
}
