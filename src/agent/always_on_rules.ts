/** Rules that a project keeps for its editor and that always hold: they are instructions for every model. */
import { highestLabel, type Label } from "../boundary/policy/label.ts";
import type { ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";
import { join } from "../platform/path.ts";
import { byteLength, frontMatter } from "../platform/text.ts";
import { type Instructions, readInstructionFile } from "./system_prompt.ts";

/** Most files that are read; where there are more, not all of them can be meant for every prompt. */
const MOST_RULES = 100;

/**
 * The rules of `directory` with `trigger: always_on`, by name, without their front matter. All together take as many
 * bytes as one instruction file may; the others are named, so that the model can read them.
 */
export async function readAlwaysOnRules(
  workspace: Workspace,
  { directory, limit }: { directory: ResolvedPath; limit: number },
): Promise<Instructions[]> {
  const entries = await workspace.list(directory);
  if ("refused" in entries) return [];
  const names = entries.map(({ name }) => name).filter((name) => name.endsWith(".md")).sort();
  const found: Instructions[] = [];
  const leftOut: { name: string; label: Label }[] = [];
  let room = limit;
  for (const name of names.slice(0, MOST_RULES)) {
    const path = join(directory.path, name);
    const [rule] = await readInstructionFile(workspace, path, { limit, bodyOf: alwaysOnBody });
    if (rule === undefined) continue;
    const size = byteLength(rule.text);
    if (size > room && found.length > 0) leftOut.push(rule);
    else found.push(rule);
    room -= size;
  }
  if (leftOut.length === 0) return found;
  const text = `More instructions, left out here; read them before you change anything: ${
    leftOut.map(({ name }) => name).join(", ")
  }`;
  return [...found, { name: "rules left out", text, label: highestLabel(leftOut.map(({ label }) => label)) }];
}

/** Returns what stands after the front matter of a rule that always holds; empty for every other text. */
function alwaysOnBody(text: string): string {
  const { matter, body } = frontMatter(text) ?? { matter: "", body: "" };
  return /^trigger:[ \t]*(["']?)always_on\1[ \t]*\r?$/m.test(matter) ? body : "";
}
