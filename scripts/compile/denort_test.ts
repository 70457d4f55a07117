import assert from "node:assert/strict";
import { baseBinaryOf } from "./denort.ts";
import { loadCommandsOf, segmentOf, SYMBOL_TABLE, systemOf, viewOf } from "./formats.ts";
import { checkedSignature } from "./signature.ts";

const PART = new TextEncoder().encode("d3n0l4nd\x02\0\0\0\0\0\0\0{}rest of it d3n0l4nd");

function written(size: number, texts: Record<number, string>): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  for (const [at, text] of Object.entries(texts)) new TextEncoder().encodeInto(text, bytes.subarray(Number(at)));
  return bytes;
}

Deno.test("a base binary of Linux ends with its sections, where Deno's mark begins", () => {
  const program = written(100, {});
  const view = viewOf(program);
  view.setUint32(0, 0x7f454c46);
  view.setUint16(18, 183, true);
  view.setBigUint64(0x28, 70n, true);
  view.setUint16(0x3a, 10, true);
  view.setUint16(0x3c, 2, true);
  assert.throws(() => baseBinaryOf(program), /no d3n0l4nd of Deno 2\.7/);
  program.set(PART.subarray(0, 8), 90);
  assert.equal(baseBinaryOf(program).length, 90);
  assert.deepEqual(systemOf(program), { system: "linux", processor: "aarch64" });
});

Deno.test("what is no program has no base binary and no system", () => {
  assert.throws(() => baseBinaryOf(new Uint8Array(10)), /neither an ELF/);
  assert.equal(systemOf(new Uint8Array(10)), null);
  assert.equal(systemOf(written(100, { 0: "#!/bin/sh" })), null);
});

/** A Mach-O program: `__TEXT` of 512 bytes, `__LINKEDIT` with strings after it; for ARM with room for `__SUI`. */
function machO({ processor, strings }: { processor: number; strings: number }): Uint8Array<ArrayBuffer> {
  const program = written(512 + strings, { [32 + 8]: "__TEXT", [32 + 72 + 8]: "__LINKEDIT", 512: "strings" });
  const view = viewOf(program);
  view.setUint32(0, 0xcffaedfe);
  view.setUint32(4, processor, true);
  view.setUint32(16, 3, true);
  view.setUint32(20, 72 + 72 + 24, true);
  for (const [at, from, size] of [[32, 0, 512], [32 + 72, 512, strings]] as const) {
    view.setUint32(at, 0x19, true);
    view.setUint32(at + 4, 72, true);
    view.setBigUint64(at + 24, BigInt(0x1000 + from), true);
    view.setBigUint64(at + 32, 0x1000n, true);
    view.setBigUint64(at + 40, BigInt(from), true);
    view.setBigUint64(at + 48, BigInt(size), true);
  }
  const symbols = 32 + 72 + 72;
  view.setUint32(symbols, SYMBOL_TABLE, true);
  view.setUint32(symbols + 4, 24, true);
  view.setUint32(symbols + 16, 512, true);
  view.setUint32(symbols + 20, strings, true);
  return program;
}

Deno.test("a base binary of macOS on Intel has its strings alone at the end", () => {
  const base = machO({ processor: 0x01000007, strings: 64 });
  assert.throws(() => baseBinaryOf(base), /behind the strings/);
  const program = machO({ processor: 0x01000007, strings: 64 + PART.length });
  program.set(PART, 512 + 64);
  assert.deepEqual(baseBinaryOf(program), base);
  assert.deepEqual(systemOf(program), { system: "apple", processor: "x86_64" });
});

Deno.test("a base binary of macOS on ARM has no segment of Deno, and what follows it is back in its place", () => {
  const base = machO({ processor: 0x0100000c, strings: 64 });
  const program = new Uint8Array(base.length + 256);
  program.set(base.subarray(0, 512));
  program.set(PART, 512);
  program.set(base.subarray(512), 512 + 256);
  const view = viewOf(program);
  // The new command stands before that of `__LINKEDIT`.
  program.copyWithin(32 + 144, 32 + 72, 32 + 72 + 96);
  program.fill(0, 32 + 72 + 8, 32 + 144);
  program.set(new TextEncoder().encode("__SUI"), 32 + 72 + 8);
  view.setBigUint64(32 + 72 + 32, 0x4000n, true);
  view.setBigUint64(32 + 72 + 40, 512n, true);
  view.setBigUint64(32 + 72 + 48, 256n, true);
  view.setUint32(16, 4, true);
  view.setUint32(20, 72 * 3 + 24, true);
  view.setBigUint64(32 + 144 + 24, 0x1000n + 512n + 0x4000n, true);
  view.setBigUint64(32 + 144 + 40, 512n + 256n, true);
  view.setUint32(32 + 216 + 16, 512 + 256, true);
  const found = baseBinaryOf(program);
  assert.equal(segmentOf(found, "__SUI"), undefined);
  assert.deepEqual(loadCommandsOf(found).map(({ kind }) => kind), [0x19, 0x19, SYMBOL_TABLE]);
  assert.deepEqual(found, base);
});

Deno.test("a base binary of Windows has no section for Deno's resource", () => {
  const program = written(1024 + PART.length, { [64]: "PE", [328]: ".text", [368]: ".pedata" });
  const view = viewOf(program);
  view.setUint16(0, 0x4d5a);
  view.setUint32(0x3c, 64, true);
  view.setUint16(64 + 4, 0x8664, true);
  view.setUint16(64 + 6, 2, true);
  view.setUint16(64 + 20, 240, true);
  view.setUint32(88 + 56, 0x3000, true);
  view.setUint32(368 + 12, 0x2000, true);
  view.setUint32(368 + 20, 1024, true);
  program.set(PART, 1024);
  assert.throws(() => baseBinaryOf(program), /the last section, \.pedata, has no resource/);
  view.setUint32(88 + 112 + 16, 0x2000, true);
  view.setUint32(88 + 112 + 20, PART.length, true);
  const base = viewOf(baseBinaryOf(program));
  assert.equal(base.byteLength, 1024);
  assert.deepEqual([base.getUint16(64 + 6, true), base.getUint32(88 + 56, true)], [1, 0x2000]);
  assert.deepEqual([base.getBigUint64(88 + 112 + 16, true), base.getUint32(368)], [0n, 0]);
  assert.deepEqual(systemOf(program), { system: "windows", processor: "x86_64" });
});

/** The program with a signature after its 576 bytes, in pages of 512; `flags` are those of the code directory. */
async function signed(flags: number): Promise<Uint8Array<ArrayBuffer>> {
  const program = new Uint8Array(576 + 256);
  program.set(machO({ processor: 0x0100000c, strings: 64 }));
  const view = viewOf(program);
  view.setUint32(16, 4, true);
  const command = 32 + 72 * 2 + 24;
  view.setUint32(command, 0x1d, true);
  view.setUint32(command + 4, 16, true);
  view.setUint32(command + 8, 576, true);
  view.setUint32(576, 0xfade0cc0);
  view.setUint32(576 + 8, 1);
  view.setUint32(576 + 16, 20);
  const directory = 576 + 20;
  view.setUint32(directory, 0xfade0c02);
  view.setUint32(directory + 12, flags);
  view.setUint32(directory + 16, 44);
  view.setUint32(directory + 28, 2);
  view.setUint32(directory + 32, 576);
  view.setUint8(directory + 37, 2);
  view.setUint8(directory + 39, 9);
  for (const [page, end] of [[0, 512], [1, 576]] as const) {
    const sum = await crypto.subtle.digest("SHA-256", program.subarray(page * 512, end));
    program.set(new Uint8Array(sum), directory + 44 + page * 32);
  }
  return program;
}

Deno.test("a signature is looked at page by page", async () => {
  assert.equal(await checkedSignature(machO({ processor: 0x0100000c, strings: 64 })), null);
  const program = await signed(0x2);
  assert.deepEqual(await checkedSignature(program), { adhoc: true, pages: 2 });
  assert.deepEqual(await checkedSignature(await signed(0)), { adhoc: false, pages: 2 });
  program[570] = 1;
  await assert.rejects(checkedSignature(program), /page 1 differs/);
});
