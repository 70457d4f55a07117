/** The log of an engine: whole lines as they come, made safe to show, and the last of them kept. */

/** Lines that are kept. */
const KEPT = 20;
/** Characters of a line; longer ones are cut. */
const LINE_LIMIT = 2000;

// Colours and moves of the cursor say nothing in a log; everything else that steers a terminal stays for the cleaning.
// deno-lint-ignore no-control-regex -- control characters are what is looked for
const STYLES = /\u001b\[[0-9;?]*[A-Za-z]/g;

/** Takes bytes, gives lines. */
export class LogTail {
  readonly #decoders = { stdout: new TextDecoder(), stderr: new TextDecoder() };
  readonly #open = { stdout: "", stderr: "" };
  #last: string[] = [];
  readonly #onLine: (line: string) => void;

  /** `onLine` gets each whole line, without its end, not cleaned. */
  constructor(onLine: (line: string) => void = () => {}) {
    this.#onLine = onLine;
  }

  /** Adds what came from one of the streams. */
  add(bytes: Uint8Array<ArrayBuffer>, stream: "stdout" | "stderr"): void {
    const text = this.#open[stream] + this.#decoders[stream].decode(bytes, { stream: true });
    // A carriage return ends a line too: that is how progress is drawn.
    const lines = text.split(/\r\n|[\r\n]/);
    this.#open[stream] = (lines.pop() ?? "").slice(-LINE_LIMIT);
    for (const line of lines) this.#line(line);
  }

  /** The last lines, with those that have no end yet. */
  last(): string[] {
    for (const stream of ["stdout", "stderr"] as const) {
      const rest = this.#open[stream];
      this.#open[stream] = "";
      this.#line(rest);
    }
    return [...this.#last];
  }

  #line(text: string): void {
    const line = text.replace(STYLES, "").slice(0, LINE_LIMIT);
    if (line.trim() === "") return;
    this.#last = [...this.#last.slice(1 - KEPT), line];
    this.#onLine(line);
  }
}

/** The last lines of a whole log. */
export function lastLines(log: string): string[] {
  const tail = new LogTail();
  tail.add(new TextEncoder().encode(log), "stdout");
  return tail.last();
}
