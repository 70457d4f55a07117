/** The rule that protects a path, and how it is named to people and models. */
import { isWithin, relativeTo } from "../../platform/path.ts";
import { foldedPath } from "../../platform/case_folded.ts";
import { MARKER_NAME, type Tier } from "./marker.ts";

/** One line of a marker that covers a path; also what stands for a marker that cannot be used. */
export interface ProtectionRule {
  /** `list-only`: the content is for no model at all. */
  tier: Tier;
  pattern: string;
  marker: string;
  /** From 1; 0 for a marker that cannot be used, and for what no line names. */
  line: number;
  /** Why the marker cannot be used: then it covers everything. */
  damaged?: string;
  /** The line is gone, and still holds: only the user takes it back. */
  remembered?: boolean;
  /** Absolute path of the protected file whose content this file holds. */
  copyOf?: string;
  /** Milliseconds since 1970 when it was found to. */
  copiedAt?: number;
}

/** The rule as `.agentclisecret:3 no-cloud: .env`; the marker is named relative to `root` when it lies below it. */
export function describeRule(rule: ProtectionRule, root: string): string {
  const marker = isWithin(root, rule.marker) ? relativeTo(root, rule.marker) : rule.marker;
  if (rule.damaged !== undefined) return `the marker ${marker} cannot be used: ${rule.damaged}`;
  if (rule.copyOf !== undefined) {
    return `it holds content of ${isWithin(root, rule.copyOf) ? relativeTo(root, rule.copyOf) : rule.copyOf}`;
  }
  if (rule.remembered) return `${marker}, remembered: ${rule.tier}: ${rule.pattern}`;
  if (rule.line === 0) return `${rule.pattern} can hold copies of what the marker ${marker} protects`;
  return `${marker}:${rule.line} ${rule.tier}: ${rule.pattern}`;
}

/** Other letters can fold to those of `.git`. */
const NOT_PLAIN = /[^\x20-\x7e]/;

/** Returns whether the path is one of what git keeps. Asked for every file that is searched: nearly all are told at once. */
export function isOfGit(path: string): boolean {
  return (/\.git/i.test(path) || NOT_PLAIN.test(path)) && foldedPath(path).split("/").includes(".git");
}

/**
 * Returns the rule for what git keeps, where these markers protect something. It can hold copies of protected files, also
 * in plain text (messages, patches of a rebase): where anything is protected, all of it is.
 */
export function ruleOfGit(markers: readonly string[]): ProtectionRule {
  return { tier: "no-cloud", pattern: ".git", marker: markers[0] ?? MARKER_NAME, line: 0 };
}

/** Where the answers of `mcp serve` wait for the user, below the root of a project. */
export const HELD_DIRECTORY = ".agentcli/private";
const HELD = /[/\\]\.agentcli[/\\]private$/i;

/** Returns the rule of a directory of such answers, which nobody needs to write; null for any other. */
export function ruleOfHeld(directory: string): ProtectionRule | null {
  if (!HELD.test(directory)) return null;
  return { tier: "no-cloud", pattern: HELD_DIRECTORY, marker: directory.replace(HELD, `/${MARKER_NAME}`), line: 0 };
}

/** The one that allows less; null when neither is a rule. */
export function stricter(one: ProtectionRule | null, other: ProtectionRule | null): ProtectionRule | null {
  if (one === null || other === null) return one ?? other;
  return one.tier === "list-only" ? one : other.tier === "list-only" ? other : one;
}
