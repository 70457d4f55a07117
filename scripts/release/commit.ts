/**
 * Writes the commit into `dist/agentcli.js`, so that `agentcli version` can tell it, and the sums that `install.sh`
 * asks for. Usage: deno run -A scripts/release/commit.ts        Outside of a git checkout the file has no commit.
 */
import { sha256, writeSums } from "./sums.ts";
import { perform, readLine } from "../script.ts";

const COMMIT_LINE = /^(\s*var COMMIT\d* = )"[^"\n]*";$/m;

/** The text of the bundle with this commit in it. Throws when the bundle has no place for it. */
export function withCommit(bundle: string, commit: string): string {
  if (!/^[0-9a-f]{7,40}(-modified)?$/.test(commit)) throw new Error(`no name of a commit: ${commit}`);
  if (!COMMIT_LINE.test(bundle)) throw new Error("the bundle has no line for the commit");
  return bundle.replace(COMMIT_LINE, `$1"${commit}";`);
}

/** The commit that is checked out, and when it was made in seconds of 1970; null outside of a git checkout. */
export async function checkedOutCommit(): Promise<{ name: string; seconds: number } | null> {
  const found = await git(["log", "-1", "--format=%h %ct", "--abbrev=12"]);
  if (found === null) return null;
  const [name = "", seconds = ""] = found.trim().split(" ");
  const changes = await git(["status", "--porcelain", "--untracked-files=no"]);
  return { name: changes?.trim() === "" ? name : `${name}-modified`, seconds: Number(seconds) };
}

async function git(args: string[]): Promise<string | null> {
  const cwd = decodeURIComponent(new URL("../..", import.meta.url).pathname);
  try {
    const { success, stdout } = await new Deno.Command("git", { args, cwd, stderr: "null" }).output();
    return success ? new TextDecoder().decode(stdout) : null;
  } catch {
    return null;
  }
}

async function writeCommit(): Promise<void> {
  const file = new URL("../../dist/agentcli.js", import.meta.url);
  const commit = await checkedOutCommit();
  if (commit !== null) {
    await Deno.writeTextFile(file, withCommit(await Deno.readTextFile(file), commit.name));
  }
  const named = commit === null ? "" : `commit ${commit.name}  `;
  console.log(`dist/agentcli.js  ${named}sha256 ${await sha256(await Deno.readFile(file))}`);
  await writeSums(decodeURIComponent(new URL("../../dist", import.meta.url).pathname));
}

if (import.meta.main) {
  await perform(import.meta.url, async (args) => {
    readLine(args, {});
    await writeCommit();
  });
}
