/** Content that a person names: a file, standard input, or a folder of a skill. */
import { readFound, textOf } from "../../editor/plan/disk.ts";
import type { BundledFile } from "../../editor/resources/make_artifact.ts";
import { AgentcliError } from "../../errors.ts";
import { listSync, lstatSync } from "../../platform/files_sync.ts";
import { join, relativeTo, resolve } from "../../platform/path.ts";
import type { Context } from "../verb.ts";
import type { Scene } from "./scene.ts";

/** Most bytes of standard input, and most files of a skill. */
const INPUT_LIMIT = 4 * 1024 * 1024;
const FILE_COUNT = 500;

/**
 * The text of a file, or of standard input for `-`. Throws `usage` when it is absent or no text, `policy_refused` when it
 * is protected or holds what is.
 */
export async function readContent(name: string, { context, protection }: Scene): Promise<string> {
  const path = resolve(context.globals.cwd, name);
  if (name !== "-") await (await protection()).refuseFile(path);
  const bytes = name === "-" ? await readInput(context) : readFound(path)?.bytes;
  if (bytes === undefined) throw new AgentcliError("usage", `${name} does not exist`);
  const text = textOf(bytes);
  if (text === null) throw new AgentcliError("usage", `${name} is not UTF-8 text`);
  await (await protection()).refuseText(text);
  return text;
}

async function readInput({ io }: Context): Promise<Uint8Array> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (let bytes = await io.stdin.read(); bytes !== null; bytes = await io.stdin.read()) {
    size += bytes.length;
    if (size > INPUT_LIMIT) throw new AgentcliError("usage", "standard input is too long");
    parts.push(bytes);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

/**
 * The files of a skill's folder with their run bits. Throws `usage` for links and for more than 500 files,
 * `policy_refused` when one of them is protected or holds what is: half a skill would be no skill.
 */
export async function readFolder(name: string, { context, protection }: Scene): Promise<BundledFile[]> {
  const root = resolve(context.globals.cwd, name);
  const { refuseFile, refuseText } = await protection();
  const files: BundledFile[] = [];
  const waiting = [root];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const entry of listSync(directory) ?? []) {
      const path = join(directory, entry.name);
      if (entry.kind === "directory" && entry.name !== ".git") waiting.push(path);
      else if (entry.kind === "symlink") {
        throw new AgentcliError("usage", `${path} is a link; a skill bundles plain files`);
      } else if (entry.kind === "file") {
        await refuseFile(path);
        const found = readFound(path);
        if (found === null) continue;
        await refuseText(new TextDecoder().decode(found.bytes));
        const executable = ((lstatSync(path)?.mode ?? 0) & 0o111) !== 0;
        files.push({ path: relativeTo(root, path), bytes: found.bytes, executable });
        if (files.length > FILE_COUNT) throw new AgentcliError("usage", `${name} has more than ${FILE_COUNT} files`);
      }
    }
  }
  return files.sort((one, other) => one.path < other.path ? -1 : 1);
}
