/** Collects the TypeScript files of the checkout. */
import type { Source } from "./architecture.ts";

/** The root of the checkout, as a URL with a trailing slash. */
export const ROOT: URL = new URL("../", import.meta.url);

async function* filesBelow(folder: URL): AsyncGenerator<URL> {
  for await (const entry of Deno.readDir(folder)) {
    const at = new URL(encodeURIComponent(entry.name) + (entry.isDirectory ? "/" : ""), folder);
    if (entry.isDirectory) {
      if (entry.name !== "fixtures") yield* filesBelow(at);
    } else if (/\.tsx?$/.test(entry.name)) yield at;
  }
}

/** `main.ts` and every TypeScript file of src, tests and scripts (fixtures left out), sorted by path. */
export async function readSources(): Promise<Source[]> {
  const files = [new URL("main.ts", ROOT)];
  for (const folder of ["src/", "tests/", "scripts/"]) {
    for await (const file of filesBelow(new URL(folder, ROOT))) files.push(file);
  }
  const sources = await Promise.all(files.map(async (file) => ({
    path: decodeURIComponent(file.href.slice(ROOT.href.length)),
    text: await Deno.readTextFile(file),
  })));
  return sources.sort((a, b) => a.path < b.path ? -1 : 1);
}
