/** The permission rules that a person gave for one project: `permissions.json` of the home. */
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";
import { isRecord } from "../platform/record.ts";
import { changeForProject, type ProjectFile, readForProject } from "./project_file.ts";

interface Rules {
  allow: string[];
}

const FILE: ProjectFile<Rules> = {
  name: "permissions.json",
  holds: (value): value is Rules =>
    isRecord(value) && Array.isArray(value.allow) && value.allow.every((rule) => typeof rule === "string"),
  problem: "does not hold permission rules",
  hint: "mend or remove the file: it holds the rules that were given for projects in chats",
};

/** Returns the rules that allow calls in the project with this root. Throws `config_invalid` for a file that is none of ours. */
export async function readProjectRules(home: Home, root: string): Promise<string[]> {
  return (await readForProject(home, FILE, { root }))?.allow ?? [];
}

interface AddedRules {
  root: string;
  rules: readonly string[];
  /** Returns whether a text holds what may not be stored. */
  holdsProtected(text: string): Promise<boolean>;
}

/**
 * Adds rules of a project; those that are there stay. Throws `policy_refused` for rules that hold protected content,
 * `home_unusable` and `config_invalid`.
 */
export async function addProjectRules(home: Home, { root, rules, holdsProtected }: AddedRules): Promise<void> {
  if (await holdsProtected(rules.join("\n"))) throw new AgentcliError("policy_refused", "it holds protected content");
  const change = ({ allow }: Rules = { allow: [] }) => ({ allow: [...new Set([...allow, ...rules])] });
  await changeForProject(home, FILE, { root, change });
}

/** Removes a rule of a project; returns whether it was there. Throws `home_unusable` and `config_invalid`. */
export async function removeProjectRule(home: Home, { root, rule }: { root: string; rule: string }): Promise<boolean> {
  let found = false;
  const change = ({ allow }: Rules = { allow: [] }) => {
    found = allow.includes(rule);
    const kept = allow.filter((each) => each !== rule);
    return kept.length === 0 ? undefined : { allow: kept };
  };
  await changeForProject(home, FILE, { root, change });
  return found;
}
