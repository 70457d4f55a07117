/** What the doctor tells. */

/**
 * One thing that was looked at. `ok`: nothing to do; `note`: good to know; `warning`: it works, or cannot be known;
 * `failure`: it does not do its work; `skipped`: it was not tried.
 */
export interface Finding {
  level: "ok" | "note" | "warning" | "failure" | "skipped";
  /** `pre_read_code (project, no-cloud-guard)`, `server files`, … */
  subject: string;
  message: string;
  /** What to do: a command line, or a few words. */
  fix?: string;
}
