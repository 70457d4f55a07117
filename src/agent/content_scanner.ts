/**
 * The net below the labels: content of protected files that comes by a way no label sees (typed, pasted, copied to another
 * file) is found by looking for it. Source: specification of the boundary, "Letting out".
 */
import type { LeakScanner } from "../boundary/scan/leak_scanner.ts";
import type { Refusal, Workspace } from "../boundary/workspace/workspace.ts";

/** What a user says at once; images as the addresses that requests hold. */
export interface Prompt {
  text: string;
  images: readonly string[];
}

/** The net of one session. Costs nothing where nothing is protected; the scan is loaded when it is first needed. */
export interface ContentScanner {
  /** Throws `policy_refused` when a body for a provider that is not local holds protected content. */
  checkRequest(body: unknown, options: { provider: string }): Promise<void>;
  /**
   * Whether a prompt, or one of the images with it, holds protected content. Throws `policy_refused` for a provider that
   * is not local, unless the user allowed it: then messages of the user that are this prompt pass in requests too, and
   * nothing else does.
   */
  checkPrompt(
    prompt: Prompt,
    options: { provider: string; local: boolean; allowed: boolean },
  ): Promise<"open" | "protected">;
  /** The same for the system message, which nobody can let through. */
  checkSystem(text: string, options: { provider: string; local: boolean }): Promise<"open" | "protected">;
  /**
   * Whether what a tool gave holds protected content though it came from an open place. Throws `policy_refused` for a
   * provider that is not local.
   */
  checkResult(
    parts: readonly string[],
    options: { tool: string; provider: string; local: boolean },
  ): Promise<"open" | "protected">;
  /** A refusal when a text for a file that is not protected holds protected content. */
  checkWrite(text: string, options: { display: string }): Promise<Refusal | null>;
}

/** Opens the net over what is protected in a workspace. */
export function openContentScanner(workspace: Workspace): ContentScanner {
  return new ProjectContentScanner(workspace);
}

class ProjectContentScanner implements ContentScanner {
  readonly #workspace: Workspace;
  #net: LeakScanner | null = null;
  /** Prompts that the user let through. */
  readonly #allowed = new Set<string>();

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Null where nothing is protected. */
  async #open(): Promise<LeakScanner | null> {
    const { protection, root, additional, local } = this.#workspace;
    // A local model may read everything: what is looked for here only decides what is stored. Looking for markers in the
    // whole tree would cost every start in every project (31 ms for 21,000 files).
    if (protection === undefined || !(local ? protection.met && protection.any : protection.any)) return null;
    if (this.#net === null) {
      const { projectScanner } = await import("../boundary/scan/project_scanner.ts");
      this.#net = projectScanner(protection, [root, ...additional]);
    }
    return this.#net;
  }

  async checkRequest(body: unknown, options: { provider: string }): Promise<void> {
    const net = await this.#open();
    if (net === null) return;
    const { checkBody } = await import("../boundary/scan/leak_scanner.ts");
    await checkBody(net, this.#allowed.size === 0 ? body : withoutPrompts(body, this.#allowed), options);
  }

  async checkPrompt(
    { text, images }: Prompt,
    { provider, local, allowed }: { provider: string; local: boolean; allowed: boolean },
  ): Promise<"open" | "protected"> {
    const net = await this.#open();
    if (net === null) return "open";
    const parts = [text, ...images];
    if (!local && !allowed && !parts.every((part) => this.#allowed.has(part))) {
      const { checkPrompt } = await import("../boundary/scan/leak_scanner.ts");
      await checkPrompt(net, parts, { provider });
      return "open";
    }
    if (await net.check(parts) === null) return "open";
    if (!local) { for (const part of parts) this.#allowed.add(part); }
    return "protected";
  }

  async checkSystem(
    text: string,
    { provider, local }: { provider: string; local: boolean },
  ): Promise<"open" | "protected"> {
    const net = await this.#open();
    if (net === null) return "open";
    if (local) return await net.check([text]) === null ? "open" : "protected";
    const { checkSystem } = await import("../boundary/scan/leak_scanner.ts");
    await checkSystem(net, text, { provider });
    return "open";
  }

  async checkResult(
    parts: readonly string[],
    { tool, provider, local }: { tool: string; provider: string; local: boolean },
  ): Promise<"open" | "protected"> {
    const net = await this.#open();
    if (net === null) return "open";
    if (local) return await net.check(parts) === null ? "open" : "protected";
    const { checkResult } = await import("../boundary/scan/leak_scanner.ts");
    await checkResult(net, parts, { tool, provider });
    return "open";
  }

  async checkWrite(text: string, options: { display: string }): Promise<Refusal | null> {
    const net = await this.#open();
    if (net === null) return null;
    const { checkWrite } = await import("../boundary/scan/leak_scanner.ts");
    return await checkWrite(net, text, options);
  }
}

/** A request without those messages of the user: alone, or behind a summary that they were put together with. */
function withoutPrompts(body: unknown, allowed: ReadonlySet<string>): unknown {
  if (typeof body !== "object" || body === null || !("messages" in body) || !Array.isArray(body.messages)) return body;
  const messages = body.messages.map((message: unknown) => {
    if (typeof message !== "object" || message === null || !("role" in message) || !("content" in message)) {
      return message;
    }
    const { role, content } = message;
    if (role !== "user") return message;
    if (typeof content === "string") return { ...message, content: withoutPrompt(content, allowed) };
    return Array.isArray(content)
      ? { ...message, content: content.map((part) => withoutPart(part, allowed)) }
      : message;
  });
  return { ...body, messages };
}

function withoutPrompt(content: string, allowed: ReadonlySet<string>): string {
  if (allowed.has(content)) return "";
  const behind = [...allowed].find((text) => content.endsWith(`\n\n${text}`));
  return behind === undefined ? content : content.slice(0, -behind.length);
}

/** A prompt with images is one message of several parts. */
function withoutPart(part: unknown, allowed: ReadonlySet<string>): unknown {
  const { text, image_url: image } = part as { text?: unknown; image_url?: { url?: unknown } };
  if (typeof text === "string") return withoutPrompt(text, allowed);
  return typeof image?.url === "string" && allowed.has(image.url) ? "" : part;
}
