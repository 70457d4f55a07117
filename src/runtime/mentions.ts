/** Files and directories that the words of a prompt name, read as the model reads them. Loaded when one is named. */
import { resultLimit } from "../agent/context/tokens.ts";
import { runTool } from "../agent/tool_call.ts";
import type { ResolvedPath } from "../boundary/workspace/workspace.ts";
import { readDenials } from "../tools/permission.ts";
import { builtinTools } from "../tools/registry.ts";
import { attachable, attachedImage, cannotAttach, mayNotAttach } from "./attachments.ts";
import type { Attached, ReadingOptions } from "./prompts.ts";

/** Bytes that tell an image. */
const HEAD = 64 * 1024;
/** The last line of a file of which only the beginning fits. */
const CUT = /\n\[lines 1-(\d+)(?: of (\d+))?; go on with offset \d+\]$/;

/**
 * Returns what is named, in order: text up to a share of the window with the rest cut and said, a directory as its listing, an
 * image as an image. Throws `policy_refused` for a protected file and a remote model, `permission_denied` for one that
 * a deny rule covers.
 */
export async function readMentions(mentions: readonly string[], options: ReadingOptions): Promise<Attached[]> {
  const { contextWindow } = options.session.model;
  const { bytesPerToken } = options.session.context;
  const resultBytes = resultLimit({ window: contextWindow, bytesPerToken, count: mentions.length });
  const attached: Attached[] = [];
  for (const mention of mentions) attached.push(await readMention(mention, { ...options, resultBytes }));
  return attached;
}

async function readMention(mention: string, options: ReadingOptions & { resultBytes: number }): Promise<Attached> {
  const { workspace, policy } = options.session;
  const path = await attachable(mention, { workspace, readDenied: readDenials(workspace, policy.deny) });
  if ((await workspace.status(path))?.kind === "directory") return await asRead(path, "Directory", options);
  const begun = await workspace.read(path, { limit: HEAD });
  if ("refused" in begun) throw mayNotAttach(mention, begun);
  const image = await attachedImage(mention, { path, begun, workspace });
  return image ?? await asRead(path, "File", options);
}

async function asRead(
  path: ResolvedPath,
  head: string,
  { session, io, signal, notice, resultBytes }: ReadingOptions & { resultBytes: number },
): Promise<Attached> {
  const tool = builtinTools({}).find(({ name }) => name === "Read");
  if (tool === undefined) throw new Error("there is no tool Read");
  const ask = () => Promise.resolve(null);
  const call = { io, signal, ask, emit: () => {}, resultBytes };
  const { content, label, isError } = await runTool(tool, { input: { file_path: path.path }, session, options: call });
  if (isError) throw cannotAttach(path.display, content);
  const cut = CUT.exec(content);
  if (cut !== null) {
    const [, shown = "", lines] = cut;
    const all = lines === undefined ? "" : ` of ${lines}`;
    await notice(`${path.display}: lines 1-${shown}${all} are attached; the model can read the rest`);
  }
  return { text: `${head} ${path.display}:\n${content}`, label };
}
