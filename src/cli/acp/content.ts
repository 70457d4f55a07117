/**
 * The blocks of a prompt: words, files and images. Files go through the reader of the boundary; an editor's text of a
 * file has the label of its path, whatever it says.
 */
import { pathOfAddress, percentDecoded, shortened } from "../../platform/text.ts";
import { highestLabel, type Label } from "../../boundary/policy/label.ts";
import { protectedAround } from "../../boundary/policy/project.ts";
import { describeRule, isOfGit, type ProtectionRule, ruleOfGit } from "../../boundary/policy/protection_rule.ts";
import type { ResolvedPath } from "../../boundary/workspace/workspace.ts";
import { AgentcliError } from "../../errors.ts";
import { lstatSync } from "../../platform/files.ts";
import { openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { dirname, isAbsolute, isWithin, normalize } from "../../platform/path.ts";
import { quietly, realOrNamed } from "../../platform/real_path.ts";
import { readEncodedImage } from "../../provider/chat/image_file.ts";
import { fieldsOf, textOf } from "../../platform/record.ts";
import type { PromptInput } from "../../runtime/prompts.ts";
import { cannotAttach, mayNotAttach } from "../../runtime/attachments.ts";
import type { OpenSession } from "../../runtime/open_session.ts";
import { readDenials } from "../../tools/permission.ts";
import { invalidParams } from "./wire.ts";

/** Largest file that a link attaches, in bytes; a larger one is named, and the model reads it in parts. */
const LINK_LIMIT = 32 * 1024;

/** Most characters of an address: systems take no longer path. */
const LONGEST_ADDRESS = 4096;

const SCHEME = /^[a-z][a-z0-9+.-]+:/i;
/** Scheme and authority; what no path follows is one itself. */
const FRONT = /^[a-z][a-z0-9+.-]+:(?:\/\/(?:[^/?#]*(?=\/))?)?/i;
/** Everything that separates paths in an address. */
const SEPARATORS = /[?&=#!"'()[\]{}<>|,;]|[a-z][a-z0-9+.-]+:(?:\/\/[^/]*)?(?=\/)/i;

interface Part {
  text?: string;
  /** The text is that of a file: it follows the words, as with every other surface. */
  isFile?: true;
  label?: Label;
  file?: string;
  image?: NonNullable<PromptInput["images"]>[number];
}

type Fields = Record<string, unknown>;

/** Throws for anything but a list of supported blocks; the rest is not checked. */
export function promptBlocks(prompt: unknown): Fields[] {
  if (!Array.isArray(prompt)) throw invalidParams("prompt is not a list of content blocks");
  const blocks = prompt.map(fieldsOf);
  for (const { type } of blocks) {
    if (!["text", "resource_link", "resource", "image"].includes(String(type))) {
      throw invalidParams(`content blocks of type ${String(type).slice(0, 40)} are not supported`);
    }
  }
  return blocks;
}

/**
 * Returns the blocks as a prompt; `label` is that of what the words were made from. Throws `policy_refused`,
 * `permission_denied` and `usage` for what may not or cannot be sent.
 */
export async function promptInput(
  blocks: readonly Fields[],
  opened: OpenSession,
  { io, label }: { io: Io; label: Label },
): Promise<PromptInput> {
  const parts: Part[] = [];
  for (const block of blocks) parts.push(await partOf(block, { opened, io, images: count(parts) }));
  return {
    text: [...parts.filter(({ isFile }) => !isFile), ...parts.filter(({ isFile }) => isFile)]
      .flatMap(({ text }) => text === undefined ? [] : [text]).join("\n\n"),
    label: highestLabel([label, ...parts.map((part) => part.label ?? "open")]),
    files: parts.flatMap(({ file }) => file === undefined ? [] : [file]),
    images: parts.flatMap(({ image }) => image === undefined ? [] : [image]),
  };
}

function count(parts: readonly Part[]): number {
  return parts.filter(({ image }) => image !== undefined).length;
}

/** A place of the project, as far as it is known. */
interface Place {
  label: Label;
  display: string | null;
}

interface PartContext {
  opened: OpenSession;
  io: Io;
  /** Images before this part. */
  images: number;
}

async function partOf(block: Fields, context: PartContext): Promise<Part> {
  switch (block.type) {
    case "text":
      return { text: typeof block.text === "string" ? block.text : "" };
    case "image":
      return await imagePart(block, context);
    case "resource_link":
      return await linkPart(block, context);
    default:
      return await resourcePart(fieldsOf(block.resource), context);
  }
}

async function imagePart({ data, uri }: Fields, context: PartContext): Promise<Part> {
  const name = String(context.images + 1);
  const read = typeof data === "string" ? readEncodedImage(data, { name }) : null;
  if (read?.kind !== "image") {
    const problem = read?.kind === "unusable" ? read.problem : "its data is not PNG, JPEG or WebP";
    throw new AgentcliError("usage", `image ${name} of the prompt cannot be sent: ${problem}`);
  }
  const { label } = await placeOf(addressOf(uri), context);
  return { image: read.image, label };
}

async function linkPart({ uri, name }: Fields, context: PartContext): Promise<Part> {
  const { session: { workspace } } = context.opened;
  const link = addressOf(uri);
  const path = filePath(link);
  const resolved = path === null ? null : await workspace.resolve(path);
  if (path === null || resolved === null || "refused" in resolved) {
    return { text: path ?? `${textOf(name) ?? ""} ${link}`.trim() };
  }
  const status = await workspace.status(resolved);
  const isAttached = status?.kind === "file" && status.size <= LINK_LIMIT;
  return isAttached ? { file: resolved.path } : { text: resolved.display };
}

/** The text of a file as the client has it. */
async function resourcePart({ uri, text, blob, mimeType }: Fields, context: PartContext): Promise<Part> {
  const address = addressOf(uri);
  const { label, display } = await placeOf(address, context);
  if (typeof text === "string") {
    return { text: `File ${display ?? (address || "without a name")}:\n${text}`, isFile: true, label };
  }
  if (typeof blob === "string" && /^image\//.test(textOf(mimeType) ?? "")) {
    return await imagePart({ data: blob, uri }, context);
  }
  throw cannotAttach(display ?? (address || "a resource"), "it is neither text nor an image");
}

/**
 * Returns the place of what came with this address, with the highest label of any path in it. Throws where it may not
 * be sent.
 */
async function placeOf(address: string, { opened, io }: PartContext): Promise<Place> {
  const { workspace } = opened.session;
  const paths = pathsIn(address);
  // Relative paths are taken from either. Links from outside may lead into the project, or to what another protects.
  const places = paths.flatMap((path) =>
    (isAbsolute(path) ? [path] : [`${workspace.cwd}/${path}`, `${workspace.root}/${path}`])
      .flatMap((place) => [normalize(place), realOrNamed(place)])
  );
  const home = (await openHome(io)).path;
  const labels: Label[] = [];
  for (const place of new Set(places)) labels.push(await labelOfPlace(place, { opened, io, home }));
  const file = filePath(address);
  // Of other addresses, a relative path is only shown if it is what follows the scheme (`untitled:notes.txt`).
  const rest = percentDecoded(address.replace(SCHEME, ""));
  const meant = paths.filter((path) => isAbsolute(path) || !isAbsolute(rest) && rest.startsWith(path));
  const shown: string[] = [];
  for (const path of file === null ? meant : [file]) {
    for (const place of isAbsolute(path) ? [path, realOrNamed(path)] : [path]) {
      const resolved = await workspace.resolve(place);
      if ("refused" in resolved) continue;
      // The editor's text of a missing file belongs to that file, too.
      workspace.noteUsed(resolved);
      shown.push(resolved.display);
    }
  }
  return { label: highestLabel(labels), display: shown[0] ?? file };
}

async function labelOfPlace(
  path: string,
  { opened, io, home }: Pick<PartContext, "opened" | "io"> & { home: string },
): Promise<Label> {
  const { workspace, policy } = opened.session;
  const resolved = await workspace.resolve(path);
  if ("refused" in resolved) {
    if (resolved.refused === "protected") throw mayNotAttach(path, resolved);
    if (isWithin(home, path)) {
      throw new AgentcliError("policy_refused", `cannot attach ${path}: it belongs to agentcli itself`);
    }
    if (await ruleElsewhere(path, io) === null) return "open";
    // A session looks for the protected content of its own project only.
    throw new AgentcliError("policy_refused", `cannot attach ${path}: another project protects it`, {
      hint: "open a session in that project, or leave it out",
    });
  }
  const rule = readDenials(workspace, policy.deny)?.(resolved) ?? null;
  if (rule !== null) {
    throw new AgentcliError(
      "permission_denied",
      `cannot attach ${resolved.display}: the rule ${rule} denies reading it`,
      { hint: "remove the rule from permissions.deny, or leave the file out" },
    );
  }
  return await labelAt(resolved, opened);
}

/** Returns the rule of a file outside of the project: by the project around it, under any name. */
async function ruleElsewhere(path: string, io: Io): Promise<ProtectionRule | null> {
  const protection = await protectedAround(dirname(path), io, { path });
  const status = quietly(() => lstatSync(path));
  const rule = status?.kind === "file" ? protection.ruleOfFile(status, path) : protection.rule(path);
  return rule === null && isOfGit(path) && protection.patterns.size > 0 ? ruleOfGit(protection.markers) : rule;
}

async function labelAt(path: ResolvedPath, { session: { workspace } }: OpenSession): Promise<Label> {
  const read = await workspace.read(path, { limit: 1 });
  if (!("refused" in read)) return read.label;
  if (read.refused === "protected") throw mayNotAttach(path.display, read);
  // A file that only the editor has so far.
  const rule = workspace.ruleAt(path);
  if (rule === null) return "open";
  if (workspace.local && rule.tier === "no-cloud") return "no-cloud";
  const named = describeRule(rule, workspace.root);
  throw new AgentcliError("policy_refused", `cannot attach ${path.display}: it is protected (${named})`, {
    hint: "use a local model, or leave the file out",
  });
}

/** Returns an address as a text. Throws `usage` for one that is longer than any path. */
function addressOf(uri: unknown): string {
  const address = textOf(uri) ?? "";
  if (address.length <= LONGEST_ADDRESS) return address;
  throw cannotAttach(shortened(address, 100), `its address has more than ${LONGEST_ADDRESS} characters`);
}

/**
 * Returns everything in an address that can be a path, its own path first: editors have schemes of their own for views
 * of a file, and name it in front, in a parameter, or in a nested address.
 */
function pathsIn(address: string): string[] {
  const paths = [filePath(address) ?? ""];
  let text = address;
  for (let decoded = 0; decoded < 3; decoded++) {
    const [path = ""] = text.split(/[?#]/);
    paths.push(percentDecoded(path.replace(FRONT, "")), ...text.split(SEPARATORS));
    text = percentDecoded(text);
  }
  const found = new Set(paths.map((path) => path.replace(/^\/{2,}/, "/")));
  return [...found].filter((path) => path !== "" && !SCHEME.test(path));
}

/** Returns the path of a `file:` address, or a path as it is; null for any other address. */
function filePath(address: string): string | null {
  if (!SCHEME.test(address)) return address === "" ? null : address;
  return /^file:/i.test(address) ? pathOfAddress(address) : null;
}
