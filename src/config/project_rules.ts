/**
 * The permission rules that a person gave for one project, by its root: `permissions.json` of the home. Nothing in the
 * project itself can add to them.
 */
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";

/** The file, relative to the home. */
export const PROJECT_RULES_FILE = "permissions.json";

type Projects = Record<string, { allow: string[] }>;

/** Returns the rules that allow calls in the project with this root. Throws `config_invalid` for a file that is none of ours. */
export async function readProjectRules(home: Home, root: string): Promise<string[]> {
  const projects = await readProjects(home);
  return Object.hasOwn(projects, root) ? projects[root]?.allow ?? [] : [];
}

/** Adds rules of a project; those that are there stay. Throws `home_unusable` and `config_invalid`. */
export async function addProjectRules(
  home: Home,
  { root, rules }: { root: string; rules: readonly string[] },
): Promise<void> {
  await change(home, root, (before) => [...before, ...rules.filter((rule) => !before.includes(rule))]);
}

/** Removes a rule of a project; returns whether it was there. Throws `home_unusable` and `config_invalid`. */
export async function removeProjectRule(home: Home, { root, rule }: { root: string; rule: string }): Promise<boolean> {
  let found = false;
  await change(home, root, (before) => {
    found = before.includes(rule);
    return before.filter((each) => each !== rule);
  });
  return found;
}

async function change(home: Home, root: string, edit: (before: string[]) => string[]): Promise<void> {
  await home.locked(PROJECT_RULES_FILE, async () => {
    const projects = await readProjects(home);
    const own = Object.hasOwn(projects, root) ? projects[root]?.allow ?? [] : [];
    const allow = edit(own);
    const others = Object.entries(projects).filter(([name]) => name !== root);
    const kept = allow.length === 0 ? others : [...others, [root, { allow }]];
    await home.write(PROJECT_RULES_FILE, JSON.stringify({ projects: Object.fromEntries(kept) }, null, 2) + "\n");
  });
}

async function readProjects(home: Home): Promise<Projects> {
  const text = await home.read(PROJECT_RULES_FILE);
  if (text === null) return {};
  const found = projectsOf(text);
  if (found !== null) return found;
  throw new AgentcliError("config_invalid", `${home.file(PROJECT_RULES_FILE)} does not hold permission rules`, {
    hint: "mend or remove the file: it holds the rules that were given for projects in chats",
  });
}

function projectsOf(text: string): Projects | null {
  try {
    const projects: unknown = JSON.parse(text)?.projects;
    if (typeof projects !== "object" || projects === null || Array.isArray(projects)) return null;
    return Object.values(projects).every(isRules) ? projects as Projects : null;
  } catch {
    return null;
  }
}

function isRules(value: unknown): boolean {
  const allow = (value as { allow?: unknown } | null)?.allow;
  return Array.isArray(allow) && allow.every((rule) => typeof rule === "string");
}
