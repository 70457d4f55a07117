/**
 * The blocks of a prompt: words, files and images. Files go through the reader of the boundary; an editor's text of a
 * file has the label of its path, whatever it says.
 */
import { pathOfAddress, percentDecoded } from "../../platform/text.ts";
import { highestLabel, type Label } from "../../boundary/policy/label.ts";
import { rememberedAt } from "../../boundary/policy/project.ts";
import { ProtectedSet } from "../../boundary/policy/protected.ts";
import { describeRule, isOfGit, type ProtectionRule, ruleOfGit } from "../../boundary/policy/protection_rule.ts";
import type { ResolvedPath } from "../../boundary/workspace/workspace.ts";
import { AgentcliError } from "../../errors.ts";
import { openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { dirname, isAbsolute, isWithin } from "../../platform/path.ts";
import { realOrNamed } from "../../platform/real_path.ts";
import { readEncodedImage } from "../../provider/chat/image_file.ts";
import { fieldsOf, textOf } from "../../platform/record.ts";
import type { PromptInput } from "../../runtime/prompts.ts";
import { cannotAttach, mayNotAttach } from "../../runtime/attachments.ts";
import type { OpenSession } from "../../runtime/open_session.ts";
import { readDenials } from "../../tools/permission.ts";
import { invalidParams } from "./wire.ts";

/** Largest file that a link attaches, in bytes; a larger one is named, and the model reads it in parts. */
const LINK_LIMIT = 32 * 1024;

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
  const { label } = await placeOf(textOf(uri), context);
  return { image: read.image, label };
}

async function linkPart({ uri, name }: Fields, context: PartContext): Promise<Part> {
  const { session: { workspace } } = context.opened;
  const link = textOf(uri) ?? "";
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
  const { label, display } = await placeOf(textOf(uri), context);
  if (typeof text === "string") {
    return { text: `File ${display ?? textOf(uri) ?? "without a name"}:\n${text}`, isFile: true, label };
  }
  if (typeof blob === "string" && /^image\//.test(textOf(mimeType) ?? "")) {
    return await imagePart({ data: blob, uri }, context);
  }
  throw cannotAttach(display ?? textOf(uri) ?? "a resource", "it is neither text nor an image");
}

/** Returns the label of what came with this address: the highest of any path in it. Throws where it may not be sent. */
async function placeOf(uri: string | null, context: PartContext): Promise<Place> {
  const file = filePath(uri ?? "");
  const named = file === null ? pathsIn(uri ?? "") : [file];
  const places: Place[] = [];
  // A link outside of the project may lead into it, or to what another one protects.
  for (const path of new Set(named.flatMap((path) => isAbsolute(path) ? [path, realOrNamed(path)] : [path]))) {
    places.push(await placeAt(path, context));
  }
  const display = places.map((place) => place.display).find((shown) => shown !== null) ?? file;
  return { label: highestLabel(places.map(({ label }) => label)), display };
}

async function placeAt(path: string, { opened, io }: PartContext): Promise<Place> {
  const { workspace, policy } = opened.session;
  const resolved = await workspace.resolve(path);
  if ("refused" in resolved) {
    if (resolved.refused === "protected") throw mayNotAttach(path, resolved);
    if (isAbsolute(path) && isWithin((await openHome(io)).path, realOrNamed(path))) {
      throw new AgentcliError("policy_refused", `cannot attach ${path}: it belongs to agentcli itself`);
    }
    const rule = isAbsolute(path) ? await ruleElsewhere(path, io) : null;
    if (rule === null) return { label: "open", display: null };
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
  // The editor's text of a missing file belongs to that file, too.
  workspace.noteUsed(resolved);
  return { label: await labelAt(resolved, opened), display: resolved.display };
}

/**
 * Returns the rule of a file outside of the project: by the markers above it, and what is known of the project around
 * it.
 */
async function ruleElsewhere(path: string, io: Io): Promise<ProtectionRule | null> {
  const directory = dirname(path);
  const protection = new ProtectedSet([directory], { remembered: await rememberedAt(io, [directory]) });
  const rule = protection.rule(path);
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

/**
 * Everything in any other address that can be a path: editors have schemes of their own for views of a file, and
 * name it in front, in a parameter, or in a nested address.
 */
function pathsIn(uri: string): string[] {
  const [, scheme = "", rest = ""] = /^([a-z][a-z0-9+.-]+:)(?:\/\/[^/?#]*)?(.*)$/is.exec(uri) ?? [];
  const whole = percentDecoded(rest.replace(/[?#].*$/s, ""));
  const parts = percentDecoded(percentDecoded(rest)).split(/[?&=#!"]|[a-z][a-z0-9+.-]+:(?:\/\/[^/]*)?(?=\/)/i);
  const paths = [whole, ...parts].map((part) => part.replace(/^\/{2,}/, "/"));
  // `untitled:notes.txt` starts where the project does.
  return [...new Set(paths)].filter((path) =>
    isAbsolute(path) || (path !== "" && uri === `${scheme}${rest}` && path === whole)
  );
}

/** The path of a `file:` address, or a path as it is; null for any other address. */
function filePath(uri: string): string | null {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(uri)) return uri === "" ? null : uri;
  return /^file:/i.test(uri) ? pathOfAddress(uri) : null;
}
