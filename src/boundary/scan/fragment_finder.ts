/** Finds fragments of protected files in a text, in the forms that text is copied in. */
import { type Place, ProtectedContent } from "./protected_content.ts";
import { FragmentIndex, type Shared, SHORTEST_FRAGMENT } from "./fragment_index.ts";
import { keyOf } from "./normalize.ts";
import { type Form, variantsOf } from "./variants.ts";

/** How requests hold an image. */
const ADDRESS = /^data:image\/[a-z]+;base64,/;

/** PNG, JPEG, GIF, WebP (the length of the file stands in the middle). */
const SIGNATURES: readonly (readonly (number | null)[])[] = [
  [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  [0xff, 0xd8, 0xff],
  [0x47, 0x49, 0x46, 0x38],
  [0x52, 0x49, 0x46, 0x46, null, null, null, null, 0x57, 0x45, 0x42, 0x50],
];

/** Base64 of so many characters holds every signature. */
const SIGNED = 16;

/** Whether a text is an image as requests hold it, and nothing else: other words behind such a beginning are a text. */
function isImageAddress(text: string): boolean {
  const begin = ADDRESS.exec(text)?.[0].length ?? text.length;
  if (begin + SIGNED > text.length || /[^A-Za-z0-9+/]/.test(text.slice(begin, begin + SIGNED))) return false;
  if (!beginsAnImage(Uint8Array.fromBase64(text.slice(begin, begin + SIGNED)))) return false;
  return !/[^A-Za-z0-9+/=]/.test(text.slice(begin));
}

/** Whether a file that begins with these bytes is an image. */
function beginsAnImage(bytes: Uint8Array): boolean {
  return SIGNATURES.some((signature) => signature.every((byte, at) => byte === null || bytes[at] === byte));
}

/** Stop words: what protected files share with half of the world, normalized. A fragment inside of one of them is no hit. */
const PHRASES: readonly string[] =
  ("http://www. https://www. http://localhost: https://localhost: http://127.0.0.1: https://127.0.0.1: " +
    "https://github.com/ https://api. localhost 127.0.0.1 0.0.0.0:8080 production development " +
    "postgresql:// postgresql mongodb://localhost redis://localhost: application/json text/plain " +
    "undefined disabled password username us-east-1 eu-west-1 changeme information #!/bin/bash " +
    "#!/usr/bin/envbash #!/usr/bin/envpython ---trigger:always_on ---trigger:manual " +
    "---trigger:model_decision").split(" ");

/** How a file with frontmatter begins, up to the first words of its description. */
const HEAD =
  /^-{0,3}(?:trigger:(?:always_on|model_decision|manual|glob)(?:-{1,3}|globs:|description:)?|globs:|description:)/;

/**
 * Whether a normalized fragment says nothing about the file it stands in. Behind the head of a file with frontmatter only
 * what follows counts: it tells something from the length on that a fragment has without such a head.
 */
function stopWords(normalized: string): boolean {
  if (normalized.length <= 24 && PHRASES.some((phrase) => phrase.includes(normalized))) return true;
  const head = HEAD.exec(normalized)?.[0];
  return head !== undefined && normalized.length - head.length < SHORTEST_FRAGMENT;
}

/** A fragment of a protected file in a text. Holds nothing of the content itself. */
export interface ScanHit extends Place {
  form: Form;
}

/** A hit with the fragment: normalized protected content, only ever for comparing, never to be shown or kept. */
export interface Fragment {
  hit: ScanHit;
  normalized: string;
  /** Offset in the content. */
  at: number;
}

/**
 * Share of a protected image that another image must hold to count as a copy of it. Images of one format have much in
 * common that is nobody's picture: tables, color profiles, headers, empty rows (measured: 70 of 546 pairs of unrelated
 * PNG files share twelve bytes). A picture that was drawn anew shares nothing, a copy all of it.
 */
const IMAGE_SHARE = 1 / 8;

/**
 * Scans texts for what was added. A hit is 12 or more normalized bytes in a row, or a whole value or line of 8 or more; see
 * `normalize.ts` for what normalized means and `variants.ts` for the forms. Stretches of one or two different characters
 * (rulers, zeros) and stop words are none; an image holds a protected image from an eighth of it on. Measured on a busy
 * virtual core: 10 MB of source indexed in 2.5 s, 1 MB of it scanned in 0.2 s.
 */
export class FragmentFinder {
  readonly content: ProtectedContent;
  /** Bytes of the images among the files. */
  readonly #images = new Map<string, number>();
  /** Built when it is first needed after a change. */
  #index: FragmentIndex | null = null;

  /** `limit` is for the bytes that it keeps of files. */
  constructor(limit?: number) {
    this.content = new ProtectedContent(limit);
  }

  /** Adds a protected file; `path` is how hits name it. */
  add(path: string, bytes: Uint8Array): void {
    this.content.add(path, bytes);
    if (beginsAnImage(bytes)) this.#images.set(path, bytes.length);
    this.#index = null;
  }

  /** All fragments, at most `limit`; what one holds of another is not told twice. */
  fragments(text: string, limit: number): Fragment[] {
    const found = new Map<string, Fragment>();
    this.#index ??= new FragmentIndex(this.content);
    for (const { form, bytes } of variantsOf(text)) {
      this.#index.search(bytes, (shared) => {
        if (!tells(bytes, shared)) return false;
        const normalized = keyOf(bytes.subarray(shared.start, shared.end));
        if (stopWords(normalized) || this.content.isName(normalized) || found.has(normalized)) return false;
        const place = this.content.placeOf(shared.at, shared.at + shared.end - shared.start);
        found.set(normalized, { hit: { ...place, form }, normalized, at: shared.at });
        return found.size >= limit;
      });
      if (found.size >= limit) break;
    }
    const fragments = [...found.values()];
    return isImageAddress(text) && fragments.length < limit ? this.#withoutChance(fragments) : fragments;
  }

  /** The fragments of an image without those that it shares with another one as any two images do. */
  #withoutChance(fragments: readonly Fragment[]): Fragment[] {
    const isCopy = new Map<string, boolean>();
    for (const [path, bytes] of this.#images) {
      const shared = bytesOf(fragments.filter(({ hit }) => hit.path === path));
      isCopy.set(path, shared >= bytes * IMAGE_SHARE);
    }
    // What stands in the address itself is no byte of the image.
    return fragments.filter(({ hit }) => hit.form !== "base64" || isCopy.get(hit.path) !== false);
  }
}

/** Bytes of the content that the fragments are, each counted once. */
function bytesOf(fragments: readonly Fragment[]): number {
  return new Set(fragments.flatMap(({ at, normalized }) => Array.from(normalized, (_, index) => at + index))).size;
}

/** Whether a stretch says anything: more than two different bytes. */
function tells(bytes: Uint8Array, { start, end }: Shared): boolean {
  const stretch = bytes.subarray(start, end);
  const [first] = stretch;
  const second = stretch.find((byte) => byte !== first);
  return stretch.some((byte) => byte !== first && byte !== second);
}
