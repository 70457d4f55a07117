/** What the pages for readers say of the sources: the files that they name have to be there. */
import { ROOT } from "./read_sources.ts";

/** The path of the server that CONTRIBUTING invents. */
const INVENTED = /\/acme\.ts$/;

/** A page with its path from the root of the checkout. */
export interface Page {
  path: string;
  text: string;
}

/** Reads README.md, CONTRIBUTING.md and the pages of docs/. */
export async function readPages(): Promise<Page[]> {
  const paths = ["README.md", "CONTRIBUTING.md"];
  for await (const { name } of Deno.readDir(new URL("docs/", ROOT))) {
    if (name.endsWith(".md")) paths.push(`docs/${name}`);
  }
  return await Promise.all(
    paths.sort().map(async (path) => ({
      path,
      text: await Deno.readTextFile(new URL(path, ROOT)),
    })),
  );
}

/**
 * Returns the paths that a page names in backticks, with their lines; those of the boundary may begin with its parts.
 */
export function namedPaths({ text }: Page): { line: number; path: string }[] {
  return text.split("\n").flatMap((row, at) =>
    [...row.matchAll(/`((?:src|scripts|tests|docs|\.ci)\/[\w./-]*|(?:policy|sandbox|scan|workspace)\/\w+\.ts)`/g)]
      .map(([, path = ""]) => ({ line: at + 1, path: path.replace(/^(?=policy|sandbox|scan|work)/, "src/boundary/") }))
      .filter(({ path }) => !INVENTED.test(path))
  );
}

/** Returns a line for each path that a page names and that is not there. */
export async function missingPaths(pages: readonly Page[]): Promise<string[]> {
  const missing: string[] = [];
  for (const page of pages) {
    for (const { line, path } of namedPaths(page)) {
      const isThere = await Deno.stat(new URL(path, ROOT)).then(() => true, () => false);
      if (!isThere) missing.push(`${page.path}:${line} page: it names ${path}, which is not there`);
    }
  }
  return missing;
}
