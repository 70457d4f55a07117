/**
 * Looks into the binaries of a release without running them, one line each: system and processor, whether every module
 * of the bundle beside them is inside byte for byte, and the signature that macOS on ARM asks for.
 * Usage: deno run -R scripts/compile/inspect.ts [FOLDER]        Exit 1 when one is not as it has to be.
 */
import { binaryName, type Target, TARGETS } from "./binary.ts";
import { DENO_MARK, holdsMark, systemOf } from "./formats.ts";
import { modulesOf } from "./modules.ts";
import { checkedSignature } from "./signature.ts";
import { perform, readLine } from "../script.ts";

/** What a binary is, in words. Throws with what is wrong with it. `bundle` is the text that it was made of. */
async function inspectBinary(
  program: Uint8Array<ArrayBuffer>,
  { target, bundle }: { target: Target; bundle: string },
): Promise<string> {
  const found = systemOf(program);
  if (found === null) throw new Error("no program");
  const [processor = "", system = ""] = [found.processor, found.system];
  if (!target.startsWith(processor) || !target.includes(system)) throw new Error(`it is for ${system} on ${processor}`);
  const modules = modulesOf(bundle);
  const added = program.subarray(beginOfAdded(program));
  for (const [name, text] of modules) {
    if (!holds(added, new TextEncoder().encode(text))) throw new Error(`${name} is not inside as the bundle has it`);
  }
  const signature = system === "apple" ? await checkedSignature(program) : null;
  if (target === "aarch64-apple-darwin" && !signature?.adhoc) throw new Error("it has no ad-hoc signature");
  const signed = signature === null ? "" : `, ad-hoc signature over ${signature.pages} pages`;
  return `${system} on ${processor}, ${
    (program.length / 1e6).toFixed(0)
  } MB, ${modules.size} modules of the bundle${signed}`;
}

/** Where the part that `deno compile` added may begin: the mark and a length before JSON. Later Deno has no mark. */
function beginOfAdded(program: Uint8Array): number {
  const first = DENO_MARK.charCodeAt(0);
  for (let at = program.indexOf(first); at >= 0; at = program.indexOf(first, at + 1)) {
    if (holdsMark(program, at) && program[at + 16] === 0x7b) return at;
  }
  return 0;
}

function holds(bytes: Uint8Array, wanted: Uint8Array): boolean {
  const [first = 0] = wanted;
  for (let at = bytes.indexOf(first); at >= 0; at = bytes.indexOf(first, at + 1)) {
    let same = 1;
    while (same < wanted.length && bytes[at + same] === wanted[same]) same++;
    if (same === wanted.length) return true;
  }
  return false;
}

async function inspectFolder(folder: string): Promise<boolean> {
  const bundle = await Deno.readTextFile(`${folder}/agentcli.js`);
  let good = true;
  for (const target of TARGETS) {
    const program = await Deno.readFile(`${folder}/${binaryName(target)}`).catch(() => null);
    if (program === null) continue;
    try {
      console.log(`${target}: ${await inspectBinary(program, { target, bundle })}`);
    } catch (error) {
      good = false;
      console.log(`${target}: wrong: ${error instanceof Error ? error.message : error}`);
    }
  }
  return good;
}

if (import.meta.main) {
  await perform(import.meta.url, async (args) => {
    const { words: [folder = "dist/release"] } = readLine(args, {}, { words: 1 });
    if (!await inspectFolder(folder)) Deno.exit(1);
  });
}
