/** Paths that a typed line names: `@src/a.ts`, `@"a b.txt"`, `@docs/`, or an image that was dragged into the terminal. */
import type { Workspace } from "../boundary/workspace/workspace.ts";

/** A file name of an image; what the file is, its content decides later. */
const IMAGE = String.raw`\.(?:png|jpe?g|webp|gif)`;
/** Without a sign only images count, which terminals paste by their path: in quotes, or with escaped white space. */
const DRAGGED = new RegExp(
  String.raw`(?<=^|\s)(?:(?<quote>['"])(?<quoted>(?:/|[A-Za-z]:[\\/])[^'"\n]*${IMAGE})\k<quote>` +
    String.raw`|(?<bare>(?:/|[A-Za-z]:[\\/])(?:\\\s|\S)*?${IMAGE}))(?=$|[\s,;:!?.)])`,
  "gi",
);
const MENTION =
  /(?<=^|[\s(])(?:@"(?<quoted>[^"\n]+)"|(?<quote>['"])@(?<inner>[^'"\n]+)\k<quote>|@(?<bare>(?:\\\s|\S)+))/g;
/** Signs that may stand behind a path without being part of it. */
const BEHIND = /[,;:!?.)\]}'"]+$/;
/** Paths of one line that are attached; a text that was pasted may hold any number. */
const MOST = 20;

/** Paths that a line names. */
export interface MentionedPaths {
  /** Paths to attach; every one is in the workspace, once. */
  paths: string[];
  /** Why a path that was named is not among them, one sentence each. */
  problems: string[];
}

/**
 * Returns the paths that `text` names and that are there. What does not exist is left to the words; what lies outside of the
 * project is told. Whether a file may be read is decided where it is attached.
 */
export async function findMentions(text: string, workspace: Workspace): Promise<MentionedPaths> {
  const found = new Map<string, string>();
  const problems = new Set<string>();
  for (const forms of namedIn(text)) {
    for (const path of forms) {
      const resolved = await workspace.resolve(path);
      if ("refused" in resolved) {
        problems.add(`${path} is not attached: ${resolved.message}`);
        break;
      }
      const kind = (await workspace.status(resolved))?.kind;
      if (kind !== "file" && kind !== "symlink" && kind !== "directory") continue;
      found.set(resolved.real, path);
      break;
    }
    if (found.size >= MOST) break;
  }
  return { paths: [...found.values()], problems: [...problems] };
}

/** The paths that may be meant, each with the form without what follows it. */
function* namedIn(text: string): Generator<string[]> {
  for (const { groups = {} } of text.matchAll(MENTION)) {
    const quoted = groups["quoted"] ?? groups["inner"];
    const bare = (groups["bare"] ?? "").replace(/\\(?=\s)/g, "");
    yield quoted !== undefined
      ? [quoted]
      : [...new Set([bare, bare.replace(BEHIND, "")])].filter((form) => form !== "");
  }
  for (const { groups = {} } of text.matchAll(DRAGGED)) {
    yield [groups["quoted"] ?? (groups["bare"] ?? "").replace(/\\(?=\s)/g, "")];
  }
}
