/**
 * Files of the home that hold something for each project, by its root; one of them, `permissions.json`, holds the rules
 * that a person gave for it. Nothing in the project itself can add to them.
 */
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";
import { fieldsOf, isRecord, type JsonRecord, parseJson } from "../platform/record.ts";

/** One such file. `T` is what it holds for a project. */
export interface ProjectFile<T> {
  /** Relative to the home. */
  name: string;
  holds(value: unknown): value is T;
  /** Follows the path in an error: `does not hold permission rules`. */
  problem: string;
  hint: string;
}

/** Returns what is kept for a project; undefined for nothing. Throws `config_invalid` for a file of another form. */
export async function readForProject<T>(
  home: Home,
  file: ProjectFile<T>,
  { root }: { root: string },
): Promise<T | undefined> {
  return (await readProjects(home, file))[root] as T | undefined;
}

/** Replaces what is kept for a project; undefined keeps nothing. Throws `home_unusable` and `config_invalid`. */
export async function changeForProject<T>(
  home: Home,
  file: ProjectFile<T>,
  { root, change }: { root: string; change(before: T | undefined): T | undefined },
): Promise<void> {
  await home.locked(file.name, async () => {
    const { [root]: before, ...others } = await readProjects(home, file);
    const after = change(before as T | undefined);
    const kept = [...Object.entries(others), ...after === undefined ? [] : [[root, after] as const]];
    await home.write(file.name, JSON.stringify({ projects: Object.fromEntries(kept) }, null, 2) + "\n");
  });
}

async function readProjects<T>(home: Home, file: ProjectFile<T>): Promise<JsonRecord> {
  const text = await home.read(file.name);
  const { projects } = fieldsOf(text === null ? { projects: {} } : parseJson(text));
  if (isRecord(projects) && Object.values(projects).every((value) => file.holds(value))) return fieldsOf(projects);
  throw new AgentcliError("config_invalid", `${home.file(file.name)} ${file.problem}`, { hint: file.hint });
}

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

/**
 * Returns the rules that allow calls in the project with this root. Throws `config_invalid` for a file of another form.
 */
export async function readProjectRules(home: Home, root: string): Promise<string[]> {
  return (await readForProject(home, FILE, { root }))?.allow ?? [];
}

interface AddedRules {
  root: string;
  rules: readonly string[];
  /** Returns whether a text may hold protected content. */
  mayHoldProtected(text: string): Promise<boolean>;
}

/**
 * Adds rules of a project; those that are there stay. Throws `policy_refused` for rules that may hold protected
 * content, `home_unusable` and `config_invalid`.
 */
export async function addProjectRules(home: Home, { root, rules, mayHoldProtected }: AddedRules): Promise<void> {
  if (await mayHoldProtected(rules.join("\n"))) {
    throw new AgentcliError("policy_refused", "it may hold protected content");
  }
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
