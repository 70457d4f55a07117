/** Erases parts of files of the home. Apart from `journal.ts`, which every start loads. */
import type { Home } from "./home.ts";

/** Erases all of a file of the home but these parts, which stay where they are. */
export async function keepParts(
  home: Home,
  name: string,
  parts: readonly { at: number; length: number }[],
): Promise<void> {
  const handle = await Deno.open(home.file(name), { write: true });
  try {
    const { size } = handle.statSync();
    const zeros = new Uint8Array(256 * 1024);
    let end = 0;
    for (const { at, length } of [...parts].sort((one, other) => one.at - other.at)) {
      handle.seekSync(end, Deno.SeekMode.Start);
      for (let left = Math.min(at, size) - end; left > 0;) left -= await handle.write(zeros.subarray(0, left));
      end = Math.max(end, at + length);
    }
    if (end < size) await handle.truncate(end);
    await handle.syncData();
  } finally {
    handle.close();
  }
}
