/** Errors of the system as sentences for a model. */
import { diskReason } from "../platform/disk_failure.ts";
import { isForbidden } from "../platform/files.ts";

/** Why the system did not do it, a few words without paths or content. Throws `error` again when it is not the system's. */
export function systemReason(error: unknown): string {
  const reason = isForbidden(error) ? "permission denied" : diskReason(error);
  if (reason === null) throw error;
  return reason;
}
