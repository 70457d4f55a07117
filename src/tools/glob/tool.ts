/** Glob: the files whose path matches a pattern, newest first. */
import { counted } from "../../platform/number.ts";
import { rowsWithin } from "../../platform/text.ts";
import type { ResolvedPath } from "../../boundary/workspace/workspace.ts";
import { isAbsolute, relativeTo } from "../../platform/path.ts";
import { compilePattern, LIMITS_EXCEEDED } from "../path_pattern.ts";
import { failure, success } from "../result.ts";
import { existing, markOf, shownName } from "../file_names.ts";
import type { Tool, ToolContext } from "../tool.ts";
import { type FoundFile, walkFiles } from "../walk.ts";
import { globDeclaration, type GlobInput } from "../declarations.ts";

const RESULT_LIMIT = 200;
/** Files whose status is read at the same time. */
const CONCURRENT_STATUS = 64;

export const globTool: Tool<GlobInput> = {
  ...globDeclaration,
  async run(input, context) {
    const found = await existing(input.path ?? ".", context);
    if ("content" in found) return found;
    const { path: start, status } = found;
    if (status.kind !== "directory") {
      return failure(`${start.display} is a file, not a directory. Give its directory as path, or call Read.`, context);
    }
    // Models like to put the root in front; what is below `start` can still be requested.
    const pattern = isAbsolute(input.pattern) ? relativeTo(start.real, input.pattern) : input.pattern;
    if (isAbsolute(pattern) || pattern.split("/").includes("..")) {
      const from = start.display === "." ? "the working directory" : shownName(start.display);
      return failure(
        `The pattern ${
          shownName(input.pattern)
        } leads out of ${from}. Give a directory of the project as path, and a pattern below it.`,
        context,
      );
    }
    const matched = await filesMatching(pattern, { start, context });
    if (matched === null) {
      return failure(LIMITS_EXCEEDED, context);
    }
    if (matched.length === 0) {
      return success(
        `No file matches ${
          shownName(input.pattern)
        }. Files that .gitignore names are left out unless path is inside them.`,
        context,
      );
    }
    return success(await newestFirst(matched, context), context, { details: { numFiles: matched.length } });
  },
};

async function filesMatching(
  pattern: string,
  options: { start: ResolvedPath; context: ToolContext },
): Promise<FoundFile[] | null> {
  const compiled = compilePattern(pattern.includes("/") ? pattern : `**/${pattern}`);
  if (compiled === null) return null;
  const { prefix } = compiled;
  const { workspace, signal, io: { clock } } = options.context;
  const enter = (names: readonly string[]) =>
    names.every((name, index) => index >= prefix.length || prefix[index] === name);
  const matched: FoundFile[] = [];
  for await (const files of walkFiles(options.start, { workspace, signal, clock, enter })) {
    matched.push(...files.filter(({ names }) => compiled.matches(names)));
  }
  return matched;
}

async function newestFirst(files: readonly FoundFile[], context: ToolContext): Promise<string> {
  const rows: { name: string; modified: number }[] = [];
  for (let at = 0; at < files.length; at += CONCURRENT_STATUS) {
    context.signal.throwIfAborted();
    rows.push(
      ...await Promise.all(
        files.slice(at, at + CONCURRENT_STATUS).map(async ({ path }) => ({
          name: shownName(path.display) + markOf(path, context),
          modified: (await context.workspace.status(path))?.modified ?? 0,
        })),
      ),
    );
  }
  rows.sort((one, other) => other.modified - one.modified || (one.name < other.name ? -1 : 1));
  const { kept: lines } = rowsWithin(rows.slice(0, RESULT_LIMIT).map((row) => row.name), context.resultBytes);
  const left = rows.length - lines.length;
  if (left > 0) lines.push(`[${counted(left, "more file")}; use a narrower pattern or a path]`);
  return lines.join("\n");
}
