/** Which entry of a list is which: entries of hooks have no names, so they are known by their command lines. */
import { canonical, dataOf, type JsonNode } from "./json_tree.ts";

function lineOf(value: unknown, member: "command" | "powershell"): string | null {
  if (typeof value !== "object" || value === null) return null;
  const line = (value as Record<string, unknown>)[member];
  return typeof line === "string" ? line : null;
}

/** The command lines of an entry; null where it has none. */
export function linesOf(entry: unknown): { command: string | null; powershell: string | null } {
  return { command: lineOf(entry, "command"), powershell: lineOf(entry, "powershell") };
}

/**
 * Whether two entries are one hook: equal, or with the same line for bash; where one has none, with the same line for
 * PowerShell. That alone says little: many hooks do the same nothing there.
 */
export function sameHook(one: unknown, other: unknown): boolean {
  if (canonical(one) === canonical(other)) return true;
  const lines = [lineOf(one, "command"), lineOf(other, "command")];
  return lines.includes(null) ? samePowershell(one, other) : lines[0] === lines[1];
}

function samePowershell(one: unknown, other: unknown): boolean {
  const line = lineOf(one, "powershell");
  return line !== null && line === lineOf(other, "powershell");
}

/** What is known of an item that is looked for. */
export interface ItemSearch {
  /** How it is or was written, newest first. */
  versions: readonly unknown[];
  /** Items that are known to be others, in canonical form. */
  others: ReadonlySet<string>;
  /** It is known to be there, so an entry with the same line for PowerShell alone is it, changed by hand. */
  loosely: boolean;
}

/** The place of an item in a list; -1 when it is not there. */
export function findItem(list: JsonNode | null, { versions, others, loosely }: ItemSearch): number {
  if (list?.kind !== "array") return -1;
  const items = list.items.map(dataOf);
  for (const version of versions) {
    const equal = items.findIndex((item) => canonical(item) === canonical(version));
    if (equal >= 0) return equal;
  }
  const find = (isIt: (item: unknown, version: unknown) => boolean) =>
    items.findIndex((item) => !others.has(canonical(item)) && versions.some((version) => isIt(item, version)));
  const same = find(sameHook);
  return same >= 0 || !loosely ? same : find(samePowershell);
}
