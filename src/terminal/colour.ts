/** Whether colour is wanted. */
import type { Io } from "../platform/io.ts";

/**
 * `NO_COLOR` and `--no-color` take it away, `FORCE_COLOR` gives it, else a terminal that is not dumb has it. A variable
 * that is set to nothing counts as not set.
 */
export function wantsColour(io: Pick<Io, "env" | "stdout">, options: { noColor: boolean }): boolean {
  const set = (name: string) => (io.env(name) ?? "") !== "";
  if (options.noColor || set("NO_COLOR")) return false;
  if (set("FORCE_COLOR")) return io.env("FORCE_COLOR") !== "0";
  return io.stdout.isTerminal && io.env("TERM") !== "dumb";
}
