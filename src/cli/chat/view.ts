/** What commands and questions of the chat need of what is shown: the terminal and the lines give one each. */
import type { Choice } from "../../terminal/picker.ts";
import type { Row } from "../../terminal/style.ts";

/** A way to tell and to ask. */
export interface ChatView {
  /** Whether what is said goes to a terminal: elsewhere it may go into a log, which gets nothing protected. */
  readonly isTerminal: boolean;
  /** Columns that rows may take. */
  width(): number;
  /** Rows that stay. */
  say(rows: readonly Row[]): void;
  /** One of the choices by its place; null when nothing was chosen, or nobody is there. `guarded`: no key that was meant for the line. */
  pick(question: { title: string; choices: readonly Choice[]; guarded?: boolean }): Promise<number | null>;
  /** A line of text; null when it was given up. */
  ask(title: string): Promise<string | null>;
  /** Says what is being done while it takes. */
  during<T>(label: string, work: Promise<T>): Promise<T>;
  /** Ends the chat after what runs now. */
  leave(): void;
  clear(): void;
}
