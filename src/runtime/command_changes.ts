/**
 * Records what commands change in the project, for undo. The difference between a snapshot before and one after a
 * command counts as its work, unless another session worked there at the same time.
 */
import { textsOf } from "../boundary/scan/normalize.ts";
import { type CommandWatch, type Session } from "../agent/session.ts";
import { sessionLabel } from "../agent/labels.ts";
import { AgentcliError } from "../errors.ts";
import { diskReason } from "../platform/disk_failure.ts";
import { sha256 } from "../platform/digest.ts";
import type { Home } from "../platform/home.ts";
import { openSharedLog, type SharedLog } from "../platform/shared_log.ts";
import { realOrNamed } from "../platform/real_path.ts";
import type { Content, EntryChange, UndoStore } from "../session/undo.ts";
import { activityName } from "../session/undo_files.ts";
import { type SeenChange, Snapshot, TOO_MANY } from "./snapshot.ts";

/** Bytes that are scanned for protected content after one command; anything beyond counts as protected. */
const SCAN_LIMIT = 32 * 1024 * 1024;
/** Stands in a line of the shared log for a command, which can change anything. */
const ANYTHING = "*";

const SHARED: Content = {
  kind: "unread",
  reason: "another session ran a command in this project at the same time, so nobody knows whose change it is",
};

/** The session whose commands are watched. */
interface WatchedSession {
  session: Session;
  home: Home;
  undo(): Promise<UndoStore>;
  turn(): number;
  warn(text: string): void | Promise<void>;
}

/** Watches the commands of a session, from the first one on. */
export function watchCommands(options: WatchedSession): CommandWatch {
  return new WatchedCommands(options);
}

class WatchedCommands implements CommandWatch {
  readonly #options: WatchedSession;
  #snapshot: Snapshot | null = null;
  /** Open while a command runs. */
  #log: SharedLog | null = null;
  /** A command runs in the background: changes in this turn count as its work. */
  #goesOn = false;
  /** Files that tools changed since the last snapshot. */
  readonly #ours = new Set<string>();
  #isReported = false;

  constructor(options: WatchedSession) {
    this.#options = options;
  }

  async begin(signal?: AbortSignal): Promise<void> {
    await this.#attempt(() => this.#look({ isOver: this.#goesOn, goesOn: true, signal }), signal);
  }

  async end(): Promise<void> {
    this.#goesOn = (this.#options.session.memory.commands?.ids().length ?? 0) > 0;
    await this.#attempt(() => this.#look({ isOver: true, goesOn: this.#goesOn }));
  }

  async turnStart(signal?: AbortSignal): Promise<void> {
    if ((this.#options.session.memory.commands?.ids().length ?? 0) === 0) return;
    // Changes between two turns may be the user's own.
    await this.begin(signal);
    this.#goesOn = true;
  }

  async turnEnd(): Promise<void> {
    if (this.#goesOn) await this.#attempt(() => this.#look({ isOver: true, goesOn: false }));
    this.#goesOn = false;
  }

  note(path: string): void {
    this.#ours.add(path);
  }

  /** Takes a snapshot. If a command `isOver`, records what changed since the one before. */
  async #look({ isOver, goesOn, signal }: { isOver: boolean; goesOn: boolean; signal?: AbortSignal | undefined }) {
    const { session, home } = this.#options;
    const { workspace, id } = session;
    this.#snapshot ??= new Snapshot(workspace, realOrNamed(home.path));
    if (this.#log === null && goesOn && !this.#snapshot.isOff) {
      this.#log = openSharedLog(home, await activityName(workspace.root));
      this.#log.add(`${id} ${ANYTHING}`);
    }
    const changes = await this.#snapshot.look(signal);
    // Other sessions log a change before they make it: read after the snapshot, the log has all that it can contain.
    const lines = this.#log?.lines() ?? null;
    if (!goesOn) this.#close();
    // Undo data of files that became protected is removed with the next command at the latest.
    if (workspace.protection.met) await this.#options.undo();
    if (isOver) await this.#record(changes, lines);
    this.#ours.clear();
  }

  async #record(found: readonly SeenChange[], lines: readonly string[] | null): Promise<void> {
    const { session, turn, undo } = this.#options;
    const { id, workspace: { root } } = session;
    const others = lines?.filter((line) => !line.startsWith(id)).map((line) => line.split(" ")[1]);
    const isShared = others === undefined || others.includes(ANYTHING);
    const theirs = new Set(others);
    const seen = this.#snapshot?.isOff === true ? [{ path: root, before: TOO_MANY, after: TOO_MANY }] : found;
    const isOff = this.#snapshot?.isOff === true;
    const changes: EntryChange[] = [];
    for (const { path, before, after } of seen) {
      if (this.#ours.has(path) || theirs.size > 0 && theirs.has(await sha256(path))) continue;
      const contents = isShared && !isOff ? { before: SHARED, after: SHARED } : { before, after };
      changes.push({ turn: turn(), path, ...contents, label: "open" });
    }
    await this.#raise(changes);
    if (changes.length > 0) await (await undo()).record(changes);
  }

  /** Raises the label of changes that may not be stored: in a protected session, and with protected content. */
  async #raise(changes: readonly EntryChange[]): Promise<void> {
    const session = this.#options.session;
    const { workspace: { protection }, scanner } = session;
    const isOpen = sessionLabel(session) === "open";
    if (isOpen && !protection.any) return;
    let left = SCAN_LIMIT;
    for (const change of changes) {
      const texts = [change.path, textOf(change.before), textOf(change.after)];
      left -= texts.reduce((sum, { length }) => sum + length, 0);
      const isFree = isOpen && left >= 0 && protection.rule(change.path) === null &&
        await scanner?.holds(texts) !== true;
      if (!isFree) change.label = "no-cloud";
    }
  }

  #close(): void {
    this.#log?.close();
    this.#log = null;
  }

  /** Does the work without failing the command. Throws the signal's reason only. */
  async #attempt(work: () => Promise<void>, signal?: AbortSignal): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.#close();
      signal?.throwIfAborted();
      const reason = error instanceof AgentcliError ? error.message : diskReason(error);
      if (reason === null) throw error;
      if (!this.#isReported) await this.#options.warn(`what commands change cannot be undone: ${reason}`);
      this.#isReported = true;
    }
  }
}

/** Returns the text to scan; bytes in other encodings count with each text that they spell. */
function textOf(content: Content): string {
  if (content.kind === "link") return content.target;
  return content.kind === "file" ? textsOf(content.bytes).join("\n") : "";
}
