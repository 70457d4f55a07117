/** Said when the time was up. */
export const LATE_NOTE = "INCOMPLETE: the time was up before every file was searched, so there may be more matches; " +
  "narrow the search with path or glob, or simplify the pattern";
