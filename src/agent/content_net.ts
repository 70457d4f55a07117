/**
 * The net below the labels: content of protected files that comes by a way no label sees (typed, pasted, copied to another
 * file) is found by looking for it. Source: specification of the boundary, "Letting out".
 */
import type { ScanNet } from "../boundary/scan/net.ts";
import type { Refusal, Workspace } from "../boundary/workspace.ts";

/** The net of one session. Costs nothing where nothing is protected; the scan is loaded when it is first needed. */
export interface ContentNet {
  /** Throws `policy_refused` when a body for a provider that is not local holds protected content. */
  checkRequest(body: unknown, options: { provider: string }): Promise<void>;
  /**
   * Whether a prompt holds protected content. Throws `policy_refused` for a provider that is not local, unless the user
   * allowed it: then this text passes in requests too.
   */
  checkPrompt(
    text: string,
    options: { provider: string; local: boolean; allowed: boolean },
  ): Promise<"open" | "protected">;
  /** A refusal when a text for a file that is not protected holds protected content. */
  checkWrite(text: string, options: { display: string }): Promise<Refusal | null>;
}

/** Opens the net over what is protected in a workspace. */
export function openContentNet(workspace: Workspace): ContentNet {
  return new ProjectContentNet(workspace);
}

class ProjectContentNet implements ContentNet {
  readonly #workspace: Workspace;
  #net: ScanNet | null = null;
  /** Text that the user let through. */
  #allowed = "";

  constructor(workspace: Workspace) {
    this.#workspace = workspace;
  }

  /** Null where nothing is protected. */
  async #open(): Promise<ScanNet | null> {
    const { protection, root, additional, local } = this.#workspace;
    // A local model may read everything: what is looked for here only decides what is stored. Looking for markers in the
    // whole tree would cost every start in every project (31 ms for 21,000 files).
    if (protection === undefined || !(local ? protection.met && protection.any : protection.any)) return null;
    if (this.#net === null) {
      const { projectNet } = await import("../boundary/scan/project_net.ts");
      this.#net = projectNet(protection, [root, ...additional]);
    }
    return this.#net;
  }

  async checkRequest(body: unknown, options: { provider: string }): Promise<void> {
    const net = await this.#open();
    if (net === null) return;
    const { checkBody } = await import("../boundary/scan/net.ts");
    await checkBody(net, this.#allowed === "" ? body : without(body, this.#allowed), options);
  }

  async checkPrompt(
    text: string,
    { provider, local, allowed }: { provider: string; local: boolean; allowed: boolean },
  ): Promise<"open" | "protected"> {
    const net = await this.#open();
    if (net === null) return "open";
    if (!local && !allowed) {
      const { checkPrompt } = await import("../boundary/scan/net.ts");
      await checkPrompt(net, text, { provider });
      return "open";
    }
    if (await net.check([text]) === null) return "open";
    if (!local) this.#allowed = text;
    return "protected";
  }

  async checkWrite(text: string, options: { display: string }): Promise<Refusal | null> {
    const net = await this.#open();
    if (net === null) return null;
    const { checkWrite } = await import("../boundary/scan/net.ts");
    return await checkWrite(net, text, options);
  }
}

/** The value with a text taken out of every string in it. */
function without(value: unknown, text: string): unknown {
  if (typeof value === "string") return value.replaceAll(text, "");
  if (Array.isArray(value)) return value.map((member) => without(member, text));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, without(member, text)]));
}
