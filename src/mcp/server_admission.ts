/**
 * Decides what an MCP server may receive, and what happens with its answers. A server is a program or an address of
 * somebody else: its arguments are a way out, and its results are untrusted text.
 */
import { percentDecoded } from "../platform/text.ts";
import type { McpServerEntry } from "../config/types.ts";
import { isAbsolute, resolve } from "../platform/path.ts";
import { realOrNull } from "../platform/real_path.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import type { Label } from "../boundary/policy/label.ts";
import { isLocal } from "../boundary/policy/locality.ts";
import { describeRule } from "../boundary/policy/protection_rule.ts";

/** `local-only`: what it receives stays on this machine. `networked`: it may go anywhere. */
type ServerClass = "local-only" | "networked";

/** The part of a server's settings that decides what it may receive. */
export type ServerRules = Pick<McpServerEntry, "name" | "url" | "network" | "local" | "label">;

/** Returns the class: loopback does not make an address local, since it may be a proxy; the user's word does. */
export function serverClass({ url, network, local }: ServerRules): ServerClass {
  if (url === undefined) return network ? "networked" : "local-only";
  return local && isLocal(url, []) ? "local-only" : "networked";
}

/** Returns why a server may not be called in a session; null when it may. One sentence that names server and rule. */
export function serverRefusal(
  server: ServerRules,
  session: { label: Label; isLocal: boolean; provider: string },
): string | null {
  if (server.label === "no-cloud" && !session.isLocal) {
    return `The MCP server ${server.name} is for local models only (label: no-cloud), and the provider ` +
      `"${session.provider}" is not local.`;
  }
  if (session.label === "open" || serverClass(server) === "local-only") return null;
  const rule = server.url === undefined ? "network: yes" : "it is reached over HTTP";
  return `This session holds protected content (no-cloud), and the MCP server ${server.name} could pass on what it is ` +
    `told (${rule}). Go on without it.`;
}

/** Most strings of arguments that are checked as paths. */
const MOST_STRINGS = 2_000;
const LONGEST_PATH = 4_096;

/**
 * Returns why arguments may not be sent to a server that could read the paths in them itself, as the beginning of a
 * sentence; null for none. Finds a protected path as it is, as a `file:` URL, relative to where the session or the
 * project starts, and through links.
 */
export function protectedArgument(
  texts: Iterable<string>,
  { protection, root, cwd }: Pick<Workspace, "protection" | "root" | "cwd">,
): string | null {
  // Where a large project is not walked yet, the markers above a path decide.
  if (protection.anySoon === false) return null;
  let left = MOST_STRINGS;
  for (const text of texts) {
    if (left-- === 0) {
      return `The arguments are more than ${MOST_STRINGS} strings, too many to look for protected paths`;
    }
    for (const path of pathsIn(text, [cwd, root])) {
      const real = realOrNull(path);
      const rule = protection.rule(path) ?? (real === null ? null : protection.rule(real));
      if (rule !== null) return `An argument names a protected path (${describeRule(rule, root)})`;
    }
  }
  return null;
}

function pathsIn(text: string, starts: readonly string[]): string[] {
  return text.split("\n").flatMap((line) => {
    const named = line.trim();
    if (named === "" || named.length > LONGEST_PATH || named.includes("\0")) return [];
    const forms = new Set([named, percentDecoded(named)]);
    const file = /^file:(?:\/\/(?:localhost)?)?(?=\/)([^?#]*)/i.exec(named)?.[1];
    if (file !== undefined) forms.add(file).add(percentDecoded(file));
    return [...forms].flatMap((form) =>
      isAbsolute(form) ? [resolve("/", form)] : starts.map((start) => resolve(start, form))
    );
  });
}
