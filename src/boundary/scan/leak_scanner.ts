/** The scan as it is asked before text leaves: one index, what is known to be harmless, and what was looked at already. */
import { AgentcliError } from "../../errors.ts";
import { readRegularFile } from "../reader.ts";
import type { Refusal } from "../workspace/workspace.ts";
import { formsOf, keyOf, normalizeBytes } from "./normalize.ts";
import { createScanner, type Fragment, type ScanHit, type Scanner } from "./scanner.ts";

/** Most fragments that are looked up elsewhere; a text with more shares too much to be let go. */
const FRAGMENT_LIMIT = 500;
/** Most bytes of open files that one look-up reads, and of one of them. */
const LOOKUP_BYTES = 64 * 1024 * 1024;
const FILE_BYTES = 4 * 1024 * 1024;

/** Where protected content comes from, and where harmless copies may stand. */
export interface ScanSources {
  /** Absolute paths of the protected files. */
  protectedFiles: AsyncIterable<string> | Iterable<string>;
  /** Where they are added to what it holds already; a new one when absent. */
  scanner?: Scanner;
  /** Absolute paths of unprotected files that git tracks, unchanged: see `unchangedTracked`. Asked only after a hit. */
  openFiles(): AsyncIterable<string> | Iterable<string>;
  /** How a protected file is called in messages, with its rule: `.env (.agentclisecret:3 no-cloud: .env)`. */
  describe(path: string): string;
}

/** Looks for protected content in texts. */
export interface LeakScanner {
  /**
   * The first fragment of a protected file in any of the texts; null when there is none. A fragment that also stands in
   * an open file does not count. A text that passed is kept, and not looked at again; `once` says that nobody asks again.
   */
  check(texts: Iterable<string>, options?: { once?: boolean }): Promise<ScanHit | null>;
  /** Protected files that could not be read or were too much: what they hold is not found. */
  readonly leftOut: readonly string[];
  describe(path: string): string;
}

/** Reads the protected files and builds the index. Read anew after the protected set changed. */
export async function openLeakScanner(sources: ScanSources): Promise<LeakScanner> {
  const scanner = sources.scanner ?? createScanner();
  const unread: string[] = [];
  for await (const path of sources.protectedFiles) {
    const read = await readRegularFile(path, { display: path });
    if ("refused" in read || read.more) unread.push(path);
    if (!("refused" in read)) scanner.add(path, read.bytes);
  }
  scanner.finish();
  return new Net(scanner, { sources, unread });
}

class Net implements LeakScanner {
  readonly #scanner: Scanner;
  readonly #sources: ScanSources;
  readonly #unread: readonly string[];
  /** Texts without a hit. The session holds them anyway. */
  readonly #passed = new Set<string>();
  /** Fragments that stand in an open file. */
  readonly #harmless = new Set<string>();

  constructor(scanner: Scanner, { sources, unread }: { sources: ScanSources; unread: readonly string[] }) {
    this.#scanner = scanner;
    this.#sources = sources;
    this.#unread = unread;
  }

  get leftOut(): readonly string[] {
    return [...this.#unread, ...this.#scanner.leftOut];
  }

  describe(path: string): string {
    return this.#sources.describe(path);
  }

  async check(texts: Iterable<string>, { once = false }: { once?: boolean } = {}): Promise<ScanHit | null> {
    for (const text of texts) {
      if (this.#passed.has(text)) continue;
      const fragments = this.#scanner.fragments(text, FRAGMENT_LIMIT);
      const hit = await this.#harmful(fragments);
      if (hit !== null) return hit;
      if (!once) this.#passed.add(text);
    }
    return null;
  }

  async #harmful(fragments: readonly Fragment[]): Promise<ScanHit | null> {
    const open = new Map<string, Fragment>();
    for (const fragment of fragments) {
      if (!this.#harmless.has(fragment.normalized)) open.set(fragment.normalized, fragment);
    }
    if (open.size === 0) return null;
    if (fragments.length < FRAGMENT_LIMIT) await this.#lookUp(open);
    return open.values().next().value?.hit ?? null;
  }

  /** Takes out of `open` what stands in an open file. */
  async #lookUp(open: Map<string, Fragment>): Promise<void> {
    let left = LOOKUP_BYTES;
    for await (const path of this.#sources.openFiles()) {
      if (open.size === 0 || left <= 0) return;
      const read = await readRegularFile(path, { display: path, limit: FILE_BYTES });
      if ("refused" in read) continue;
      left -= read.bytes.length;
      const text = formsOf(read.bytes).map((form) => keyOf(normalizeBytes(form))).join(" ");
      for (const normalized of open.keys()) {
        if (!text.includes(normalized)) continue;
        open.delete(normalized);
        this.#harmless.add(normalized);
      }
    }
  }
}

/** Every string of a JSON value, keys too. */
function* stringsOf(value: unknown): Generator<string> {
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === "string") yield next;
    else if (Array.isArray(next)) waiting.push(...next);
    else if (typeof next === "object" && next !== null) {
      for (const [key, member] of Object.entries(next)) {
        yield key;
        waiting.push(member);
      }
    }
  }
}

/** `lines 3-5 of .env (…)`. */
function placeOf(net: LeakScanner, hit: ScanHit): string {
  const lines = hit.firstLine === hit.lastLine ? `line ${hit.firstLine}` : `lines ${hit.firstLine}-${hit.lastLine}`;
  const form = hit.form === "plain" ? "" : `, ${hit.form}`;
  return `${lines} of ${net.describe(hit.path)}${form}`;
}

/**
 * Before a body goes to a provider that is not local: throws `policy_refused` when any string in it holds a fragment of
 * a protected file. The message names file, lines and rule, never the fragment.
 */
export async function checkBody(net: LeakScanner, body: unknown, { provider }: { provider: string }): Promise<void> {
  const hit = await net.check(stringsOf(body));
  if (hit === null) return;
  throw new AgentcliError(
    "policy_refused",
    `the request to "${provider}" holds ${placeOf(net, hit)}; that provider is not local`,
    { hint: "continue with a local model, or start a session without that text" },
  );
}

/**
 * The same for the parts of what the user types, pastes, pipes in or attaches. Call it unless `--allow-protected-prompt`
 * was given.
 */
export async function checkPrompt(
  net: LeakScanner,
  parts: readonly string[],
  { provider }: { provider: string },
): Promise<void> {
  const hit = await net.check(parts);
  if (hit === null) return;
  throw new AgentcliError(
    "policy_refused",
    `the prompt holds ${placeOf(net, hit)}; the provider "${provider}" is not local`,
    { hint: "use a local model, or send it all the same, this once, with --allow-protected-prompt" },
  );
}

/** The same for the system message: options, and instruction files that hold a copy. */
export async function checkSystem(net: LeakScanner, text: string, { provider }: { provider: string }): Promise<void> {
  const hit = await net.check([text]);
  if (hit === null) return;
  throw new AgentcliError(
    "policy_refused",
    `the system prompt holds ${placeOf(net, hit)}; the provider "${provider}" is not local`,
    {
      hint: "use a local model, or take that text out of --system-prompt, --append-system-prompt, AGENTS.md and the " +
        "descriptions of a client's tools",
    },
  );
}

/** The same for what a tool gave: before it is stored, and before it is told to anybody. */
export async function checkResult(
  net: LeakScanner,
  parts: readonly string[],
  { tool, provider }: { tool: string; provider: string },
): Promise<void> {
  const hit = await net.check(parts);
  if (hit === null) return;
  throw new AgentcliError(
    "policy_refused",
    `the result of ${tool} holds ${placeOf(net, hit)}; the provider "${provider}" is not local`,
    { hint: "continue with a local model, or protect that file too" },
  );
}

/**
 * Before a tool writes `text` into a file that is not protected, in a session that read protected content: a refusal when
 * it holds a fragment. `display` names the file that would be written.
 */
export async function checkWrite(
  net: LeakScanner,
  text: string,
  { display }: { display: string },
): Promise<Refusal | null> {
  const hit = await net.check([text], { once: true });
  if (hit === null) return null;
  return {
    refused: "protected",
    message: `${display} is not protected, and the text holds ${placeOf(net, hit)}. ` +
      "Leave that content out, refer to it by name, or tell the user to protect the file first",
  };
}
