/** The rule that protects a path, and how messages name it. */
import { basename, dirname, join, relativeTo } from "../../platform/path.ts";
import { foldedPath } from "../../platform/case_folded.ts";
import { NOT_PLAIN } from "./listing.ts";
import { MARKER_NAME, type Tier } from "./marker.ts";

/** Names a protected path that is unknown. */
export const UNKNOWN_PATH = "a protected path";

/** One marker line that covers a path. A marker that cannot be used is represented by a rule, too. */
export interface ProtectionRule {
  /** `list-only`: no model may read the content. */
  tier: Tier;
  /** The path or glob as written, relative to the marker. */
  pattern: string;
  marker: string;
  /** Counts from 1. 0 if no line names the path or the marker cannot be used. */
  line: number;
  /** Why the marker cannot be used. Such a marker covers everything. */
  damaged?: string;
  /** The line was removed from the marker and still applies: only the user can revoke it. */
  remembered?: boolean;
  /** Absolute path of the protected file whose content this file contains. */
  copyOf?: string;
  /** Absolute path of the protected link that led to this file or directory. */
  targetOf?: string;
}

/** Returns the rule as `.agentclisecret:3 no-cloud: .env`. The marker's path is relative if it lies below `root`. */
export function describeRule(rule: ProtectionRule, root: string): string {
  const marker = relativeTo(root, rule.marker);
  if (rule.damaged !== undefined) return `the marker ${marker} cannot be used: ${rule.damaged}`;
  if (rule.copyOf !== undefined) return `it holds content of ${relativeTo(root, rule.copyOf)}`;
  if (rule.targetOf !== undefined) return `${relativeTo(root, rule.targetOf)} led to it`;
  if (rule.remembered) return `${marker}, remembered: ${rule.tier}: ${rule.pattern}`;
  if (rule.line === 0) return `${rule.pattern} can hold copies of what the marker ${marker} protects`;
  return `${marker}:${rule.line} ${rule.tier}: ${rule.pattern}`;
}

/** Returns advice about an unusable marker. A command of an earlier session may have left it. */
export function repairOf({ marker, targetOf }: ProtectionRule): string {
  if (targetOf !== undefined) return `remove ${targetOf}; or the line from ${marker}, then agentcli secrets trust`;
  return `repair ${marker}; if you did not write it, remove it: what was protected before stays so (agentcli doctor ` +
    "names every such file). A local model may be used meanwhile";
}

/** Returns whether the path lies in a `.git`. Called for every searched file: the first test rules out nearly all. */
export function isOfGit(path: string): boolean {
  return (/\.git/i.test(path) || NOT_PLAIN.test(path)) && foldedPath(path).split("/").includes(".git");
}

/** Returns the rule for all of `.git`: git keeps copies of protected files, some in plain text (messages, patches). */
export function ruleOfGit(markers: readonly string[]): ProtectionRule {
  return { tier: "no-cloud", pattern: ".git", marker: markers[0] ?? MARKER_NAME, line: 0 };
}

/** Where `mcp serve` keeps answers that wait for the user, in the home. */
export const HELD_DIRECTORY = "agentcli-held";

/** Returns the built-in rule that protects a directory of this name, wherever a home is; null for any other. */
export function ruleOfHeld(directory: string): ProtectionRule | null {
  if (basename(directory).toLowerCase() !== HELD_DIRECTORY) return null;
  return { tier: "no-cloud", pattern: HELD_DIRECTORY, marker: join(dirname(directory), MARKER_NAME), line: 0 };
}

/** Returns the stricter of two rules, of equal ones that of a line, else the first; null if both are null. */
export function stricter(one: ProtectionRule | null, other: ProtectionRule | null): ProtectionRule | null {
  if (one === null || other === null) return one ?? other;
  if (one.tier !== other.tier) return one.tier === "list-only" ? one : other;
  const isLine = ({ copyOf, targetOf }: ProtectionRule) => (copyOf ?? targetOf) === undefined;
  return isLine(one) || !isLine(other) ? one : other;
}
