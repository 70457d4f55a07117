/** Finds canaries in bytes and in directories, in every form that content is known to leave a program. */
import { createHash } from "node:crypto";

/** A value that must not be found where it does not belong. */
export interface Canary {
  name: string;
  /** `CNRY_<name>_<32 hex digits>`; nothing else of the test holds it. */
  value: string;
}

/** A fresh canary; a name of at most five letters leaves random digits in its first twelve characters. */
export function makeCanary(name: string): Canary {
  if (!/^[a-z0-9]{1,5}$/.test(name)) throw new Error(`a canary needs a short name, not ${name}`);
  return { name, value: `CNRY_${name}_${crypto.randomUUID().replaceAll("-", "")}` };
}

/** Characters of the beginning that count as a leak by themselves. */
const PREFIX = 12;

const reversed = (text: string) => [...text].reverse().join("");
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** The middle of the base64 of a text that starts at byte `shift` of a group of three: the part that never changes. */
function base64Core(text: string, shift: number): string {
  const whole = btoa("\0".repeat(shift) + text).replace(/=+$/, "");
  const firstWhole = shift === 0 ? 0 : 4;
  const end = Math.floor((shift + text.length) / 3) * 4;
  return whole.slice(firstWhole, end);
}

/** How a text is looked at before a needle is searched in it. */
type View = "folded" | "stripped" | "base64";

interface Needle {
  form: string;
  view: View;
  text: string;
}

function needlesOf({ value }: Canary): Needle[] {
  const start = value.slice(0, PREFIX);
  const folded = (form: string, text: string): Needle => ({ form, view: "folded", text: text.toLowerCase() });
  const hex = [...bytesOf(start)].map((byte) => byte.toString(16).padStart(2, "0"));
  const digests = ["md5", "sha1", "sha256"].flatMap((name) =>
    [value, `${value}\n`].flatMap((text) => {
      const digest = createHash(name).update(text);
      const bytes = digest.digest();
      return [folded(name, bytes.toString("hex")), {
        form: `${name} base64`,
        view: "base64" as const,
        text: bytes.toString("base64").replace(/=+$/, ""),
      }];
    })
  );
  return [
    folded("raw", start),
    folded("reversed", reversed(value).slice(0, PREFIX)),
    folded("reversed start", reversed(start)),
    { form: "stripped", view: "stripped", text: start.toLowerCase() },
    ...[0, 1, 2].map((shift): Needle => ({
      form: `base64 at ${shift}`,
      view: "base64",
      text: base64Core(value, shift).slice(0, 20),
    })),
    ...[0, 1, 2].map((shift): Needle => ({
      form: `base64 reversed at ${shift}`,
      view: "base64",
      text: base64Core(reversed(value), shift).slice(0, 20),
    })),
    folded("hex", hex.join("")),
    folded("hex, spaced", hex.join(" ")),
    folded("percent", hex.map((pair) => `%${pair}`).join("")),
    folded("\\x", hex.map((pair) => `\\x${pair}`).join("")),
    folded("\\u", hex.map((pair) => `\\u00${pair}`).join("")),
    folded("UTF-16", [...start].join("\0")),
    ...digests,
  ];
}

function viewOf(text: string, view: View): string {
  switch (view) {
    case "folded":
      return text.toLowerCase();
    case "stripped":
      return text.toLowerCase().replace(/\\[nrt"]|[\s"'`,+\\]/g, "");
    case "base64":
      return text.replace(/\\n|\s/g, "").replaceAll("-", "+").replaceAll("_", "/");
  }
}

/** Looks for canaries; keeps what it worked out about them. */
export class LeakScan {
  readonly #needles: { canary: Canary; needles: Needle[] }[];

  constructor(canaries: readonly Canary[]) {
    this.#needles = canaries.map((canary) => ({ canary, needles: needlesOf(canary) }));
  }

  /** The finds in a text, as `name: form`. */
  text(text: string): string[] {
    const views = new Map<View, string>();
    const found: string[] = [];
    for (const { canary, needles } of this.#needles) {
      for (const { form, view, text: needle } of needles) {
        let seen = views.get(view);
        if (seen === undefined) views.set(view, seen = viewOf(text, view));
        if (seen.includes(needle)) found.push(`${canary.name}: ${form}`);
      }
    }
    return found;
  }

  /** The finds in bytes; gzip is opened. */
  async bytes(bytes: Uint8Array<ArrayBuffer>): Promise<string[]> {
    const found = this.text(new TextDecoder("latin1").decode(bytes));
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return found;
    const opened = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")))
      .arrayBuffer().catch(() => new ArrayBuffer(0));
    return [...found, ...this.text(new TextDecoder("latin1").decode(opened)).map((find) => `${find} (gzip)`)];
  }
}

/** A look at directories again and again: what has not changed since the last look is not read again. */
export class TreeScan {
  readonly #scan: LeakScan;
  readonly #roots: readonly string[];
  readonly #skip: (path: string) => boolean;
  readonly #seen = new Map<string, string>();
  /** Every find there ever was: a file that was there for a moment counts. */
  readonly found = new Set<string>();

  constructor(scan: LeakScan, options: { roots: readonly string[]; skip(path: string): boolean }) {
    this.#scan = scan;
    this.#roots = options.roots;
    this.#skip = options.skip;
  }

  /** Looks at everything below the roots. */
  async look(): Promise<void> {
    for (const root of this.#roots) await this.#directory(root);
  }

  async #directory(path: string): Promise<void> {
    let entries: Deno.DirEntry[];
    try {
      entries = [...Deno.readDirSync(path)];
    } catch {
      return;
    }
    for (const entry of entries) {
      const place = `${path}/${entry.name}`;
      if (this.#skip(place)) continue;
      for (const find of this.#scan.text(entry.name)) this.found.add(`name ${place}: ${find}`);
      if (entry.isDirectory) await this.#directory(place);
      else if (entry.isFile) await this.#file(place);
    }
  }

  async #file(path: string): Promise<void> {
    try {
      const { size, mtime } = Deno.lstatSync(path);
      const version = `${size} ${mtime?.getTime()}`;
      // What was changed in this very moment may change again without a trace in its time.
      if (this.#seen.get(path) === version && Date.now() - (mtime?.getTime() ?? 0) > 1000) return;
      this.#seen.set(path, version);
      if (size > 64 * 1024 * 1024) return;
      for (const find of await this.#scan.bytes(Deno.readFileSync(path))) this.found.add(`${path}: ${find}`);
    } catch {
      // Gone again, or not for us to read.
    }
  }
}
