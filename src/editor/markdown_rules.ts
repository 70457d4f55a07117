/** What each kind of artifact must be, by its text: rules, workflows, skills (specification of the editor surface §3). */
import { fieldText, type Frontmatter, readFrontmatter } from "./frontmatter.ts";
import { lengthProblem, LIMITS } from "./limits.ts";
import { skillNameProblem } from "./names.ts";

/** When a rule is active. */
const TRIGGERS = ["always_on", "model_decision", "glob", "manual"] as const;

/** One of them. */
export type Trigger = (typeof TRIGGERS)[number];

/** What is wrong with globs, joined by commas; null when nothing is. */
export function globsProblem(globs: string): string | null {
  if (globs.trim() === "") return "trigger glob needs globs";
  if (/\{[^}]*,[^}]*\}/.test(globs)) return "a glob with a comma in braces would be cut at the comma; name each one";
  return /\s/.test(globs) ? "globs are joined by commas without spaces" : null;
}

function isTrigger(text: string): text is Trigger {
  return (TRIGGERS as readonly string[]).includes(text);
}

/** Problems of a rule file. */
export function ruleProblems(text: string): string[] {
  const matter = readFrontmatter(text);
  const problems = [lengthProblem(text, LIMITS.rule), ...matter.repeated.map((key) => `${key} stands there twice`)];
  const trigger = fieldText(matter, "trigger");
  if (matter.fields === null || trigger === null) problems.push("it has no trigger, so it is never active by itself");
  else if (!isTrigger(trigger)) problems.push(`its trigger is none of ${TRIGGERS.join(", ")}`);
  else if (trigger === "glob") problems.push(globsProblem(fieldText(matter, "globs") ?? ""));
  else if (trigger === "model_decision" && (fieldText(matter, "description") ?? "") === "") {
    problems.push("trigger model_decision needs a description");
  }
  return present(problems);
}

/** Problems of a workflow file. */
export function workflowProblems(text: string): string[] {
  const matter = readFrontmatter(text);
  const described = (fieldText(matter, "description") ?? "").trim() !== "";
  return present([
    lengthProblem(text, LIMITS.workflow),
    described ? null : "it has no description, which the editor shows",
  ]);
}

const SKILL_FIELDS = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

/** Problems of a `SKILL.md` in a directory of that name. Source: Agent Skills specification. */
export function skillProblems(text: string, directory: string): string[] {
  const matter = readFrontmatter(text);
  if (matter.fields === null) return ["it has no frontmatter; name and description are needed"];
  const name = fieldText(matter, "name") ?? "";
  const unknown = [...matter.fields.keys()].filter((key) => !SKILL_FIELDS.includes(key));
  return present([
    skillNameProblem(name),
    name === directory ? null : `its name "${name}" is not that of its directory "${directory}"`,
    lengthOf(matter, "description", 1024) ?? (matter.fields.has("description") ? null : "it has no description"),
    lengthOf(matter, "compatibility", 500),
    ...["license", "allowed-tools"].map((key) =>
      matter.fields?.has(key) && typeof matter.fields.get(key) !== "string" ? `${key} is one text` : null
    ),
    metadataProblem(matter),
    ...unknown.map((key) => `the field "${key}" is not in the specification`),
    ...matter.repeated.map((key) => `${key} stands there twice`),
  ]);
}

function lengthOf({ fields }: Frontmatter, key: string, most: number): string | null {
  if (!fields?.has(key)) return null;
  const value = fields.get(key);
  if (typeof value !== "string") return `${key} is one text`;
  const count = [...value.trim()].length;
  return count >= 1 && count <= most ? null : `${key} has ${count} characters; 1 to ${most} are allowed`;
}

function metadataProblem({ fields }: Frontmatter): string | null {
  const value = fields?.get("metadata");
  if (value === undefined || (typeof value === "object" && !Array.isArray(value))) return null;
  return "metadata is a map of texts";
}

function present(problems: readonly (string | null)[]): string[] {
  return problems.filter((problem) => problem !== null);
}
