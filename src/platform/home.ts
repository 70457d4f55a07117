/**
 * The tool's own directory: `$AGENTCLI_HOME`, default `~/.agentcli`. Directories 0700, files 0600, whatever the umask;
 * a looser file or directory of ours is tightened when it is used. Nothing is created by reading.
 */
import { AgentcliError } from "../errors.ts";
import { diskAdvice, diskReason } from "./disk_failure.ts";
import {
  type FileStatus,
  lstatSync,
  makePrivateDirectory,
  openSync,
  readTextSync,
  realPathSync,
  removeFile,
  removeLeftovers,
  setMode,
  statSync,
  withLock,
  writeAtomically,
} from "./files.ts";
import type { Io } from "./io.ts";
import { dirname, isAbsolute, join, normalize } from "./path.ts";
import { ancestors } from "./real_path.ts";
import { isMissingPermission } from "./runtime.ts";

/** Largest file of the home that is read, in bytes. */
const FILE_LIMIT = 64 * 1024 * 1024;

/** No write takes an hour: an older temporary file is from a killed process. */
const LONGEST_WRITE_MS = 60 * 60 * 1000;

/** The home and its files, named relative to it (`providers.yaml`, `cache/…`). */
export interface Home {
  readonly path: string;
  /** Absolute path of a file of the home. */
  file(name: string): string;
  /** Size, time and identity of a file; null when absent. */
  status(name: string): Promise<FileStatus | null>;
  /** The text of a file; null when absent. */
  read(name: string): Promise<string | null>;
  /**
   * Replaces a file, atomically; its byte order mark stays. One that is a link is written where the link leads, as long
   * as that is a file of this user: `home_unusable` otherwise.
   */
  write(name: string, text: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Runs `work` while no other process changes `name`: reading, changing and writing belong inside. */
  locked<T>(name: string, work: () => Promise<T>): Promise<T>;
}

/** Returns the user's own directory as the environment names it. */
export function userHomeOf(io: Pick<Io, "env" | "os">): string | undefined {
  return io.env(io.os === "windows" ? "USERPROFILE" : "HOME");
}

/** Returns where the home is, without touching the disk. A relative or unset place is `home_unusable`. */
export function homePath(io: Pick<Io, "env" | "os">): string {
  const named = io.env("AGENTCLI_HOME");
  if (named !== undefined && named !== "") {
    if (!isAbsolute(named)) {
      throw new AgentcliError("home_unusable", "AGENTCLI_HOME is not an absolute path", {
        hint: "set AGENTCLI_HOME to an absolute path, or unset it to use ~/.agentcli",
      });
    }
    return normalize(named);
  }
  const user = userHomeOf(io);
  if (user === undefined && Deno.permissions.querySync({ name: "env", variable: "HOME" }).state !== "granted") {
    throw new AgentcliError("home_unusable", "Deno does not permit reading HOME, where the home is", {
      hint: "start it with --allow-env, or with --allow-env=HOME,AGENTCLI_HOME",
    });
  }
  if (user === undefined || !isAbsolute(user)) {
    throw new AgentcliError("home_unusable", "no home directory: HOME is not set to an absolute path", {
      hint: "set HOME, or AGENTCLI_HOME",
    });
  }
  return join(user, ".agentcli");
}

/** Returns the error for a home that the system does not let us use; `way` is what the user can do instead. */
export function homeUnusable(path: string, error: unknown, way = "or set AGENTCLI_HOME"): AgentcliError {
  if (isMissingPermission(error)) {
    return new AgentcliError("home_unusable", `Deno does not permit using the home ${path}`, {
      hint: `start it with --allow-read and --allow-write="${path}"`,
      cause: error,
    });
  }
  const reason = diskReason(error) ?? (error instanceof Error ? error.message : "unknown error");
  return new AgentcliError("home_unusable", `cannot use the home ${path}: ${reason}`, {
    hint: `${diskAdvice(error) ?? "check the owner and the permissions of that directory"}, ${way}`,
    cause: error,
  });
}

/** Who runs the process; null on Windows and where `--allow-sys=uid` is not granted (the check is then left out). */
function ownUser(): number | null {
  if (Deno.build.os === "windows") return null;
  return Deno.permissions.querySync({ name: "sys", kind: "uid" }).state === "granted" ? Deno.uid() : null;
}

/**
 * Refuses a home that is no directory, or not of the user who runs the process, for reading as for writing: what is in
 * it starts programs and permits commands. Root is no exception (`sudo -E` keeps HOME): what root creates in somebody's
 * home its owner can no longer change, and root must not obey what others write there.
 */
async function checkDirectory(path: string): Promise<void> {
  const found = statSync(path);
  if (found !== null && found.kind !== "directory") throw homeUnusable(path, new Error("it is not a directory"));
  const user = ownUser();
  // Root can make it in anybody's directory: the nearest existing one shows whose.
  const above = user === ROOT ? ancestors(dirname(path)) : [];
  const near = found ?? above.values().map((place) => statSync(place)).find((one) => one !== null);
  const owner = near?.owner ?? null;
  if (user !== null && owner !== null && owner !== user) throw ofAnother(path, { user, owner });
  if (found === null) return;
  if (found.mode !== null && (found.mode & 0o077) !== 0) await setMode(path, 0o700);
}

const ROOT = 0;

function ofAnother(path: string, { user, owner }: { user: number; owner: number }): AgentcliError {
  const isRoot = user === ROOT;
  const whose = owner === ROOT ? "root" : `another user (uid ${owner})`;
  const hint = isRoot
    ? "run it as that user, or give root a home of its own: sudo -H agentcli …, in a container AGENTCLI_HOME=/var/lib/agentcli"
    : owner === ROOT
    ? `take it back: sudo chown -R "$(id -u)" '${path}', or set AGENTCLI_HOME`
    : "set HOME to your own home directory, or AGENTCLI_HOME";
  const message = `the home ${path} belongs to ${whose}${isRoot ? ", and this is root" : ""}`;
  return new AgentcliError("home_unusable", message, { hint });
}

/** Returns the home of this process. Throws `home_unusable` for a place that cannot be one; creates nothing. */
export async function openHome(io: Pick<Io, "env" | "os">): Promise<Home> {
  const path = homePath(io);
  try {
    await checkDirectory(path);
  } catch (error) {
    throw error instanceof AgentcliError ? error : homeUnusable(path, error);
  }
  const file = (name: string) => join(path, name);
  const guarded = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AgentcliError) throw error;
      throw homeUnusable(path, error);
    }
  };
  return {
    path,
    file,
    status: (name) => guarded(() => Promise.resolve(statSync(file(name)))),
    read: (name) => guarded(() => readText(file(name))),
    write: (name, text) =>
      guarded(async () => {
        await makePrivateDirectory(dirname(file(name)));
        const target = targetOf(file(name));
        await writeAtomically(target, markOf(target) + text, { mode: 0o600 });
        // What a killed process left of this file. If it stays, that is no failure of the write.
        await removeLeftovers(target, { before: Date.now() - LONGEST_WRITE_MS }).catch(() => {});
      }),
    remove: (name) => guarded(() => removeFile(file(name))),
    async locked(name, work) {
      const lock = file(`${name}.lock`);
      await guarded(() => makePrivateDirectory(dirname(lock)));
      // Errors of the work itself are its own; only taking the lock is the home's.
      let started = false;
      try {
        return await withLock(lock, () => {
          started = true;
          return work();
        });
      } catch (error) {
        if (started) throw error;
        throw homeUnusable(path, error);
      }
    },
  };
}

/**
 * Returns where a file is written: at the end of its links, which the user made (a directory of settings kept
 * elsewhere).
 */
function targetOf(path: string): string {
  if ((lstatSync(path))?.kind !== "symlink") return path;
  const target = realPathSync(path);
  const found = target === null ? null : statSync(target);
  if (target === null || found === null) throw new Error(`${path} is a link that leads nowhere`);
  if (found.kind !== "file") throw new Error(`${path} is a link to what is no regular file`);
  const user = ownUser();
  if (user !== null && found.owner !== null && found.owner !== user) {
    throw new Error(`${path} is a link to a file of another user`);
  }
  return target;
}

const MARK = "\ufeff";

/** Returns the byte order mark that a file has, or nothing: editors of Windows want it back. */
function markOf(path: string): string {
  const handle = openSync(path);
  if (handle === null) return "";
  try {
    const [first, second, third] = handle.read(3, 0);
    return first === 0xef && second === 0xbb && third === 0xbf ? MARK : "";
  } finally {
    handle.close();
  }
}

async function readText(path: string): Promise<string | null> {
  const found = lstatSync(path);
  if (found === null) return null;
  const target = found.kind === "symlink" ? statSync(path) : found;
  if (target === null) throw new Error(`${path} is a link that leads nowhere`);
  if (target.kind !== "file") throw new Error(`${path} is not a regular file`);
  if (target.mode !== null && (target.mode & 0o077) !== 0) await setMode(path, 0o600);
  if (target.size > FILE_LIMIT) throw new Error(`${path} is larger than ${FILE_LIMIT} bytes`);
  return readTextSync(path);
}
