/**
 * Takes out of a program what `deno compile` of Deno 2.7 or earlier put in, and keeps the base binary: so a machine
 * that reaches npm alone can compile. Usage: deno run -RW scripts/compile/denort.ts <program> <result>
 *
 * The program may be for any system: Deno puts its part after the sections of an ELF file, into a segment `__SUI` of a
 * Mach-O file for ARM, after the strings of one for Intel, and into a resource of a PE file.
 */
import { DENO_MARK, holdsMark, viewOf } from "./formats.ts";
import { baseOfMachO } from "./denort_macho.ts";
import { baseOfPe } from "./denort_pe.ts";
import { perform, readLine, UsageError } from "../script.ts";

/** The base binary in these bytes, in bytes of its own. Throws when Deno 2.7 or earlier put nothing into them. */
export function baseBinaryOf(program: Uint8Array): Uint8Array {
  const magic = program.length < 64 ? 0 : viewOf(program).getUint32(0);
  if (magic === 0x7f454c46) return baseOfElf(program);
  if (magic === 0xcffaedfe) return baseOfMachO(program);
  if (magic >>> 16 === 0x4d5a) return baseOfPe(program);
  throw new Error("neither an ELF, a 64-bit Mach-O nor a PE file");
}

/** Source: ELF-64, header and section table; what Deno adds begins right after that. */
function baseOfElf(program: Uint8Array): Uint8Array {
  const view = viewOf(program);
  const end = Number(view.getBigUint64(0x28, true)) + view.getUint16(0x3a, true) * view.getUint16(0x3c, true);
  if (!holdsMark(program, end)) throw new Error(`no ${DENO_MARK} of Deno 2.7 or earlier behind the sections`);
  return program.slice(0, end);
}

if (import.meta.main) {
  await perform(import.meta.url, async (args) => {
    const { words: [program, result] } = readLine(args, {}, { words: 2 });
    if (program === undefined || result === undefined) throw new UsageError("name the program and the result");
    await Deno.writeFile(result, baseBinaryOf(await Deno.readFile(program)), { mode: 0o755 });
  });
}
