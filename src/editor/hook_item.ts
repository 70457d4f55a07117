/** Which entry of a list is which: entries of hooks have no names, so they are known by their command lines. */
import { canonical, dataOf, type JsonChild, type JsonContainer, type JsonNode } from "./json_tree.ts";

function lineOf(value: unknown, member: "command" | "powershell"): string | null {
  if (typeof value !== "object" || value === null) return null;
  const line = (value as Record<string, unknown>)[member];
  return typeof line === "string" ? line : null;
}

/** By what an entry is known; two that share one of `keysOfHook` and `keysOfSameHook` are one hook. */
export function keysOfHook(entry: unknown): string[] {
  const [command, powershell] = [lineOf(entry, "command"), lineOf(entry, "powershell")];
  return [
    entryKey(canonical(entry)),
    ...command === null ? [] : [`command ${command}`],
    ...powershell === null ? [] : [powershellKey(powershell)],
    ...powershell === null || command !== null ? [] : [`no command ${powershell}`],
  ];
}

/**
 * By what the same hook is looked for: the entry itself, or its line for bash; where one of both has none, that for
 * PowerShell. That alone says little: many hooks do the same nothing there.
 */
export function keysOfSameHook(entry: unknown): string[] {
  const [command, powershell] = [lineOf(entry, "command"), lineOf(entry, "powershell")];
  return [
    entryKey(canonical(entry)),
    ...command === null ? [] : [`command ${command}`],
    ...powershell === null ? [] : [command === null ? powershellKey(powershell) : `no command ${powershell}`],
  ];
}

function entryKey(entry: string): string {
  return `entry ${entry}`;
}

function powershellKey(line: string): string {
  return `powershell ${line}`;
}

/** What is known of an entry that is looked for. */
export interface HookSearch {
  /** How it is or was written, newest first. */
  versions: readonly unknown[];
  /** Whether an entry, in canonical form, is known to be another. */
  isOther(entry: string): boolean;
  /** It is known to be there, so an entry with the same line for PowerShell alone is it, changed by hand. */
  loosely: boolean;
}

/** An entry as it was when it was noted. */
interface Noted {
  child: JsonChild;
  value: JsonNode;
  entry: string;
}

/** The entries of a list, found by what they are without looking at each. Items may be cut out and put in meanwhile. */
export class HookList {
  readonly #list: JsonContainer;
  readonly #noted = new Map<string, Noted[]>();

  constructor(list: JsonContainer) {
    this.#list = list;
    list.children.forEach((child) => this.note(child));
  }

  /** Notes an item that was put in or replaced. */
  note(child: JsonChild): void {
    const { value } = child;
    const data = dataOf(value);
    const noted = { child, value, entry: canonical(data) };
    for (const key of keysOfHook(data)) {
      const alike = this.#noted.get(key);
      if (alike === undefined) this.#noted.set(key, [noted]);
      else alike.push(noted);
    }
  }

  /** The place of an entry in the list; -1 when it is not there. */
  find({ versions, isOther, loosely }: HookSearch): number {
    for (const version of versions) {
      const equal = this.#first([entryKey(canonical(version))], () => true);
      if (equal >= 0) return equal;
    }
    const isIt = ({ entry }: Noted) => !isOther(entry);
    const same = this.#first(versions.flatMap(keysOfSameHook), isIt);
    if (same >= 0 || !loosely) return same;
    const lines = versions.flatMap((version) => lineOf(version, "powershell") ?? []);
    return this.#first(lines.map(powershellKey), isIt);
  }

  /** The first place of an item that has one of the keys. */
  #first(keys: readonly string[], isIt: (noted: Noted) => boolean): number {
    let first = -1;
    for (const noted of keys.flatMap((key) => this.#noted.get(key) ?? [])) {
      // An item that was replaced meanwhile is noted anew.
      if (noted.child.value !== noted.value || !isIt(noted)) continue;
      const at = this.#list.children.indexOf(noted.child);
      if (at >= 0 && (first < 0 || at < first)) first = at;
    }
    return first;
  }
}
