/**
 * Files and directories that the words of a prompt name, found and read as the model reads them. Loaded when one is
 * named.
 */
import { resultRoom } from "../agent/session.ts";
import { runTool } from "../agent/tool_call.ts";
import type { ResolvedPath, Workspace } from "../boundary/workspace/workspace.ts";
import { readDenials } from "../tools/permission.ts";
import { readTool } from "../tools/read/tool.ts";
import { attachable, attachedImage, cannotAttach, mayNotAttach } from "./attachments.ts";
import type { Attached, ReadingOptions } from "./prompts.ts";

/** Bytes that identify an image. */
const HEAD = 64 * 1024;
/** The last line of a file of which only the beginning fits. */
const CUT = /\n\[lines 1-(\d+)(?: of (\d+))?; go on with offset \d+\]$/;

/**
 * Returns what is named, in order: text up to a share of the window with a note on the rest, a directory as its
 * listing, an image as an image. Throws `policy_refused` for a protected file and a remote model, `permission_denied`
 * for one that a deny rule covers.
 */
export async function readMentions(mentions: readonly string[], options: ReadingOptions): Promise<Attached[]> {
  const resultBytes = resultRoom(options.session, mentions.length);
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
  const ask = () => Promise.resolve(null);
  const options = { io, signal, ask, emit: () => {}, resultBytes };
  const { content, label, isError } = await runTool(readTool, { input: { file_path: path.path }, session }, options);
  if (isError) throw cannotAttach(path.display, content);
  const cut = CUT.exec(content);
  if (cut !== null) {
    const [, shown = "", lines] = cut;
    const all = lines === undefined ? "" : ` of ${lines}`;
    await notice(`${path.display}: lines 1-${shown}${all} are attached; the model can read the rest`);
  }
  return { text: `${head} ${path.display}:\n${content}`, label };
}

/** A file name of an image; what the file is, its content decides later. */
const IMAGE = String.raw`\.(?:png|jpe?g|webp|gif)`;
/** Without the `@` only images count, which terminals paste by their path: in quotes, or with escaped white space. */
const DRAGGED = new RegExp(
  String.raw`(?<=^|\s)(?:(?<quote>['"])(?<quoted>(?:/|[A-Za-z]:[\\/])[^'"\n]*${IMAGE})\k<quote>` +
    String.raw`|(?<bare>(?:/|[A-Za-z]:[\\/])(?:\\\s|\S)*?${IMAGE}))(?=$|[\s,;:!?.)])`,
  "gi",
);
const MENTION =
  /(?<=^|[\s(])(?:@"(?<quoted>[^"\n]+)"|(?<quote>['"])@(?<inner>[^'"\n]+)\k<quote>|@(?<bare>(?:\\\s|\S)+))/g;
/** Characters that may follow a path without being part of it. */
const BEHIND = /(?<![,;:!?.)\]}'"])[,;:!?.)\]}'"]+$/;
/** Most paths of one line that are attached; a pasted text may hold any number. */
const MOST = 20;

/**
 * Returns the paths that `text` names and that are there. What is outside of the project, and what can only be a path
 * but is not there, is reported; `@param` and `@std/assert` stay plain text. Whether a file may be read is decided
 * where it is attached.
 */
export async function findMentions(
  text: string,
  workspace: Workspace,
): Promise<{ paths: string[]; problems: string[] }> {
  const found = new Map<string, string>();
  const problems = new Set<string>();
  for (const { forms, isQuoted } of namedIn(text)) {
    if (found.size >= MOST) {
      problems.add(`only the first ${MOST} paths are attached`);
      break;
    }
    const problem = await find(forms, { workspace, found });
    if (problem !== null && (problem.isCertain || isQuoted || await isPath(forms, workspace))) {
      problems.add(problem.text);
    }
  }
  return { paths: [...found.values()], problems: [...problems] };
}

/** Adds the first form that is there to `found`; returns why none is. */
async function find(
  forms: readonly string[],
  { workspace, found }: { workspace: Workspace; found: Map<string, string> },
): Promise<{ text: string; isCertain: boolean } | null> {
  let problem = "";
  for (const path of forms) {
    const resolved = await workspace.resolve(path);
    if ("refused" in resolved) return { text: `${path} is not attached: ${resolved.message}`, isCertain: true };
    const kind = (await workspace.status(resolved))?.kind;
    if (kind === "file" || kind === "symlink" || kind === "directory") {
      found.set(resolved.real, path);
      return null;
    }
    problem = `${path} is not attached: ${kind === undefined ? "there is no such file" : "it is not a file"}`;
  }
  return { text: problem, isCertain: false };
}

/**
 * Whether a name that is not there can only be meant as a path: by how it ends, or by a directory that it begins with.
 */
async function isPath(forms: readonly string[], workspace: Workspace): Promise<boolean> {
  const path = forms.at(-1) ?? "";
  // `@server:uri` is a resource of an MCP server.
  if (/^[\w-]+:\S/.test(path)) return false;
  if (/\.[A-Za-z]\w*$|\/$/.test(path)) return true;
  const [, directory] = /^([^/]+)\//.exec(path) ?? [];
  const resolved = directory === undefined ? null : await workspace.resolve(directory);
  return resolved !== null && !("refused" in resolved) && await workspace.status(resolved) !== null;
}

/** The paths that may be meant, each with the form without what follows it. */
function* namedIn(text: string): Generator<{ forms: string[]; isQuoted: boolean }> {
  for (const { groups = {} } of text.matchAll(MENTION)) {
    const quoted = groups["quoted"] ?? groups["inner"];
    const bare = (groups["bare"] ?? "").replace(/\\(?=\s)/g, "");
    const forms = quoted !== undefined ? [quoted] : [...new Set([bare, bare.replace(BEHIND, "")])];
    yield { forms: forms.filter((form) => form !== ""), isQuoted: quoted !== undefined };
  }
  for (const { groups = {} } of text.matchAll(DRAGGED)) {
    yield { forms: [groups["quoted"] ?? (groups["bare"] ?? "").replace(/\\(?=\s)/g, "")], isQuoted: false };
  }
}
