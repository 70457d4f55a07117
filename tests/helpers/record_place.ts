/** A home and projects in the same temporary directory, for tests of what the home remembers. */
import type { MarkerLines } from "../../src/boundary/policy/project_record_files.ts";
import { type ToolHome, toolHome } from "./tool_home.ts";

export interface Place {
  /** A directory with an empty directory `project`. */
  base: string;
  home: ToolHome["home"];
}

/** Runs work with a home and a place for projects, which are removed after it. */
export async function inPlace(work: (place: Place) => Promise<void>): Promise<void> {
  await using place = await toolHome(null);
  const base = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${base}/project`);
    await work({ base, home: place.home });
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

/** Writes a marker with these `no-cloud:` lines, and returns it as a session sees it. */
export function marker(root: string, ...patterns: string[]): MarkerLines {
  const path = `${root}/.agentclisecret`;
  Deno.mkdirSync(root, { recursive: true });
  Deno.writeTextFileSync(path, patterns.map((pattern) => `no-cloud: ${pattern}\n`).join(""));
  return { path, lines: patterns.map((pattern) => ({ tier: "no-cloud", pattern })) };
}

/** Returns the patterns of all lines, sorted. */
export function patternsOf(markers: readonly MarkerLines[]): string[] {
  return markers.flatMap(({ lines }) => lines.map(({ pattern }) => pattern)).sort();
}
