/**
 * The signature in a Mach-O program. macOS on ARM ends a program at its start that has none, or whose pages differ from
 * it; an ad-hoc one, which needs no certificate, is enough for that. (Gatekeeper asks for more, of downloaded files.)
 */
import { CODE_SIGNATURE, loadCommandsOf, viewOf } from "./formats.ts";

/** Magic numbers. Source: `cs_blobs.h` of Apple's XNU; all numbers of a signature are big-endian. */
const EMBEDDED_SIGNATURE = 0xfade0cc0;
const CODE_DIRECTORY = 0xfade0c02;
const ADHOC = 0x2;
const SHA256 = 2;

/** What a signature says. */
export interface Signature {
  adhoc: boolean;
  /** Pages of the program that the signature has a sum for, each of which was compared. */
  pages: number;
}

/**
 * The signature, after every page of the program was compared with its sum; null without one. Throws when one differs.
 */
export async function checkedSignature(program: Uint8Array<ArrayBuffer>): Promise<Signature | null> {
  const command = loadCommandsOf(program).find(({ kind }) => kind === CODE_SIGNATURE);
  if (command === undefined) return null;
  const view = viewOf(program);
  const start = view.getUint32(command.at + 8, true);
  if (view.getUint32(start) !== EMBEDDED_SIGNATURE) throw new Error("the place of the signature holds something else");
  const directory = placeOfDirectory(view, start);
  const hashes = directory + view.getUint32(directory + 16);
  const pages = view.getUint32(directory + 28);
  const end = view.getUint32(directory + 32);
  const size = 2 ** view.getUint8(directory + 39);
  if (view.getUint8(directory + 37) !== SHA256) throw new Error("the signature has other sums than SHA-256");
  if (end !== start || pages !== Math.ceil(end / size)) throw new Error("the signature does not cover the program");
  for (let page = 0; page < pages; page++) {
    const content = program.subarray(page * size, Math.min((page + 1) * size, end));
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", content));
    if (!sum.every((byte, at) => byte === program[hashes + page * sum.length + at])) {
      throw new Error(`page ${page} differs from its sum in the signature`);
    }
  }
  return { adhoc: (view.getUint32(directory + 12) & ADHOC) !== 0, pages };
}

function placeOfDirectory(view: DataView, start: number): number {
  for (let index = view.getUint32(start + 8); index > 0; index--) {
    const at = start + view.getUint32(start + 8 + index * 8);
    if (view.getUint32(at) === CODE_DIRECTORY) return at;
  }
  throw new Error("the signature has no code directory");
}
