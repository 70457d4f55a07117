/** The log of what the user let go, `released.jsonl` of the home: never what it was. */
import type { Home } from "../platform/home.ts";
import { openJournal } from "../platform/journal.ts";

const FILE = "released.jsonl";

/** One entry. Texts of clients in it are their own words. */
export type LogEntry =
  | { what: "released"; id: string; project: string; asked_by: string; bytes: number; sha256: string }
  | { what: "bits added"; bits: number }
  | { what: "changes of open files allowed once"; project: string }
  | { what: "values allowed once"; project: string };

/** Writes an entry; it is on the disk when it returns. */
export async function logRelease(home: Home, entry: LogEntry, { now }: { now: number }): Promise<void> {
  const journal = await openJournal(home, FILE);
  try {
    const line = JSON.stringify({ time: new Date(now).toISOString(), ...entry }) + "\n";
    await journal.append(new TextEncoder().encode(line));
  } finally {
    journal.close();
  }
}
