/**
 * The leak scanner as a session asks it: content of protected files that arrives without a label (typed, pasted,
 * copied to another file) is found by searching for it. Source: specification of the boundary, "Letting out".
 */
import type { Label } from "../boundary/policy/label.ts";
import type { AllowedFragments, LeakScanner } from "../boundary/scan/leak_scanner.ts";
import { recordsAt } from "../boundary/policy/project.ts";
import { findRoot, type KeptRoot } from "../boundary/policy/identity.ts";
import { ProtectedSet } from "../boundary/policy/protected.ts";
import { describeRule } from "../boundary/policy/protection_rule.ts";
import type { Refusal, Workspace } from "../boundary/workspace/workspace.ts";
import type { ProgramChanges } from "../boundary/scan/copies.ts";
import { AgentcliError } from "../errors.ts";
import { imageUrl } from "../provider/chat/content.ts";
import type { Home } from "../platform/home.ts";
import { stringsOf } from "../platform/record.ts";
import type { ChatRequest } from "../provider/types.ts";
import { imagesOf, type UserItem } from "../session/item.ts";

/** A part of requests, for messages. */
interface ScanSubject {
  /** `the result of Read`. */
  name: string;
  hint: string;
}

interface ScannerOptions {
  allowed?: AllowedFragments;
  /** Has what files held before, if it belongs to the same set. */
  previous?: ContentScanner | undefined;
  /** Tells the person of files that are protected from now on. */
  notify?: ((text: string) => unknown) | undefined;
  /** A root that is gone with its content: any text may hold some of it. */
  gone?: string | undefined;
}

/** The project whose protected content is looked for, and where copies of it are recorded. */
type ScannedProject = Pick<Workspace, "root" | "additional" | "local" | "protection" | "records">;

/** The scanner of one session. Where nothing is protected, it loads and costs nothing. */
export class ContentScanner {
  readonly #workspace: ScannedProject;
  readonly #allowed: AllowedFragments | undefined;
  readonly #notify: ScannerOptions["notify"];
  /** Programs that started until then can know what a local model read. Milliseconds since 1970. */
  readonly #localUntil: number;
  readonly #gone: string | undefined;
  #outside: ProtectedSet | undefined;
  #scanner: LeakScanner | null = null;

  constructor(
    workspace: ScannedProject,
    { allowed, previous, notify, gone }: ScannerOptions = {},
  ) {
    this.#gone = gone;
    this.#workspace = workspace;
    this.#allowed = allowed;
    const before = previous === undefined ? 0 : previous.#localUntil;
    this.#localUntil = workspace.local ? Infinity : Math.min(before, Date.now());
    this.#notify = notify;
    if (previous === undefined || previous.#workspace.protection !== workspace.protection) return;
    this.#scanner = previous.#scanner;
    if (this.#scanner !== null && allowed !== undefined) this.#scanner.allowed = allowed;
  }

  /**
   * Returns the scanner of the roots that another session had; `own` if that has the same ones. A project that was
   * moved is looked for at `near` and around it.
   */
  static async at(
    home: Home,
    kept: readonly KeptRoot[],
    { near, own, notify }: Pick<ScannerOptions, "notify"> & { near?: string; own?: ContentScanner | undefined },
  ): Promise<ContentScanner> {
    const found = kept.map((one) => findRoot(one, near));
    const gone = kept.find((_, at) => found[at] === null)?.path;
    const [root = "/", ...additional] = kept.map(({ path }, at) => found[at] ?? path);
    const roots = [root, ...additional];
    if (gone === undefined && own !== undefined && own.#workspace.protection.isOf(roots)) return own;
    const records = await recordsAt(home, roots);
    const protection = await ProtectedSet.open(roots, { remembered: records });
    return new ContentScanner({ root, additional, local: false, protection, records }, { notify, gone });
  }

  async #open({ isLeaving = false } = {}): Promise<LeakScanner | null> {
    const { protection, root, local } = this.#workspace;
    // What stays here is scanned because it is stored.
    if (!(local && !isLeaving ? protection.anySoon : protection.any)) return null;
    const { LeakScanner } = await import("../boundary/scan/leak_scanner.ts");
    return this.#scanner ??= new LeakScanner(protection, { root, allowed: this.#allowed });
  }

  /** Returns what the home remembers of the project. */
  get remembered(): ScannedProject["records"] {
    return this.#workspace.records;
  }

  /** Returns whether anything is protected that the words of a model may hold. */
  mayFind(): boolean {
    const { protection, local } = this.#workspace;
    return (local ? protection.anySoon : protection.any) !== false;
  }

  /** Returns the label of a part of requests. Throws `policy_refused` for `no-cloud` and a remote provider. */
  async checkPart(
    texts: readonly string[],
    subject: ScanSubject,
    { provider, local, signal }: { provider: string; local: boolean; signal?: AbortSignal | undefined },
  ): Promise<Label> {
    const scanner = await this.#open();
    const hit = await scanner?.check(texts, { signal }) ?? null;
    if (scanner === null || hit === null) return "open";
    if (local) return "no-cloud";
    throw new AgentcliError(
      "policy_refused",
      `${subject.name} holds ${scanner.describe(hit)}; the provider "${provider}" is not local`,
      { hint: subject.hint },
    );
  }

  /**
   * Throws `policy_refused` when a request to a model that is not proven local holds protected content. `released` are
   * the prompts that the user let through: messages of the user that are one of them pass, and nothing else does.
   */
  async checkRequest(
    request: Pick<ChatRequest, "messages">,
    { provider, released, signal }: { provider: string; released: readonly UserItem[]; signal?: AbortSignal },
  ): Promise<void> {
    const texts = new Set(released.flatMap((item) => [item.text, ...imagesOf(item).map(imageUrl)]));
    // An image alone has no words, and every message holds those.
    texts.delete("");
    const checked = texts.size === 0 ? request : withoutPrompts(request, texts);
    await this.checkPart([...stringsOf(checked)], {
      name: `the request to "${provider}"`,
      hint: "continue with a local model, or start a session without that text; lines that are no secret: " +
        "agentcli secrets allow-fragment FILE:LINES",
    }, { provider, local: false, signal });
  }

  /**
   * Returns whether texts hold protected content. Before they leave for a server elsewhere (`isLeaving`) the project is
   * walked whole, as for a remote model.
   */
  async holds(texts: readonly string[], options: { isLeaving?: boolean } = {}): Promise<boolean> {
    const scanner = await this.#open(options);
    return this.#gone !== undefined || (await scanner?.check(texts, { once: true }) ?? null) !== null;
  }

  /**
   * Returns a refusal when a text for a place that is not protected for good holds protected content. While a marker is
   * unusable any text can hold some.
   */
  async checkWrite(text: string, display: string): Promise<Refusal | null> {
    const { protection: { damaged }, root } = this.#workspace;
    if (damaged !== null) {
      const message =
        `${display} cannot be written now: ${describeRule(damaged, root)}, so nobody knows what is protected. ` +
        "Tell the user";
      return { refused: "protected", message };
    }
    const scanner = await this.#open();
    const hit = await scanner?.check([text], { once: true }) ?? null;
    if (scanner === null || hit === null) return null;
    return {
      refused: "protected",
      message: `${display} is not protected, and the text holds ${scanner.describe(hit)}. ` +
        "Leave that content out, refer to it by name, or tell the user to protect the file first",
    };
  }

  /**
   * Scans what a program changed. One of a remote model saw nothing protected, unless a path is exposed, and must not
   * learn whether a guess of protected content is right.
   */
  async protectChanges(places: readonly string[], changes: ProgramChanges): Promise<void> {
    if (changes.since <= this.#localUntil || changes.exposed !== undefined) await this.protectFound(places, changes);
  }

  /**
   * Protects the files in these places that changed since then and hold protected content, or cannot be scanned; with
   * `exposed`, all that changed. Returns whether there are any. Throws `home_unusable` where they cannot be recorded.
   */
  async protectFound(places: readonly string[], changes: ProgramChanges): Promise<boolean> {
    const { since, exposed = this.#gone === undefined ? undefined : { path: this.#gone, since } } = changes;
    const scanner = await this.#open();
    if (scanner === null && exposed === undefined) return false;
    const { protection, records } = this.#workspace;
    const { outsideOf, protectCopies } = await import("../boundary/scan/copies.ts");
    this.#outside = outsideOf(protection, places, this.#outside);
    const search = { roots: places, protection, outside: this.#outside, scanner, since, exposed };
    const notice = await protectCopies(search, records);
    if (notice !== null) await this.#notify?.(notice);
    return notice !== null;
  }

  /** Returns the protected files whose content is not found; absolute paths. Reads them. */
  async notScanned(): Promise<readonly string[]> {
    const scanner = await this.#open();
    await scanner?.check([]);
    return scanner?.notScanned ?? [];
  }
}

/** A request without these prompts of the user: alone, or after a summary that they were put together with. */
function withoutPrompts(request: Pick<ChatRequest, "messages">, prompts: ReadonlySet<string>): unknown {
  const without = (text: string) => {
    if (prompts.has(text)) return "";
    const behind = [...prompts].find((prompt) => text.endsWith(`\n\n${prompt}`));
    return behind === undefined ? text : text.slice(0, -behind.length);
  };
  const messages = request.messages.map((message) => {
    if (message.role !== "user") return message;
    if (typeof message.content === "string") return without(message.content);
    // A prompt with images is one message of several parts.
    return message.content.map((part) =>
      part.type === "text" ? without(part.text) : prompts.has(part.image_url.url) ? "" : part
    );
  });
  return { ...request, messages };
}
