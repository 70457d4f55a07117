/**
 * The path that a model means by what it wrote: with marks around it, as an address, with a line behind it, or below a root
 * that it guessed. Whatever comes of it goes through every check that a path goes through.
 */
import { percentDecoded } from "../platform/text.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import { basename, join, normalize } from "../platform/path.ts";
import { sameName } from "./file_names.ts";
import { isRefusal } from "./result.ts";
import { withoutInvisible, withPlainSigns } from "./signs.ts";
import type { ToolContext } from "./tool.ts";

type Context = Pick<ToolContext, "workspace" | "signal"> & {
  /** The path is of a file that is read or changed, not made. */
  mustBeThere?: boolean;
};

/** Marks around a path: quotes, brackets, a link of Markdown. */
const AROUND = /^(?:\[[^\]]*\]\((?<link>[^()\s]+)\)|(?<mark>["'`*]{1,3})(?<quoted>.+)\k<mark>|<(?<angled>[^<>]+)>)$/;

/** How a path is written that means a plainer one, each applied to what the one before gave. */
const PLAINER: readonly ((path: string) => string)[] = [
  withoutInvisible,
  (path) => /^file:/i.test(path) ? percentDecoded(path.replace(/^file:(?:\/\/(?:localhost)?)?/i, "")) : path,
  (path) => path.replace(/^@(?=[\w./~])/, ""),
  (path) => path.replace(/(?<=[^/])\/+$/, ""),
  (path) => path.replaceAll("\\", "/"),
  (path) =>
    path.replace(/(?::\d+(?:[-:,]\d+)?|#L\d+(?:-L?\d+)?|(?<!\s)\s*(?:[,(]\s*)?\(?lines? \d+(?:\s*-\s*\d+)?\)?)$/i, ""),
  (path) => path.replace(/(?<![.,;:!?)\]}'"`*])[.,;:!?)\]}'"`*]+$/, ""),
  withPlainSigns,
  (path) => path.replace(/^[ab]\//, ""),
];

/** Returns what is meant by a path that leads nowhere as it is; several where it may be each, none for every other. */
export async function meantPath(given: string, context: Context): Promise<readonly string[]> {
  const { workspace } = context;
  if (given.length > 4096 || given.includes("\0") || !await leadsNowhere(given, workspace)) return [];
  const plain = unwrapped(given.trim());
  const spellings = [plain];
  for (const plainer of PLAINER) {
    const next = plainer(spellings.at(-1) ?? "");
    if (next !== spellings.at(-1)) spellings.push(next);
  }
  for (const spelling of spellings) {
    const resolved = spelling === given ? null : await workspace.resolve(spelling);
    if (resolved === null || isRefusal(resolved)) continue;
    if (await workspace.status(resolved) !== null) return [resolved.display];
  }
  for (const spelling of spellings.toReversed()) {
    const guessed = /^(?:[A-Za-z]:)?\/|^~\//.test(spelling) ? await belowRoot(spelling, context) : [];
    if (guessed.length > 0) return guessed;
  }
  // Where a command changed the directory, models go on from there.
  if (context.mustBeThere === true) {
    const wanted = normalize(spellings.at(-1) ?? "");
    const found = wanted.startsWith(".") ? [] : await sameName(basename(wanted), context);
    const ends = found.filter((path) => path.endsWith(`/${wanted}`));
    const resolved = ends.length === 1 ? await workspace.resolve(ends[0] ?? "") : null;
    if (resolved !== null && !isRefusal(resolved)) return [resolved.display];
  }
  // A file that is to be made: nobody puts quotes and line ends into its name.
  const address = spellings.find((spelling) => !/^file:/i.test(spelling)) ?? plain;
  const made = /^file:/i.test(plain) ? address : plain;
  return made === given || made === "" || isRefusal(await workspace.resolve(made)) ? [] : [made];
}

/** A pattern of files below a root that was guessed, as a pattern below that of the project; null for every other. */
export async function meantPattern(given: string, context: Context): Promise<string | null> {
  const parts = given.split("/");
  const first = parts.findIndex((part) => /[*?[{]/.test(part));
  if (!given.startsWith("/") || first < 2 || !await leadsNowhere(parts.slice(0, first).join("/"), context.workspace)) {
    return null;
  }
  const [root, other] = await belowRoot(parts.slice(0, first).join("/"), context);
  return root === undefined || other !== undefined ? null : join(root, ...parts.slice(first));
}

async function leadsNowhere(path: string, workspace: Workspace): Promise<boolean> {
  if (/^file:|^~(?:\/|$)/i.test(path)) return true;
  const resolved = await workspace.resolve(path);
  if (!isRefusal(resolved)) return await workspace.status(resolved) === null;
  // What lies outside and is there, nobody means the project by.
  return resolved.unknown === true || resolved.refused === "not_a_directory";
}

function unwrapped(path: string): string {
  const { link, quoted, angled } = AROUND.exec(path)?.groups ?? {};
  return (link ?? quoted ?? angled ?? path).trim();
}

/**
 * The paths in the project that may be meant by one below a root that a model guessed (`/workspace/src/x.ts`, `/repo/x.ts`): the
 * longest end of it that is there from the root on; else the files of that name; the root itself for a bare root.
 */
async function belowRoot(given: string, context: Context): Promise<string[]> {
  const { workspace } = context;
  const parts = given.split("/").filter((part) => part !== "" && part !== "~").slice(0, 64);
  // Something that leads up could end anywhere.
  if (parts.includes("..")) return [];
  for (let at = given.startsWith("~") ? 0 : 1; at < parts.length; at++) {
    const resolved = await workspace.resolve(join(workspace.root, ...parts.slice(at)));
    if (!isRefusal(resolved) && await workspace.status(resolved) !== null) return [resolved.display];
  }
  const last = parts.at(-1) ?? "";
  if ((parts.length === 1 || last === basename(workspace.root)) && !last.includes(".")) return ["."];
  const found = await Promise.all((await sameName(last, context)).map((path) => workspace.resolve(path)));
  return found.flatMap((resolved) => isRefusal(resolved) ? [] : [resolved.display]);
}
