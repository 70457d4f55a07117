/** What the scripts have to know of the forms of programs: ELF, Mach-O, PE. */

/**
 * How the part that `deno compile` of Deno up to 2.7 adds begins and ends, and the name of the section that holds it.
 */
export const DENO_MARK = "d3n0l4nd";

const MARK_BYTES = new TextEncoder().encode(DENO_MARK);

/** The numbers in these bytes. */
export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Whether the mark of Deno stands at this place. */
export function holdsMark(bytes: Uint8Array, at: number): boolean {
  return MARK_BYTES.every((byte, index) => bytes[at + index] === byte);
}

/** The text of a field of fixed size that zeros fill up. */
export function fieldText(field: Uint8Array): string {
  return new TextDecoder().decode(field).replace(/\0+$/, "");
}

/** The system and the processor of a program, as a target names them (`linux`, `x86_64`); null for anything else. */
export function systemOf(start: Uint8Array): { system: string; processor: string } | null {
  if (start.length < 64) return null;
  const view = viewOf(start);
  const magic = view.getUint32(0);
  if (magic === 0x7f454c46) return named("linux", { 62: "x86_64", 183: "aarch64" }, view.getUint16(18, true));
  if (magic === 0xcffaedfe) {
    return named("apple", { 0x01000007: "x86_64", 0x0100000c: "aarch64" }, view.getUint32(4, true));
  }
  if (magic >>> 16 !== 0x4d5a) return null;
  const header = view.getUint32(0x3c, true);
  if (header + 6 > start.length) return null;
  return named("windows", { 0x8664: "x86_64", 0xaa64: "aarch64" }, view.getUint16(header + 4, true));
}

function named(system: string, processors: Record<number, string>, processor: number) {
  return { system, processor: processors[processor] ?? `processor ${processor}` };
}

/** One load command of a 64-bit Mach-O file. */
export interface LoadCommand {
  kind: number;
  /** Where it begins in the file. */
  at: number;
  /** Bytes. */
  size: number;
}

/** Load commands that the scripts speak of. Source: `loader.h` of Apple's XNU. */
const SEGMENT = 0x19;
export const SYMBOL_TABLE = 0x2;
export const CODE_SIGNATURE = 0x1d;

/** Size of the header before the load commands. */
export const MACH_HEADER = 32;

/** The load commands, in their order. */
export function loadCommandsOf(program: Uint8Array): LoadCommand[] {
  const view = viewOf(program);
  const commands: LoadCommand[] = [];
  let at = MACH_HEADER;
  for (let left = view.getUint32(16, true); left > 0; left--) {
    const size = view.getUint32(at + 4, true);
    if (size < 8) throw new Error("a load command of no size");
    commands.push({ kind: view.getUint32(at, true), at, size });
    at += size;
  }
  return commands;
}

/** The segment of this name. Fields that follow `at`: 24 address, 32 its size, 40 place in the file, 48 its size. */
export function segmentOf(program: Uint8Array, name: string): LoadCommand | undefined {
  return loadCommandsOf(program).find(({ kind, at }) =>
    kind === SEGMENT && fieldText(program.subarray(at + 8, at + 24)) === name
  );
}
