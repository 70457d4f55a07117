/** Calls a person back to the terminal: when a long turn ends, and when a question waits. */
import { loadConfiguration } from "../../../config/load.ts";
import type { Configuration } from "../../../config/types.ts";
import { openHome } from "../../../platform/home.ts";
import type { Io } from "../../../platform/io.ts";
import { clean } from "../../../terminal/clean.ts";

/** Nobody looks away for less. Milliseconds. */
const LONG_MS = 10_000;

/** Returns what makes a terminal call: the bell, or a notice of the desktop (OSC 9). */
export function callSequence(how: Configuration["notify"], text: string): string {
  if (how === "off") return "";
  return how === "osc9" ? `\x1b]9;${clean(text)}\x07` : "\x07";
}

/** The calls of one chat. */
export class Bell {
  readonly #clock: Pick<Io["clock"], "monotonic" | "sleep">;
  readonly #ring: (text: string) => void;
  #begun = 0;

  constructor(clock: Pick<Io["clock"], "monotonic" | "sleep">, ring: (text: string) => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  turnBegins(): void {
    this.#begun = this.#clock.monotonic();
  }

  turnEnds(): void {
    if (this.#clock.monotonic() - this.#begun > LONG_MS) this.#ring("the turn is done");
  }

  /** At once in a turn that took long, else when nobody has answered for as long. */
  async waitsFor(answer: Promise<unknown>): Promise<void> {
    const waited = new AbortController();
    const answered = answer.then(() => waited.abort(), () => waited.abort());
    const isLong = this.#clock.monotonic() - this.#begun > LONG_MS;
    if (!isLong) await Promise.race([answered, this.#clock.sleep(LONG_MS, waited.signal).catch(() => {})]);
    if (!waited.signal.aborted) this.#ring("a question waits for your answer");
  }
}

/** Rings as the configuration says. A configuration that cannot be read is told of elsewhere. */
export async function ring(io: Io, text: string): Promise<void> {
  const configuration = await loadConfiguration(await openHome(io)).catch(() => null);
  const sequence = callSequence(configuration?.notify, text);
  if (sequence !== "") await io.stdout.write(sequence);
}
