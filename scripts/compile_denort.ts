/**
 * Cuts what `deno compile` added off a Linux program made with Deno 2.7 or earlier, and keeps the base binary: so a
 * machine that reaches npm alone can compile. Usage: deno run -RW scripts/compile_denort.ts <program> <result>
 */

/** What Deno up to 2.7 writes right behind the sections of the base binary. */
const MARK = "d3n0l4nd";

/** The base binary in these bytes. Throws when they are no such program. Source: ELF-64, header and section table. */
export function baseBinaryOf(program: Uint8Array): Uint8Array {
  const view = new DataView(program.buffer, program.byteOffset, program.byteLength);
  if (program.length < 64 || view.getUint32(0) !== 0x7f454c46) throw new Error("no ELF file");
  const sectionTable = Number(view.getBigUint64(0x28, true));
  const end = sectionTable + view.getUint16(0x3a, true) * view.getUint16(0x3c, true);
  const mark = new TextDecoder().decode(program.subarray(end, end + MARK.length));
  if (mark !== MARK) throw new Error("nothing of Deno 2.7 or earlier behind the sections");
  return program.subarray(0, end);
}

if (import.meta.main) {
  const [program = "", result = ""] = Deno.args;
  await Deno.writeFile(result, baseBinaryOf(await Deno.readFile(program)), { mode: 0o755 });
}
