/** Artifacts: a name, and the resources that each consists of. */
import { sha256 } from "../../platform/digest.ts";
import { AgentcliError } from "../../errors.ts";
import * as z from "../../config/zod.ts";
import { ASSISTANT_IDS, isAssistant } from "../assistants.ts";
import { DIALECT_IDS, KINDS, SCOPES } from "../dialect.ts";
import { canonical } from "./json_tree.ts";

const FileResource = z.object({
  kind: z.literal("file"),
  path: z.string(),
  /** The whole file, base64: what a skill bundles need not be text. */
  content: z.string(),
  executable: z.boolean(),
});
/** A member of an object of a JSON file. */
const MemberResource = z.object({
  kind: z.literal("member"),
  path: z.string(),
  at: z.array(z.string()),
  value: z.unknown(),
  /** A member that the file needs in any case: removed only with the last of its other members. */
  header: z.literal(true).optional(),
});
/** An item of a list of a JSON file. */
const ItemResource = z.object({
  kind: z.literal("item"),
  path: z.string(),
  at: z.array(z.string()),
  value: z.unknown(),
});
/** A marked section of a markdown file; `limit`: characters that the whole file may have. */
const SectionResource = z.object({
  kind: z.literal("section"),
  path: z.string(),
  name: z.string(),
  /** The lines around it, for a section of another installer; else they are ours. */
  marks: z.object({ begin: z.string(), end: z.string() }).optional(),
  content: z.string(),
  limit: z.number().nullable(),
});
/** A table of a TOML file, as text with its header. */
const TableResource = z.object({
  kind: z.literal("table"),
  path: z.string(),
  at: z.array(z.string()),
  content: z.string(),
});

/** The shape of a resource in the ledger. */
export const ResourceSchema = z.discriminatedUnion("kind", [
  FileResource,
  MemberResource,
  ItemResource,
  SectionResource,
  TableResource,
]);

/** One file, or one entry of a shared file, that an artifact consists of. Paths are absolute. */
export type Resource = z.infer<typeof ResourceSchema>;

/** The shape of an artifact without its resources. */
export const ArtifactHead = z.object({
  kind: z.enum(KINDS),
  name: z.string(),
  scope: z.enum(SCOPES),
  /** The editor or the assistant that it is for. */
  dialect: z.enum([...DIALECT_IDS, ...ASSISTANT_IDS]),
  /** Absolute: the project, the home or the system directory. Nothing between it and a file may be a link. */
  base: z.string(),
});

/** An artifact as it should be. */
export interface Artifact extends z.infer<typeof ArtifactHead> {
  resources: Resource[];
}

/** `rule:style`, the word for an artifact on the command line. */
export function artifactId({ kind, name }: Pick<Artifact, "kind" | "name">): string {
  return `${kind}:${name}`;
}

/** Identifies artifacts: kind, name and where it is installed; editors share their places, assistants do not. */
export function artifactKey(one: Omit<Artifact, "resources">): string {
  return `${artifactId(one)} ${one.scope} ${one.base}${isAssistant(one.dialect) ? ` ${one.dialect}` : ""}`;
}

/** Identifies resources of one artifact; two versions of one resource have the same. */
export function resourceKey(resource: Resource): string {
  if (resource.kind === "file") return `file ${resource.path}`;
  if (resource.kind === "section") return `section ${resource.path} ${resource.name}`;
  return `${resource.kind} ${resource.path} ${resource.at.join("/")}`;
}

/** Hash of what a resource puts there. */
export function resourceHash(resource: Resource): Promise<string> {
  if (resource.kind === "file") return sha256(decodeBase64(resource.content));
  return sha256("content" in resource ? resource.content : canonical(resource.value));
}

/** Returns the bytes of a base64 text. Throws `internal` for a damaged one. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  try {
    return Uint8Array.fromBase64(text);
  } catch (cause) {
    throw new AgentcliError("home_unusable", "the editor's ledger holds a damaged file", { cause });
  }
}

/** Returns a text as a file of its own. */
export function textFile(path: string, text: string, { executable = false } = {}): Resource {
  return { kind: "file", path, content: new TextEncoder().encode(text).toBase64(), executable };
}

/** Returns the entry of a hooks file that runs on an event. */
export function hookItem(path: string, event: string, value: unknown): Resource {
  return { kind: "item", path, at: ["hooks", event], value };
}
