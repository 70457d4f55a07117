/** The hold of a reply, whose code (all families of written calls) is loaded while the server works. */
import type { Hold } from "../provider/text_calls/hold.ts";

/** {@link Hold}, loaded when the first text comes at the latest. */
export interface LateHold {
  load(): Promise<Hold>;
  push(text: string): string | Promise<string>;
  end(): string;
}

/** A hold for one reply; one that is not `enabled` passes everything. */
export function lateHold(enabled: boolean): LateHold {
  let hold: Hold | null = null;
  const load = async () => {
    const { createHold } = await import("../provider/text_calls/hold.ts");
    return hold ??= createHold(enabled);
  };
  return {
    load,
    push: (text) => hold !== null ? hold.push(text) : load().then((loaded) => loaded.push(text)),
    end: () => hold === null ? "" : hold.end(),
  };
}
