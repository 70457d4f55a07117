/** Errors of the system while something is stored, as words without a path. */
import { diskReason } from "../platform/disk_failure.ts";

/** Why the system did not store it, a few words. */
export function reasonOf(error: unknown): string {
  return diskReason(error) ?? (error instanceof Error ? error.name : "unknown error");
}
