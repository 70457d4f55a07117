/** Moves records of projects to another root. A module of its own: most turns move nothing. */
import { dirname, isWithin, join, relativeTo } from "../../platform/path.ts";
import { MARKER_NAME } from "./marker.ts";
import { compilePatterns, ONE, type Pattern, Patterns, ruleBelow, STAR } from "./patterns.ts";
import { joined, type MarkerLines, type RecordData } from "./project_record_files.ts";
import type { ProtectionRule } from "./protection_rule.ts";

/** Returns a record with its paths moved to a new root. */
export function rebased(data: RecordData, root: string): RecordData {
  const place = (path: string) => isWithin(data.root, path) ? join(root, relativeTo(data.root, path)) : path;
  const moved = (markers: readonly MarkerLines[]) =>
    joined(
      markers.map((marker) => ({ ...marker, path: place(marker.path) })),
      linesFromAbove(markers, data.root, root),
    );
  return {
    ...data,
    root,
    markers: moved(data.markers),
    revoked: data.revoked && moved(data.revoked),
    derived: data.derived.map((file) => ({ ...file, path: place(file.path), source: place(file.source) })),
    met: data.met.map((file) => ({ ...file, path: place(file.path) })),
  };
}

/** Returns what the markers above a project that moves said of it, as its own marker. They stay where they are. */
function linesFromAbove(markers: readonly MarkerLines[], from: string, to: string): MarkerLines[] {
  const above = markers.filter(({ path }) => !isWithin(from, path) && isWithin(dirname(path), from));
  const lines = above.flatMap(({ path, lines }) => {
    const names = relativeTo(dirname(path), from).split("/");
    return lines.flatMap(({ tier, pattern }) => linesBelow(pattern, names).map((left) => ({ tier, pattern: left })));
  });
  return lines.length === 0 ? [] : [{ path: join(to, MARKER_NAME), lines }];
}

const ANY_RULE: ProtectionRule = { tier: "no-cloud", pattern: "", marker: "", line: 0 };

/**
 * Returns what is left of a marker line in the directory that these names lead to from the marker, as lines of a marker
 * there: `*` if the line covers that directory, none if it names other ones.
 */
export function linesBelow(text: string, names: readonly string[]): string[] {
  return compilePatterns(text).flatMap((pattern) => {
    const [covered] = reached(pattern, names);
    if (covered) return ["*"];
    if (pattern.anywhere) return [textOf(pattern.names)];
    return pattern.names.flatMap((name, index) => {
      const [, leadsHere] = reached({ names: pattern.names.slice(0, index + 1) }, names);
      // Any number of names may still follow.
      return leadsHere ? [`./${textOf(pattern.names.slice(name === STAR + STAR ? index : index + 1))}`] : [];
    });
  });
}

/** Returns whether a pattern covers the directory that the names lead to, and whether it names that directory itself. */
function reached(pattern: Pattern, names: readonly string[]): [covered: boolean, exactly: boolean] {
  const patterns = new Patterns();
  patterns.add(ANY_RULE, pattern);
  let scope = patterns.start;
  let covered = scope.rule !== null;
  for (const name of names) {
    covered ||= ruleBelow({ covered: null, scopes: [scope] }, name) !== null;
    scope = scope.below(name);
  }
  return [covered, scope.rule !== null];
}

/** Returns names of a {@link Pattern} as a line of a marker. */
function textOf(names: readonly string[]): string {
  const signs: Readonly<Record<string, string>> = { [STAR]: "*", [ONE]: "?", "\x03": "\\*", "\x04": "\\?" };
  return [...names.join("/")].map((sign) => signs[sign] ?? sign.replace(/[*?\\]/, "\\$&")).join("");
}
