/** A file while a plan is made: its text, what is there now, and what will be. */
import { orProblem, TextProblem } from "../limits.ts";
import { type FoundFile, linkOnTheWay, lookAt, readFound } from "./disk.ts";
import { HookFinder } from "../resources/hook_entry.ts";
import { type EditableJson, editableJson } from "../resources/json_edit.ts";
import { printJson } from "../resources/json_tree.ts";
import { AgentcliError } from "../../errors.ts";
import type { Home } from "../../platform/home.ts";
import { type Ledger, readOriginal } from "./ledger.ts";
import { sha256 } from "../../platform/digest.ts";
import { type Resource, resourceHash } from "../resources/artifact.ts";
import { findIn, textOfFile } from "../resources/resource.ts";

/** A text that may be JSON. */
export class LiveText {
  #text: string | null;
  #json: EditableJson | TextProblem | null = null;
  /** Finds entries of lists of the tree. */
  readonly hooks = new HookFinder();
  #isChanged = false;

  constructor(text: string) {
    this.#text = text;
  }

  get text(): string {
    return this.#text ??= this.#json === null ? "" : printJson(this.json);
  }

  /** Returns whether it has changed. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** Returns whether it has only white space, apart from a byte order mark. */
  get isBlank(): boolean {
    return this.#text?.trim() === "";
  }

  /** As a tree; whoever changes the tree calls `changed`. Throws {@link TextProblem}. */
  get json(): EditableJson {
    this.#json ??= orProblem(() => editableJson(this.text), (problem) => problem);
    if (this.#json instanceof TextProblem) throw this.#json;
    return this.#json;
  }

  changed(): void {
    this.#text = null;
    this.#isChanged = true;
  }

  set(text: string): void {
    this.#text = text;
    this.#json = null;
    this.#isChanged = true;
  }
}

/** Reads the texts of files, each once; null for a missing or unreadable one. */
export function textsOnDisk(): (path: string) => LiveText | null {
  const known = new Map<string, LiveText | null>();
  return (path) => {
    let found = known.get(path);
    if (found === undefined) {
      const text = lookAt(path);
      found = text === null ? null : new LiveText(text);
      known.set(path, found);
    }
    return found;
  };
}

/**
 * Returns the hash of what is on the disk in the place of a resource; null for nothing, undefined for what cannot be
 * read. `texts` looks at files.
 */
export async function hashOnDisk(
  resource: Resource,
  texts: (path: string) => LiveText | null,
): Promise<string | null | undefined> {
  const file = resource.kind === "file" ? null : texts(resource.path);
  if (resource.kind !== "file" && file !== null) {
    const place = orProblem(() => findIn(file, resource), () => undefined);
    return place && await resourceHash(place.found);
  }
  try {
    const found = readFound(resource.path);
    if (resource.kind === "file") return found && await sha256(found.bytes);
    return found === null ? null : undefined;
  } catch (error) {
    if (error instanceof AgentcliError) return undefined;
    throw error;
  }
}

export interface Draft {
  path: string;
  base: string;
  before: FoundFile | null;
  now: Uint8Array<ArrayBuffer> | null;
  /** `now` as text while its resources are edited; null: it was not requested, or is not text. */
  live: LiveText | null;
  executable: boolean;
  original: LiveText | null;
  /** Something of ours is removed from it. */
  removed: boolean;
  /** Something of others is restored in it. */
  returned: boolean;
  /** Adopted resources are removed, too: the first original must not come back. */
  discarded: boolean;
}

/** Opens a file. Throws `usage` for one behind a link, and for an unreadable one. */
export async function openDraft(
  path: string,
  base: string,
  { ledger, home }: { ledger: Ledger; home: Home },
): Promise<Draft> {
  const link = linkOnTheWay(base, path);
  if (link !== null) throw new AgentcliError("usage", `${link} is a link; nothing is written through links`);
  const before = readFound(path);
  const kept = ledger.files[path] === undefined ? before : await readOriginal(home, path);
  const original = kept === null ? null : textOfFile(kept.bytes);
  return {
    path,
    base,
    before,
    now: before?.bytes ?? null,
    live: null,
    executable: false,
    original: original === null ? null : new LiveText(original),
    removed: false,
    returned: false,
    discarded: false,
  };
}

/** Returns the draft as text; null for bytes that are not text. */
export function liveText(draft: Draft): LiveText | null {
  const text = draft.live === null ? textOfFile(draft.now) : null;
  if (text !== null) draft.live = new LiveText(text);
  return draft.live;
}

/** Returns the bytes of the draft, with what was changed in its text. */
export function bytesNow(draft: Draft): Uint8Array<ArrayBuffer> | null {
  if (draft.live?.isChanged) {
    draft.now = new TextEncoder().encode(draft.live.text);
    draft.live = null;
  }
  return draft.now;
}
