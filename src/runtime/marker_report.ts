/**
 * Reports on the lines of the markers: how much they hide, which cover nothing, and what looks as if one should cover
 * it.
 */
import { counted } from "../platform/number.ts";
import { entriesSync } from "../platform/files.ts";
import { dirname, isWithin, join, relativeTo } from "../platform/path.ts";
import { exists, quietly } from "../platform/real_path.ts";
import { foldedName } from "../platform/case_folded.ts";
import { isOfSystem, type UnjudgedPlace } from "../boundary/policy/listing.ts";
import { MARKER_NAME } from "../boundary/policy/marker.ts";
import { compilePatterns, isWild, Patterns, type Scope } from "../boundary/policy/patterns.ts";
import type { ProtectedSet } from "../boundary/policy/protected.ts";
import { describeRule, type ProtectionRule } from "../boundary/policy/protection_rule.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";

/** A name that more files than this have is not the name of a secret. */
const NAMESAKE_LIMIT = 20;

export interface MarkerReport {
  files: number;
  directories: number;
  /** Lines of markers of the project that cover nothing that exists. */
  idle: readonly ProtectionRule[];
  /** Files and directories that no line covers, named as something that is protected; absolute paths. */
  namesakes: readonly string[];
  /** Places whose content is unknown: commands do not see them. */
  unjudged: readonly UnjudgedPlace[];
}

/** Looks through the roots, at most at `limit` entries; links are not followed. */
export async function reportMarkers(
  protection: ProtectedSet,
  { roots, limit }: { roots: readonly string[]; limit: number },
): Promise<MarkerReport> {
  const { files, directories, unjudged, protected: covered } = await protection.hidden();
  const hidden = { files: files.length, directories: directories.length, unjudged };
  // It is not known which of the lines a damaged marker means.
  if (protection.damaged !== null) return { ...hidden, idle: [], namesakes: [] };
  const lines = protection.rules.map(lineOf);
  const isHere = ({ rule }: Line) => roots.some((root) => isWithin(root, rule.marker)) && rule.remembered !== true;
  // Also behind links, which the walk below does not follow.
  const effective = new Set(
    [...covered, ...directories.map((path) => ({ rule: protection.named(path) }))].map(({ rule }) => rule),
  );
  const names = new Set(lines.flatMap((line) => line.last ?? []));
  const walk: Walk = {
    idle: new Set(lines.filter((line) => isHere(line) && !line.stands && !effective.has(line.rule))),
    names,
    namesakes: new Map(),
  };
  let left = limit;
  const waiting = roots.map((directory) => ({ directory, scopes: new Map<Line, Scope>() }));
  // It grows on the way.
  for (const { directory, scopes } of waiting) {
    if (left <= 0 || walk.idle.size + names.size === 0) break;
    for (const line of walk.idle) {
      if (dirname(line.rule.marker) === directory) scopes.set(line, line.patterns.start);
    }
    for (const { name, isDirectory } of quietly(() => entriesSync(directory)) ?? []) {
      left--;
      if (name === ".git" || name === MARKER_NAME) continue;
      const path = join(directory, name);
      const below = meet(path, { name, scopes, walk, protection });
      if (isDirectory && !isOfSystem(path)) waiting.push({ directory: path, scopes: below });
    }
  }
  // What the walk did not reach may be covered.
  const idle = left > 0 ? [...walk.idle].map(({ rule }) => rule) : [];
  const namesakes = [...walk.namesakes.values()].filter((paths) => paths.length <= NAMESAKE_LIMIT).flat();
  return { ...hidden, idle, namesakes };
}

interface Line {
  rule: ProtectionRule;
  patterns: Patterns;
  /** Something stands where it says, which a link may lead to. */
  stands: boolean;
  /** The last name of what it means, folded; null with wildcards. */
  last: string | null;
}

interface Walk {
  idle: Set<Line>;
  names: ReadonlySet<string>;
  namesakes: Map<string, string[]>;
}

function lineOf(rule: ProtectionRule): Line {
  const patterns = new Patterns();
  const meanings = compilePatterns(rule.pattern);
  for (const meaning of meanings) patterns.add(rule, meaning);
  const names = meanings[0]?.names ?? [];
  const isPlain = !names.some(isWild);
  const last = names.at(-1);
  return {
    rule,
    patterns,
    stands: isPlain && exists(join(dirname(rule.marker), ...names)),
    last: isPlain && last !== undefined ? foldedName(last) : null,
  };
}

function meet(
  path: string,
  { name, scopes, walk, protection }: {
    name: string;
    scopes: ReadonlyMap<Line, Scope>;
    walk: Walk;
    protection: ProtectedSet;
  },
): Map<Line, Scope> {
  const below = new Map<Line, Scope>();
  for (const [line, scope] of scopes) {
    if (!walk.idle.has(line)) continue;
    const next = scope.below(name);
    if (next.rule !== null) walk.idle.delete(line);
    else if (next.leadsOn) below.set(line, next);
  }
  const folded = foldedName(name);
  if (walk.names.has(folded) && protection.rule(path) === null) {
    const before = walk.namesakes.get(folded);
    if (before === undefined) walk.namesakes.set(folded, [path]);
    else before.push(path);
  }
  return below;
}

/** Characters that may belong to a name; where a line covers nothing, they are the likely cause. */
const DOUBTFUL: readonly (readonly [RegExp, string])[] = [
  [/^-\s/, "it begins with a dash"],
  [/\s(?:\/\/|--)\s|;/, "it seems to hold a comment or two paths"],
  [/\s/, "it seems to hold two paths; write one path a line"],
  [/[^/]\*\*|\*\*[^/]/, "** beside other signs means the same as *"],
  [/^\//, "it begins with a slash, which means the directory of the marker"],
];

/** Returns why a path may cover nothing; null where there is no sign of it. */
export function doubtOf(path: string): string | null {
  // A backslash escapes the character after it: any other one stands for both.
  const plain = path.replace(/\\[^]/g, "_");
  return DOUBTFUL.find(([sign]) => sign.test(plain))?.[1] ?? null;
}

/** Returns findings for people, one sentence each. */
export function describeReport({ idle, namesakes, unjudged }: MarkerReport, root: string): string[] {
  return [
    ...unjudged.map(({ directory, reason }) =>
      `${relativeTo(root, directory)}: ${reason}; commands do not see it, and what is protected in it is not known`
    ),
    ...idle.map((rule) => {
      const doubt = doubtOf(rule.pattern);
      return `${describeRule(rule, root)}: covers nothing${doubt === null ? "" : ` (${doubt})`}`;
    }),
    ...namesakes.map((path) =>
      `${relativeTo(root, path)}: no line covers it, though another one of that name is protected`
    ),
  ];
}

/** Most entries of a project that are looked at when a session opens. */
const OPENING_LIMIT = 20_000;

/** Returns the first line of a remote session: what it does not see, and how many files are not scanned. */
export async function hiddenNotice(
  { root, additional, protection }: Workspace,
  scanner: { notScanned(): Promise<readonly string[]> } | undefined,
): Promise<string> {
  const report = await reportMarkers(protection, { roots: [root, ...additional], limit: OPENING_LIMIT });
  const { files, directories, idle, namesakes, unjudged } = report;
  const notScanned = (await scanner?.notScanned() ?? []).length;
  const parts = [
    `hidden from this model: ${counted(files, "file")}, ${counted(directories, "directory", "directories")}`,
    `lines without a match: ${idle.length}`,
    ...unjudged.length === 0 ? [] : [`left out whole: ${counted(unjudged.length, "directory", "directories")}`],
    ...namesakes.length === 0 ? [] : [`same name but not covered: ${namesakes.length}`],
    `not scanned: ${notScanned === 0 ? "none" : counted(notScanned, "file")}`,
  ];
  const more = idle.length + namesakes.length + unjudged.length + notScanned > 0 ? " (agentcli secrets list)" : "";
  return parts.join("; ") + more;
}
