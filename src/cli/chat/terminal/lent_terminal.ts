/** The terminal while another program has it: nothing is read or drawn, and rows that come meanwhile wait. */
import type { Io } from "../../../platform/io.ts";
import type { Screen } from "../../../terminal/screen.ts";
import type { Row } from "../../../terminal/style.ts";

/** Pastes come in brackets, so that their line ends send nothing. */
const TAKE = "\x1b[?2004h";
const GIVE_BACK = "\x1b[?2004l\x1b[?25h";
/** Shift-Enter and others are distinguished from the keys whose character they share (Kitty keyboard protocol). */
const TELL_APART = { on: "\x1b[>1u", off: "\x1b[<u" };
/** Terminals that know it by their names; others may take the sequence for another one. */
const KNOWING = /kitty|ghostty|foot|alacritty|wezterm|iterm|vscode|rio/i;
/** Asks a terminal for its status; the answer ends the read that waits for keys. */
const ASK_READY = "\x1b[5n";
/** Longest wait for the answer. Milliseconds. */
const READY_MS = 3000;

/** Called when the terminal is back. */
interface LentOwner {
  print(rows: readonly Row[]): void;
  failed(error: unknown): void;
  returned(): void;
}

/** The terminal of one chat: taken, lent, and given back. */
export class LentTerminal {
  readonly #io: Pick<Io, "stdin" | "stdout" | "clock">;
  readonly #tellsApart: boolean;
  readonly #screen: Screen;
  readonly #owner: LentOwner;
  #kept: Row[] = [];
  #until: Promise<void> | null = null;
  #onReady: (() => void) | null = null;

  constructor(io: Pick<Io, "stdin" | "stdout" | "clock" | "env">, screen: Screen, owner: LentOwner) {
    this.#io = io;
    this.#tellsApart = KNOWING.test(`${io.env("TERM") ?? ""} ${io.env("TERM_PROGRAM") ?? ""}`);
    this.#screen = screen;
    this.#owner = owner;
  }

  /** Settles when keys may be read again; null while nobody else has the terminal. */
  get until(): Promise<void> | null {
    return this.#until;
  }

  /** Keeps rows until the terminal is back; false where it is not lent. */
  keep(rows: readonly Row[]): boolean {
    if (this.#until === null) return false;
    this.#kept.push(...rows);
    return true;
  }

  async take(): Promise<void> {
    this.#io.stdin.setRaw(true);
    await this.#io.stdout.write(this.#tellsApart ? TAKE + TELL_APART.on : TAKE);
  }

  async giveBack(): Promise<void> {
    this.#screen.live({ rows: [], cursor: null });
    await this.#screen.settled().catch(() => {});
    this.#io.stdin.setRaw(false);
    await this.#io.stdout.write(this.#tellsApart ? TELL_APART.off + GIVE_BACK : GIVE_BACK).catch(() => {});
  }

  /**
   * Lends the terminal for as long as the work takes, then prints what was kept, and what went wrong. Called while a
   * key is handled: then no read is waiting, which would steal the next key from the program that has the terminal.
   */
  async lend(work: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#until = promise;
    const { print, failed, returned } = this.#owner;
    const errors: unknown[] = [];
    const note = (error: unknown) => void errors.push(error);
    await this.giveBack().then(work).catch(note);
    // A terminal that was lost meanwhile cannot be taken.
    await this.take().catch(note);
    this.#until = null;
    print(this.#kept.splice(0));
    for (const error of errors) failed(error);
    returned();
    resolve();
  }

  /** Lends it at any time: asks the terminal for an answer first. False where it does not answer. */
  async lendWhenReady(work: () => Promise<void>): Promise<boolean> {
    // Another program would get the answer.
    for (let until = this.#until; until !== null; until = this.#until) await until;
    const lent = Promise.withResolvers<boolean>();
    // Whichever comes first counts.
    this.#onReady = () => lent.resolve(this.lend(work).then(() => true));
    const late = new AbortController();
    this.#io.clock.sleep(READY_MS, late.signal).then(() => lent.resolve(false), () => {});
    await this.#io.stdout.write(ASK_READY);
    try {
      return await lent.promise;
    } finally {
      late.abort();
      this.#onReady = null;
    }
  }

  ready(): void {
    const onReady = this.#onReady;
    this.#onReady = null;
    onReady?.();
  }
}
