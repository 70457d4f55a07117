/** Errors of the system as sentences for a model. */
import { isForbidden } from "../platform/files.ts";

const REASON_OF_CODE: Readonly<Record<string, string>> = {
  ELOOP: "its links lead in a circle",
  ENAMETOOLONG: "the name is too long",
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EISDIR: "it is a directory",
  ENOTDIR: "a part of the path is not a directory",
  EEXIST: "something else stands there",
  EIO: "the disk reports an error",
};

/** Why the system did not do it, a few words without paths or content. Throws `error` again when it is not the system's. */
export function systemReason(error: unknown): string {
  if (isForbidden(error)) return "permission denied";
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "string") throw error;
  return REASON_OF_CODE[code] ?? `the system refused (${code})`;
}
