/** The base binary of a PE program that `deno compile` made. */
import { DENO_MARK, fieldText, holdsMark, viewOf } from "./formats.ts";

/** Size of a section's header. Source: Microsoft, PE format. */
const SECTION = 40;

/** The entry of the resources among the data directories of a 64-bit program, from the optional header on. */
const RESOURCES = 112 + 2 * 8;

/** How far into the resources the mark is looked for: after three directories and a name. */
const SEARCHED = 512;

/** The base binary: without the last section, in which Deno keeps its part as a resource. Throws when there is none. */
export function baseOfPe(program: Uint8Array): Uint8Array {
  const view = viewOf(program);
  const header = view.getUint32(0x3c, true);
  const count = view.getUint16(header + 6, true);
  const optional = header + 24;
  const section = optional + view.getUint16(header + 20, true) + (count - 1) * SECTION;
  const address = view.getUint32(section + 12, true);
  const from = view.getUint32(section + 20, true);
  const resources = view.getUint32(optional + RESOURCES, true);
  const name = fieldText(program.subarray(section, section + 8));
  if (resources !== address || !holdsMarkWithin(program, from)) {
    throw new Error(`the last section, ${name}, has no resource ${DENO_MARK}`);
  }
  const base = program.slice(0, from);
  const result = viewOf(base);
  result.setUint16(header + 6, count - 1, true);
  // Size in memory: it ends where the section began, which is at a page.
  result.setUint32(optional + 56, address, true);
  result.setBigUint64(optional + RESOURCES, 0n, true);
  base.fill(0, section, section + SECTION);
  return base;
}

function holdsMarkWithin(program: Uint8Array, from: number): boolean {
  for (let at = from; at < from + SEARCHED; at++) if (holdsMark(program, at)) return true;
  return false;
}
