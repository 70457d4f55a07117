/** The base binary of a Mach-O program that `deno compile` made, for Intel and for ARM. */
import {
  CODE_SIGNATURE,
  DENO_MARK,
  holdsMark,
  loadCommandsOf,
  MACH_HEADER,
  segmentOf,
  SYMBOL_TABLE,
  viewOf,
} from "./formats.ts";

/** Where load commands name a place of `__LINKEDIT` in the file. Source: `loader.h` of Apple's XNU. */
const PLACES: Record<number, readonly number[]> = {
  [SYMBOL_TABLE]: [8, 16],
  0xb: [32, 40, 48, 56, 64, 72], // LC_DYSYMTAB
  0x22: [8, 16, 24, 32, 40], // LC_DYLD_INFO
  [CODE_SIGNATURE]: [8],
  0x1e: [8], // LC_SEGMENT_SPLIT_INFO
  0x26: [8], // LC_FUNCTION_STARTS
  0x29: [8], // LC_DATA_IN_CODE
  0x2b: [8], // LC_DYLIB_CODE_SIGN_DRS
  0x2e: [8], // LC_LINKER_OPTIMIZATION_HINT
  0x33: [8], // LC_DYLD_EXPORTS_TRIE
  0x34: [8], // LC_DYLD_CHAINED_FIXUPS
};

/** Set in the kind of a command that the loader must know. */
const REQUIRED = 0x80000000;

/** Pages of Intel. */
const PAGE = 4096n;

const FIRST_LETTER = DENO_MARK.charCodeAt(0);
const BRACE = 0x7b;

/** The base binary. Throws when Deno 2.7 or earlier put nothing into the program. */
export function baseOfMachO(program: Uint8Array): Uint8Array {
  const added = segmentOf(program, "__SUI");
  return added === undefined ? withoutTrailer(program) : withoutSegment(program, added);
}

/** For ARM: the segment `__SUI` lies before `__LINKEDIT`, which has moved, and so has all that points into it. */
function withoutSegment(program: Uint8Array, added: { at: number; size: number }): Uint8Array {
  const view = viewOf(program);
  const from = Number(view.getBigUint64(added.at + 40, true));
  const length = Number(view.getBigUint64(added.at + 48, true));
  const memory = view.getBigUint64(added.at + 32, true);
  if (!holdsMark(program, from)) throw new Error(`no ${DENO_MARK} in the segment __SUI`);
  const base = new Uint8Array(program.length - length);
  base.set(program.subarray(0, from));
  base.set(program.subarray(from + length), from);
  const result = viewOf(base);
  for (const { kind, at } of loadCommandsOf(program)) {
    for (const place of PLACES[(kind & ~REQUIRED) >>> 0] ?? []) {
      const value = view.getUint32(at + place, true);
      if (value >= from + length) result.setUint32(at + place, value - length, true);
    }
  }
  const last = segmentOf(program, "__LINKEDIT");
  if (last === undefined) throw new Error("there is no segment __LINKEDIT");
  result.setBigUint64(last.at + 24, view.getBigUint64(last.at + 24, true) - memory, true);
  result.setBigUint64(last.at + 40, view.getBigUint64(last.at + 40, true) - BigInt(length), true);
  dropCommand(base, added);
  return base;
}

function dropCommand(base: Uint8Array, { at, size }: { at: number; size: number }): void {
  const view = viewOf(base);
  const end = MACH_HEADER + view.getUint32(20, true);
  base.copyWithin(at, at + size, end);
  base.fill(0, end - size, end);
  view.setUint32(16, view.getUint32(16, true) - 1, true);
  view.setUint32(20, view.getUint32(20, true) - size, true);
}

/** For Intel: what was added stands at the end, and counts as part of the strings, the last of `__LINKEDIT`. */
function withoutTrailer(program: Uint8Array): Uint8Array {
  const strings = loadCommandsOf(program).find(({ kind }) => kind === SYMBOL_TABLE);
  const last = segmentOf(program, "__LINKEDIT");
  if (strings === undefined || last === undefined) throw new Error("there are no strings in __LINKEDIT");
  const end = beginOfTrailer(program, viewOf(program).getUint32(strings.at + 16, true));
  const base = program.slice(0, end);
  const view = viewOf(base);
  const added = program.length - end;
  view.setUint32(strings.at + 20, view.getUint32(strings.at + 20, true) - added, true);
  const size = view.getBigUint64(last.at + 48, true) - BigInt(added);
  view.setBigUint64(last.at + 48, size, true);
  view.setBigUint64(last.at + 32, (size + PAGE - 1n) / PAGE * PAGE, true);
  return base;
}

/**
 * Returns where the strings end and the trailer begins: the mark, the length of the start-up data, and the data in
 * JSON.
 */
function beginOfTrailer(program: Uint8Array, strings: number): number {
  const view = viewOf(program);
  for (let at = program.indexOf(FIRST_LETTER, strings); at >= 0; at = program.indexOf(FIRST_LETTER, at + 1)) {
    if (!holdsMark(program, at) || program[at + 16] !== BRACE) continue;
    if (at + 16 + Number(view.getBigUint64(at + 8, true)) <= program.length) return at;
  }
  throw new Error(`no ${DENO_MARK} of Deno 2.7 or earlier behind the strings`);
}
