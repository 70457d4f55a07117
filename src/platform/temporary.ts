/** Temporary directories of our own, in the system's place for them. */
import { dirname, join } from "./path.ts";

/** A temporary directory; names are relative to it. */
export interface TemporaryDirectory {
  /** A real path. */
  readonly path: string;
  /** Makes or replaces a file, with its parents. Not safe against a crash: nothing here outlives the process. */
  write(name: string, text: string): void;
  /** Gives a file a second name. */
  link(name: string, other: string): void;
  read(name: string): string;
}

/** Runs `work` with a fresh directory for the owner alone, which is removed afterwards whatever happened. */
export async function withTemporaryDirectory<T>(work: (directory: TemporaryDirectory) => Promise<T>): Promise<T> {
  const path = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "agentcli-" }));
  try {
    return await work({
      path,
      write(name, text) {
        Deno.mkdirSync(dirname(join(path, name)), { recursive: true });
        Deno.writeTextFileSync(join(path, name), text, { mode: 0o600 });
      },
      link: (name, other) => Deno.linkSync(join(path, name), join(path, other)),
      read: (name) => Deno.readTextFileSync(join(path, name)),
    });
  } finally {
    await Deno.remove(path, { recursive: true });
  }
}
