/** The holdback of a reply, whose code (all families of written calls) is loaded while the server works. */
import type { Holdback } from "../provider/text_calls/holdback.ts";

/** {@link Holdback}, loaded when the first text comes at the latest. */
export interface DeferredHoldback {
  load(): Promise<Holdback>;
  push(text: string): string | Promise<string>;
  end(): string;
}

/** A holdback for one reply; one that is not `enabled` passes everything. */
export function deferHoldback(enabled: boolean): DeferredHoldback {
  let holdback: Holdback | null = null;
  const load = async () => {
    const { createHoldback } = await import("../provider/text_calls/holdback.ts");
    return holdback ??= createHoldback(enabled);
  };
  return {
    load,
    push: (text) => holdback !== null ? holdback.push(text) : load().then((loaded) => loaded.push(text)),
    end: () => holdback === null ? "" : holdback.end(),
  };
}
