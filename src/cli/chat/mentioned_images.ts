/** Images that a typed line names: `@shots/a.png`, or a path that was dragged into the terminal. */
import type { Workspace } from "../../boundary/workspace/workspace.ts";

/** A file name of an image; what the file is, its content decides later. */
const ENDING = String.raw`\.(?:png|jpe?g|webp|gif)`;
/** In quotes: `'/a b/c.png'`, `"@a b.png"`. Else up to white space that no backslash escapes. */
const MENTION = new RegExp(
  String.raw`(?<=^|\s)(?:(?<quote>['"])(?<quoted>(?:@|/|[A-Za-z]:[\\/])[^'"\n]*${ENDING})\k<quote>` +
    String.raw`|(?<bare>(?:@|/|[A-Za-z]:[\\/])(?:\\\s|\S)*?${ENDING}))(?=$|[\s,;:!?.)])`,
  "gi",
);

/** Images that a line names. */
export interface MentionedImages {
  /** Paths to attach; every one is a file of the workspace, once. */
  files: string[];
  /** Why a path that was named is not among them, one sentence each. */
  problems: string[];
}

/**
 * The images that `text` names and that are there. What does not exist is left to the words; what lies outside of the
 * project is told. Whether a file may be read is decided where it is attached.
 */
export async function mentionedImages(text: string, workspace: Workspace): Promise<MentionedImages> {
  const found = new Map<string, string>();
  const problems: string[] = [];
  for (const { groups = {} } of text.matchAll(MENTION)) {
    const path = (groups["quoted"] ?? (groups["bare"] ?? "").replace(/\\(?=\s)/g, "")).replace(/^@/, "");
    const resolved = await workspace.resolve(path);
    if ("refused" in resolved) {
      problems.push(`${path} is not attached: ${resolved.message}`);
      continue;
    }
    const status = await workspace.status(resolved);
    if (status?.kind === "file" || status?.kind === "symlink") found.set(resolved.real, path);
  }
  return { files: [...found.values()], problems };
}
