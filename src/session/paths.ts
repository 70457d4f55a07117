/** Where a session is stored: names of its files, relative to the home. */

/** Longest slug before its tail becomes a number, in characters: file systems end at 255 bytes. */
const SLUG_LIMIT = 200;

/** The directory of all transcripts, relative to the home. */
export const PROJECTS = "projects";

/** Ids of sessions are UUIDs: nothing else becomes part of a path. */
const SESSION_ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether `text` is the id of a session, in lower case. */
export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text);
}

/**
 * The name of a project's directory: its path with everything but ASCII letters and digits as `-`. Readers of the
 * format look for that name. Two paths can share one: the meta line of a transcript says which project it belongs to.
 */
export function projectSlug(projectRoot: string): string {
  const slug = projectRoot.replace(/[^a-zA-Z0-9]/g, "-");
  if (slug.length <= SLUG_LIMIT) return slug;
  let number = 0;
  for (let at = 0; at < projectRoot.length; at++) number = (number * 31 + projectRoot.charCodeAt(at)) | 0;
  return `${slug.slice(0, SLUG_LIMIT)}-${Math.abs(number).toString(36)}`;
}

/** The directory of a project's transcripts, relative to the home. */
export function projectDirectory(slug: string): string {
  return `${PROJECTS}/${slug}`;
}

/** A transcript's file, relative to the home. */
export function transcriptName(slug: string, sessionId: string): string {
  return `${projectDirectory(slug)}/${sessionId}.jsonl`;
}

/** The lock of a transcript's one writer, relative to the home. */
export function lockName(slug: string, sessionId: string): string {
  return `${projectDirectory(slug)}/${sessionId}.lock`;
}

/** Returns the directory of a session's undo data, relative to the home. */
export function undoName(sessionId: string): string {
  return `undo/${sessionId}`;
}
