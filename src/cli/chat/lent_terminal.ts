/** The terminal while another program has it: nothing is read or drawn, and rows that come meanwhile wait. */
import type { Io } from "../../platform/io.ts";
import type { Screen } from "../../terminal/screen.ts";
import type { Row } from "../../terminal/style.ts";

/** Pastes come in brackets, so that their line ends send nothing. */
const TAKE = "\x1b[?2004h";
const GIVE_BACK = "\x1b[?2004l\x1b[?25h";

/** Who is told when the terminal is back. */
interface LentOwner {
  print(rows: readonly Row[]): void;
  failed(error: unknown): void;
  returned(): void;
}

/** The terminal of one chat: taken, lent, and given back. */
export class LentTerminal {
  readonly #io: Pick<Io, "stdin" | "stdout">;
  readonly #screen: Screen;
  readonly #owner: LentOwner;
  #kept: Row[] = [];
  #until: Promise<void> | null = null;

  constructor(io: Pick<Io, "stdin" | "stdout">, screen: Screen, owner: LentOwner) {
    this.#io = io;
    this.#screen = screen;
    this.#owner = owner;
  }

  /** Settles when keys may be read again; null while nobody else has the terminal. */
  get until(): Promise<void> | null {
    return this.#until;
  }

  /** Keeps rows until the terminal is back; false where it is there. */
  keep(rows: readonly Row[]): boolean {
    if (this.#until === null) return false;
    this.#kept.push(...rows);
    return true;
  }

  async take(): Promise<void> {
    this.#io.stdin.setRaw(true);
    await this.#io.stdout.write(TAKE);
  }

  async giveBack(): Promise<void> {
    this.#screen.live({ rows: [], cursor: null });
    await this.#screen.settled().catch(() => {});
    this.#io.stdin.setRaw(false);
    await this.#io.stdout.write(GIVE_BACK).catch(() => {});
  }

  /** Lends the terminal for as long as the work takes, then prints what was kept, and what went wrong. */
  lend(work: () => Promise<void>): void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#until = promise;
    const lent = async () => {
      await this.giveBack();
      await work();
    };
    const { print, failed, returned } = this.#owner;
    lent().then(() => null, (error: unknown) => ({ error })).then(async (wrong) => {
      await this.take();
      this.#until = null;
      print(this.#kept.splice(0));
      if (wrong !== null) failed(wrong.error);
      returned();
    }).finally(resolve);
  }
}
