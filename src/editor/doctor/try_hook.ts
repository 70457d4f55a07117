/** Runs one installed hook as the editor does, and judges what comes of it. */
import { MARKER_NAME } from "../../boundary/marker.ts";
import type { Io } from "../../platform/io.ts";
import { join, resolve } from "../../platform/path.ts";
import { findExecutable, run } from "../../platform/process.ts";
import { type TemporaryDirectory, withTemporaryDirectory } from "../../platform/temporary.ts";
import { type HookEvent, isEvent } from "../events.ts";
import type { FoundArtifact } from "../inspect.ts";
import { payloadOf, type TrialPlace } from "./payloads.ts";

/** What was found out. `ok`: nothing to do; `warning`: it works, or cannot be known; `failure`: it does not do its work. */
export interface Finding {
  level: "ok" | "warning" | "failure";
  subject: string;
  message: string;
}

/** A hook may take this long, in milliseconds. */
const TIME_LIMIT_MS = 30_000;
const OUTPUT_LIMIT = 64 * 1024;
const BLOCKED = 2;

interface Trial {
  code: number;
  timedOut: boolean;
  stderr: string;
  durationMs: number;
}

/** Tries every hook that was found, one after another. */
export async function tryHooks(hooks: readonly FoundArtifact[], root: string, io: Io): Promise<Finding[]> {
  return await withTemporaryDirectory(async (directory) => {
    const place = preparePlace(directory);
    const findings: Finding[] = [];
    for (const hook of hooks) {
      const event = hook.event ?? "";
      if (isEvent(event)) findings.push(...await tryHook(hook, event, { root, place, io }));
    }
    return findings;
  });
}

function preparePlace(directory: TemporaryDirectory): TrialPlace {
  directory.write(MARKER_NAME, "no-cloud: protected.txt\n");
  directory.write("protected.txt", "nothing of yours\n");
  directory.write("open.txt", "one\n");
  directory.write("transcript.jsonl", "{}\n");
  directory.write("worktree/.keep", "");
  return {
    directory: directory.path,
    open: join(directory.path, "open.txt"),
    secret: join(directory.path, "protected.txt"),
  };
}

interface Scene {
  root: string;
  place: TrialPlace;
  io: Io;
}

async function tryHook(hook: FoundArtifact, event: HookEvent, scene: Scene): Promise<Finding[]> {
  const entry = hook.entry as { command?: unknown; powershell?: unknown; working_directory?: unknown };
  const line = scene.io.os === "windows" ? entry.powershell : entry.command;
  const subject = `${event} (${hook.scope})`;
  if (typeof line !== "string") {
    return [{ level: "warning", subject, message: "it has no command line for this system, so it does nothing here" }];
  }
  const cwd = typeof entry.working_directory === "string" ? resolve(scene.root, entry.working_directory) : scene.root;
  const work = (path: string) => runLine(line, payloadOf(event, path, scene.place), { cwd, io: scene.io });
  const harmless = await work(scene.place.open);
  if (harmless === null) return [{ level: "failure", subject, message: "the shell that the editor uses is not there" }];
  const findings = [judgeHarmless(subject, event, harmless)];
  if (/no-cloud-guard/.test(line)) {
    const blocked = await work(scene.place.secret);
    if (blocked !== null) findings.push(judgeBlocked(subject, blocked));
  }
  return findings;
}

function judgeHarmless(subject: string, event: HookEvent, { code, timedOut, stderr, durationMs }: Trial): Finding {
  const said = stderr.trim().split("\n")[0]?.slice(0, 200) ?? "";
  const why = said === "" ? "" : `: ${said}`;
  if (timedOut) return { level: "failure", subject, message: "it did not end within 30 seconds" };
  if (code === 0) {
    return { level: "ok", subject, message: `lets a harmless action pass (${Math.round(durationMs)} ms)` };
  }
  if (!event.startsWith("pre_")) return { level: "failure", subject, message: `it fails with exit ${code}${why}` };
  return code === BLOCKED ? { level: "failure", subject, message: `it blocks a harmless action${why}` } : {
    level: "failure",
    subject,
    message: `it fails with exit ${code}, and the editor then lets everything pass${why}`,
  };
}

function judgeBlocked(subject: string, { code, stderr }: Trial): Finding {
  if (code !== BLOCKED) {
    return { level: "failure", subject, message: `it does not block a protected file (exit ${code} instead of 2)` };
  }
  return stderr.trim() === ""
    ? { level: "warning", subject, message: "it blocks a protected file without a word to the assistant" }
    : { level: "ok", subject, message: "blocks a protected file with exit 2 and says why" };
}

async function runLine(line: string, input: string, { cwd, io }: { cwd: string; io: Io }): Promise<Trial | null> {
  const environment = io.environment();
  const name = io.os === "windows" ? "powershell" : "bash";
  const shell = await findExecutable(name, environment.PATH ?? environment.Path ?? "", { notBelow: [cwd] });
  if (shell === null) return null;
  const decoder = new TextDecoder();
  let stderr = "";
  const started = io.clock.monotonic();
  const { code, ended } = await run({
    argv: io.os === "windows" ? [shell, "-NoProfile", "-Command", line] : [shell, "-c", line],
    cwd,
    env: environment,
    timeoutMs: TIME_LIMIT_MS,
    stdin: new TextEncoder().encode(input),
    onOutput: (bytes, stream) => {
      if (stream === "stderr" && stderr.length < OUTPUT_LIMIT) stderr += decoder.decode(bytes, { stream: true });
    },
  });
  return { code, timedOut: ended === "timeout", stderr, durationMs: io.clock.monotonic() - started };
}
