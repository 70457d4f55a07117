/** Rules, workflows and skills as markdown files with frontmatter. */
import { frontMatter } from "../../platform/text.ts";
import { lengthProblem, LIMITS, skillNameProblem } from "../limits.ts";

/** A value: text, a list of texts, or a map of texts. */
type FieldValue = string | string[] | Record<string, string>;

/** A markdown file in its two parts. */
interface Frontmatter {
  /** Null: the file has none. */
  fields: Map<string, FieldValue> | null;
  body: string;
  /** Keys that occur twice. */
  repeated: string[];
}

function unquoted(text: string): string {
  const value = text.trim();
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(value);
  if (quoted !== null) return (quoted[1] ?? "").replace(/\\(["\\])/g, "$1");
  return /^'((?:[^']|'')*)'$/.exec(value)?.[1]?.replaceAll("''", "'") ?? value;
}

function valueOf(text: string): FieldValue {
  const list = /^\[(.*)\]$/.exec(text.trim())?.[1];
  return list === undefined ? unquoted(text) : list.split(",").map(unquoted).filter((item) => item !== "");
}

/** Reads the frontmatter of a markdown text; a byte order mark and either line end are fine. */
export function readFrontmatter(text: string): Frontmatter {
  const plain = text.replace(/^\ufeff/, "").replaceAll("\r\n", "\n");
  const front = frontMatter(plain);
  if (front === null) return { fields: null, body: plain, repeated: [] };
  const fields = new Map<string, FieldValue>();
  const repeated: string[] = [];
  let key = "";
  for (const line of front.matter.split("\n")) {
    const item = /^\s*-\s+(.*)$/.exec(line)?.[1];
    const nested = /^\s+([\w.-]+):\s*(.*)$/.exec(line);
    const top = /^([\w.-]+):(?:\s+(.*))?$/.exec(line);
    const now = fields.get(key);
    if (item !== undefined && key !== "") {
      if (Array.isArray(now)) now.push(unquoted(item));
      else fields.set(key, [unquoted(item)]);
    } else if (nested !== null && key !== "" && (now === "" || (typeof now === "object" && !Array.isArray(now)))) {
      fields.set(key, { ...(typeof now === "object" ? now : {}), [nested[1] ?? ""]: unquoted(nested[2] ?? "") });
    } else if (top !== null) {
      key = top[1] ?? "";
      if (fields.has(key)) repeated.push(key);
      fields.set(key, valueOf(top[2] ?? ""));
    } else if (/^\s+\S/.test(line) && typeof now === "string") {
      // A folded text continues; the sign for it is not part of it.
      const isBegun = now.length > 2 || !/^(?:[>|][-+]?)?$/.test(now);
      fields.set(key, isBegun ? `${now} ${line.trim()}` : line.trim());
    }
  }
  return { fields, body: front.body, repeated };
}

/** Returns a field as one text; a list is joined by commas, as the editors join globs. */
export function fieldText({ fields }: Frontmatter, key: string): string | null {
  const value = fields?.get(key);
  return typeof value === "string" ? value : Array.isArray(value) ? value.join(",") : null;
}

/**
 * Frontmatter with these fields, one line each, unquoted; empty ones are left out. Line ends of values become spaces.
 */
export function writeFrontmatter(fields: Readonly<Record<string, string | undefined>>, body: string): string {
  const lines = Object.entries(fields).flatMap(([key, value]) =>
    value === undefined || value === "" ? [] : [`${key}: ${value.replace(/(?<!\s)\s*[\r\n]+\s*/g, " ").trim()}`]
  );
  return `---\n${lines.join("\n")}\n---\n\n${body.replace(/^\s*\n/, "").trimEnd()}\n`;
}

/** When a rule is active. */
const TRIGGERS = ["always_on", "model_decision", "glob", "manual"] as const;

export type Trigger = (typeof TRIGGERS)[number];

/** Returns what is wrong with globs, joined by commas; null when nothing is. */
export function globsProblem(globs: string): string | null {
  if (globs.trim() === "") return "trigger glob needs globs";
  const cut = /\{[^{},]*,/.exec(globs);
  if (cut !== null && globs.includes("}", cut.index)) {
    return "a glob with a comma in braces would be cut at the comma; name each one";
  }
  return /\s/.test(globs) ? "globs are joined by commas without spaces" : null;
}

/** Problems of a rule file. */
export function ruleProblems(text: string): string[] {
  const matter = readFrontmatter(text);
  const problems = [lengthProblem(text, LIMITS.rule), ...matter.repeated.map((key) => `${key} appears twice`)];
  const trigger = fieldText(matter, "trigger");
  if (matter.fields === null || trigger === null) problems.push("it has no trigger, so it never becomes active");
  else if (!(TRIGGERS as readonly string[]).includes(trigger)) {
    problems.push(`its trigger is none of ${TRIGGERS.join(", ")}`);
  } else if (trigger === "glob") problems.push(globsProblem(fieldText(matter, "globs") ?? ""));
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
    ...matter.repeated.map((key) => `${key} appears twice`),
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
