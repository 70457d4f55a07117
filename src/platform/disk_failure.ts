/** Errors of the system about files, as words for a person or a model, and what to do about them. */
import { isForbidden } from "./files.ts";

interface Failure {
  reason: string;
  advice?: string;
}

const FULL = "free some space on that disk";
const PERMISSION: Failure = { reason: "permission denied" };

const FAILURE_OF_CODE: Readonly<Record<string, Failure>> = {
  ENOSPC: { reason: "the disk is full", advice: FULL },
  EDQUOT: { reason: "the disk quota is used up", advice: FULL },
  EROFS: { reason: "the file system is read-only", advice: "mount it so that it can be written" },
  EIO: { reason: "the disk reports an error", advice: "look at that disk before you write to it again" },
  ENOENT: { reason: "that file or directory does not exist" },
  ENOTDIR: { reason: "a part of the path is not a directory" },
  EISDIR: { reason: "it is a directory" },
  EEXIST: { reason: "something of that name exists" },
  ENOTEMPTY: { reason: "it holds other files" },
  ELOOP: { reason: "its links lead in a circle" },
  ENAMETOOLONG: { reason: "the name is too long" },
  EILSEQ: { reason: "a name on the way is not UTF-8" },
  EACCES: PERMISSION,
  EPERM: PERMISSION,
};

function codeOf(error: unknown): string | null {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : null;
}

/** Returns whether the disk is full. */
export function isFull(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT"].includes(codeOf(error) ?? "");
}

/** Returns the reason for a failure, a few words without a path; null for an error that is not the system's. */
export function diskReason(error: unknown): string | null {
  const code = codeOf(error);
  return code === null ? null : FAILURE_OF_CODE[code]?.reason ?? `the system refused (${code})`;
}

/** Returns {@link diskReason}, or the name of any other error. */
export function failureReason(error: unknown): string {
  return diskReason(error) ?? (error instanceof Error ? error.name : "unknown error");
}

/** Returns the reason, and throws `error` again when it is not the system's. */
export function systemReason(error: unknown): string {
  const reason = isForbidden(error) ? "permission denied" : diskReason(error);
  if (reason === null) throw error;
  return reason;
}

/** Returns the result of a look at the disk; `forbidden` where the system refuses, but null where no path can lead. */
export function presentOrForbidden<T>(look: () => T): T | null | "forbidden" {
  try {
    return look();
  } catch (error) {
    systemReason(error);
    return codeOf(error) === "ENAMETOOLONG" ? null : "forbidden";
  }
}

/** Returns what helps where owner and permissions are not the cause, an imperative; null for everything else. */
export function diskAdvice(error: unknown): string | null {
  return FAILURE_OF_CODE[codeOf(error) ?? ""]?.advice ?? null;
}
