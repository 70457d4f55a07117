/** Lines to the client: one after the other, however many parts of the program write. */
import type { Output } from "../../platform/io.ts";
import type { ControlLine } from "../../protocol/control_schema.ts";

/** Where all lines to the client go. */
export interface ClientOutput {
  /** Whole lines. Resolves when the system took them: who waits for it writes no faster than the client reads. */
  write(lines: string): Promise<void>;
  control(line: ControlLine): Promise<void>;
}

/** Lines on `stdout`. After a failure every further write fails the same way. */
export function createClientOutput(stdout: Pick<Output, "write">): ClientOutput {
  let last: Promise<void> = Promise.resolve();
  const write = (lines: string) => {
    last = last.then(() => stdout.write(lines));
    // Whoever wrote hears of the failure; the chain itself is nobody's.
    last.catch(() => {});
    return last;
  };
  return { write, control: (line) => write(JSON.stringify(line) + "\n") };
}
