/** Builds the text of the one file from the sources. */
import { oneFile } from "./parts.ts";
import { asciiOnly, tabIndented, withoutCachePaths, withoutComments } from "./text.ts";

const root = decodeURIComponent(new URL("../..", import.meta.url).pathname);

/** Runs Deno in the root of the repository and gives what it prints. Throws with its errors when it fails. */
export async function deno(args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: root,
    env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
  }).output();
  if (code !== 0) throw new Error(`deno ${args[0]} failed:\n${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

/** Returns the text of the one file. */
export async function buildBundle(): Promise<string> {
  const folder = await Deno.makeTempDir();
  try {
    await deno(["bundle", "--quiet", "--platform", "browser", "--code-splitting", "--outdir", folder, "main.ts"]);
    const files = new Map<string, string>();
    for (const { name } of Deno.readDirSync(folder)) {
      const written = withoutCachePaths(await Deno.readTextFile(`${folder}/${name}`));
      files.set(name, tabIndented(withoutComments(asciiOnly(written))));
    }
    return oneFile(files, { entry: "main.js", turn: "src/cli/run/run.ts" });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}
