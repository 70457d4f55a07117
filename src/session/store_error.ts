/** Errors of the system while something is stored, as words without a path. */

const REASON_OF_CODE: Readonly<Record<string, string>> = {
  ENOSPC: "the disk is full",
  EDQUOT: "the disk quota is used up",
  EROFS: "the file system is read-only",
  EACCES: "permission denied",
  EPERM: "permission denied",
  EIO: "the disk reports an error",
};

function codeOf(error: unknown): string | null {
  const code: unknown = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : null;
}

/** Whether the disk has no room. */
export function isFull(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT"].includes(codeOf(error) ?? "");
}

/** Why the system did not store it, a few words. */
export function reasonOf(error: unknown): string {
  const code = codeOf(error);
  if (code !== null) return REASON_OF_CODE[code] ?? `the system refused (${code})`;
  return error instanceof Error ? error.name : "unknown error";
}
