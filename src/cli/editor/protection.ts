/** Checks protection before a file is printed, or copied to where an editor's assistant reads it. */
import { protectedAround } from "../../boundary/policy/project.ts";
import { describeRule, type ProtectionRule } from "../../boundary/policy/protection_rule.ts";
import { LeakScanner } from "../../boundary/scan/leak_scanner.ts";
import { readFrontmatter } from "../../editor/resources/markdown.ts";
import { ProtectedLookup } from "../../editor/guard/lookup.ts";
import { AgentcliError } from "../../errors.ts";
import { realPathSync } from "../../platform/files.ts";
import type { Io } from "../../platform/io.ts";
import { dirname, isWithin, normalize, relativeTo } from "../../platform/path.ts";
import { stringsOf } from "../../platform/record.ts";

/** The protected files of the project, and of another one that a file is taken from. */
export interface Protection {
  any: boolean;
  /** Returns whether a rule covers the file at an absolute path, by any of its names. */
  covers(path: string): boolean;
  /**
   * Throws `policy_refused` for a file that is protected: the assistant counts as remote, and reads what is installed.
   * `path` is absolute; for a file outside of the project, the markers of its own project count.
   */
  refuseFile(path: string): Promise<void>;
  /**
   * Returns whether a file's content may be kept in the home: no rule covers it, and it is no copy of what one covers.
   */
  mayKeep(path: string, bytes: Uint8Array): Promise<boolean>;
  /** Throws `policy_refused` for a text that holds a fragment of a protected file, wherever the text comes from. */
  refuseText(text: string): Promise<void>;
}

const HINT = "leave it out: the editor's assistant reads installed content and counts as remote";

/** Walks the whole project, since a marker or a link anywhere in it can cover any path. */
export async function openProtection(
  { root, cwd, userHome }: { root: string; cwd: string; userHome: string },
  io: Io,
): Promise<Protection> {
  const lookup = await ProtectedLookup.open({ roots: [root], cwd, userHome }, io);
  const scanner = new LeakScanner(lookup.set, { root });
  const refuse = (path: string, rule: ProtectionRule) => {
    throw new AgentcliError(
      "policy_refused",
      `${relativeTo(root, path)} is protected (${describeRule(rule, root)})`,
      { hint: HINT },
    );
  };
  return {
    any: lookup.set.any,
    covers: (path) => lookup.ruleAt(path) !== null,
    async mayKeep(path, bytes) {
      if (lookup.ruleAt(path) !== null) return false;
      return !lookup.set.any || await scanner.check([new TextDecoder().decode(bytes)], { once: true }) === null;
    },
    async refuseFile(path) {
      const rule = lookup.ruleAt(path);
      if (rule !== null) refuse(path, rule);
      const found = realPathSync(path);
      if (found === null || isWithin(root, normalize(found))) return;
      const real = normalize(found);
      const itsRule = (await protectedAround(dirname(real), io, { path: real })).rule(real);
      if (itsRule !== null) refuse(path, itsRule);
    },
    async refuseText(text) {
      const { any, damaged } = lookup.set;
      if (!any) return;
      if (damaged !== null) refuse(root, damaged);
      // The names of fields are the same in every file of this kind, so they do not show where a text comes from.
      const { fields, body } = readFrontmatter(text);
      const hit = await scanner.check([body, ...stringsOf([...fields?.values() ?? []])]);
      if (hit === null) return;
      throw new AgentcliError(
        "policy_refused",
        `the content contains text of ${relativeTo(root, hit.path)}, which is protected`,
        { hint: HINT },
      );
    },
  };
}
