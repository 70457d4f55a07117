/**
 * Runs every program of a session, in its sandbox or without one, and watches it. A protected path can become visible
 * meanwhile, when somebody saves a protected file or adds a line to a marker. So output is passed on only after a look
 * at the protected paths that started after it was written, and the first look that finds an exposed path ends the
 * program. When it has ended, however that was, the files that it changed are judged.
 */
import { type ProcessOptions, type ProcessOutcome, run } from "../../platform/process.ts";
import { within } from "../../platform/sleep.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { UNKNOWN_PATH } from "../policy/protection_rule.ts";
import type { ProgramChanges } from "../scan/copies.ts";
import { type QuarantineEntry, quarantineNotice } from "./quarantine.ts";
import { type SandboxReason, sandboxReason, type SessionSandbox } from "./sandbox.ts";
import type { ProgramNote } from "./unfinished.ts";

/** Milliseconds until the next look, and at least this many times the duration of the last one. */
const PAUSE_MS = 200;
const COST_TIMES = 4;
/** Milliseconds that the next look then waits for output. */
const QUIET_MS = 1_000;
/** Bytes of output that wait for a look; beyond them the command has to wait. */
const MOST_HELD = 1024 * 1024;

/** A program, ready to start, with what watches it. */
export interface WatchedProgram {
  argv: [string, ...string[]];
  /** For a sandboxed command: the environment of the sandbox program, not of the command, which must not see ours. */
  env: Record<string, string>;
  cwd: string;
  /** Real paths of the directories in which what it changed is judged. */
  roots: readonly string[];
  /**
   * Called while the program runs and after it ends. Returns what it made that could run code later, and the protected
   * paths that it can see now: replaced and new ones. If it throws, assume that there are some.
   */
  look(): Promise<{ planted: readonly string[]; exposed: string[] }>;
  /** Moves paths to quarantine. Called when the program has ended: it could move directories meanwhile. */
  quarantine(paths: readonly string[]): Promise<QuarantineEntry | null>;
  /** Removed when everything that the program changed is protected as it has to be; null without a sandbox. */
  note: ProgramNote | null;
  /** As in `ProgramChanges`. */
  isFree?: boolean;
}

/** Protects files in places that a program changed and that hold protected content, or all if it could see some. */
export type ProtectChanges = (places: readonly string[], changes: ProgramChanges) => Promise<unknown>;

/** How to handle what a command left behind. */
export interface WatchOptions {
  /** How notices name the command. */
  name: string;
  notify: ((text: string) => unknown) | undefined;
  /** Returns whether a name holds protected content, so that no notice may show it. */
  holdsProtected: ((text: string) => Promise<boolean>) | undefined;
  /** Called when the command has ended, with where it could write. */
  protectChanges: ProtectChanges | undefined;
}

/** How a command ended, and what the looks found. */
export interface WatchedOutcome extends ProcessOutcome {
  /** A protected path that the command could see: later output was dropped, and the command was ended. */
  exposed: string | null;
  /** The files that it made and that could run code later. A look that finds one ends the program. */
  quarantined: QuarantineEntry | null;
}

/** Output since the start of the last look; it is passed on when a later look finds nothing. */
class HeldOutput {
  readonly pieces: Parameters<ProcessOptions["onOutput"]>[] = [];
  bytes = 0;
  readonly arrived = Promise.withResolvers<void>();
  readonly released = Promise.withResolvers<void>();
}

/**
 * Returns a program that runs without a sandbox, since nothing is protected or the machine can make none for the reason
 * `accepted`. As soon as there is another reason for one, the program could see something protected.
 */
export function unsandboxed(
  line: Pick<WatchedProgram, "argv" | "env" | "cwd">,
  { workspace, sandbox, accepted }: {
    workspace: Workspace;
    sandbox: SessionSandbox | undefined;
    accepted: SandboxReason | null;
  },
): WatchedProgram {
  return {
    ...line,
    roots: [workspace.root, ...workspace.additional],
    note: null,
    isFree: true,
    async look() {
      const reason = await sandboxReason({ workspace, sandbox });
      return { planted: [], exposed: reason === null || reason === accepted ? [] : [UNKNOWN_PATH] };
    },
    quarantine: () => Promise.resolve(null),
  };
}

/**
 * Runs a program. `onOutput` gets the output that may be passed on. If a look fails, or what the program changed cannot
 * be protected, throws that error, and the note of the program stays: the next session takes it up.
 */
export async function runWatched(
  program: WatchedProgram,
  { name, notify, holdsProtected, protectChanges, ...options }:
    & Omit<ProcessOptions, "argv" | "cwd" | "env">
    & WatchOptions,
): Promise<WatchedOutcome> {
  const stop = new AbortController();
  const signals = [stop.signal, ...options.signal === undefined ? [] : [options.signal]];
  let planted: readonly string[] = [];
  let quarantined: QuarantineEntry | null = null;
  let exposed: string | null = null;
  let failure: unknown = null;
  let pause = PAUSE_MS;
  const started = Date.now();
  /** The start of the last look that found nothing exposed. */
  let since = started;
  let held = new HeldOutput();
  let passing = Promise.resolve();
  const { argv, env, cwd, roots, isFree } = program;
  const running = run({
    ...{ ...options, argv, env, cwd, signal: AbortSignal.any(signals) },
    onOutput(...piece) {
      if (stop.signal.aborted) return;
      held.pieces.push(piece);
      held.bytes += piece[0].length;
      held.arrived.resolve();
      return held.bytes > MOST_HELD ? held.released.promise : undefined;
    },
  });
  const look = async () => {
    const [{ pieces, released }, start, begun] = [held, Date.now(), performance.now()];
    held = new HeldOutput();
    try {
      const report = await program.look();
      failure = null;
      planted = report.planted;
      exposed ??= report.exposed[0] ?? null;
    } catch (error) {
      // After a failed look, assume an exposure.
      failure = error;
      exposed ??= UNKNOWN_PATH;
    }
    pause = Math.max(PAUSE_MS, COST_TIMES * (performance.now() - begun));
    if (exposed !== null || planted.length > 0) stop.abort();
    if (exposed === null) {
      since = start;
      // A slow reader delays the command, never the next look.
      passing = passing.then(async () => {
        for (const piece of pieces) await options.onOutput(...piece);
      });
    }
    passing = passing.finally(released.resolve);
    passing.catch(() => stop.abort());
  };
  let isOver = false;
  const over = running.then(() => {}, () => {}).then(() => void (isOver = true));
  while (!isOver && !stop.signal.aborted) {
    await within(pause, over);
    await within(QUIET_MS, Promise.race([over, held.arrived.promise]));
    if (!isOver) await look();
  }
  held.released.resolve();
  await over;
  await look();
  const attempt = (work: () => unknown) => Promise.try(work).catch((error) => void (failure ??= error));
  const path: string = exposed ?? UNKNOWN_PATH;
  if (exposed !== null) await attempt(() => program.note?.keep());
  // What goes to quarantine is judged, too: the user can put it back.
  await attempt(() => protectChanges?.(roots, { since: started }));
  if (exposed !== null) {
    await attempt(() => protectChanges?.(roots, { since: started, exposed: { path, since, isFree } }));
  }
  await attempt(async () => {
    quarantined = await program.quarantine(planted);
    if (quarantined !== null) await notify?.(await quarantineNotice(name, quarantined, holdsProtected));
  });
  await attempt(() => failure === null ? program.note?.remove() : program.note?.keep());
  const outcome = await running;
  await passing;
  if (failure !== null) throw failure;
  return { ...outcome, exposed, quarantined };
}
