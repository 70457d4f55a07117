/** What an editor finds on the disk, ours and everybody else's, and what is wrong with it. Looks only. */
import { listInPlace, lstatInPlace } from "../platform/files_in_place.ts";
import { join } from "../platform/path.ts";
import type { ArtifactKind } from "./artifact.ts";
import { type Dialect, type Scope, SCOPES } from "./dialect.ts";
import { lookAt } from "./disk.ts";
import { isEvent } from "./events.ts";
import { dataOf, JsonProblem, nodeAt, parseJsonTree } from "./json_tree.ts";
import type { Ledger } from "./ledger.ts";
import { lengthProblem, LIMITS } from "./limits.ts";
import { ruleProblems, skillProblems, workflowProblems } from "./markdown_rules.ts";
import { type Places, placesOf, shadowedHooks, type Surroundings } from "./places.ts";
import { sectionNames } from "./section.ts";

/** Something that an editor finds. */
export interface FoundArtifact {
  kind: ArtifactKind;
  name: string;
  scope: Scope;
  path: string;
  /** Whether the ledger knows it. */
  ours: boolean;
  problems: readonly string[];
  /** Which one wins, and why, where several levels have one of that name. */
  precedence?: string;
  /** Of a hook: the entry as it stands there. */
  entry?: unknown;
}

/** What was found, and what is wrong with places rather than with artifacts. */
export interface Inspection {
  found: FoundArtifact[];
  problems: string[];
}

function markdownFiles(directory: string | null): { name: string; path: string }[] {
  if (directory === null) return [];
  return entries(directory).filter((name) => name.endsWith(".md"))
    .map((name) => ({ name: name.slice(0, -3), path: join(directory, name) }));
}

function entries(directory: string): string[] {
  try {
    return (listInPlace(directory) ?? []).map(({ name }) => name).sort();
  } catch {
    return [];
  }
}

/** Looks at all scopes; the system scope is left out where its place is not known. */
export function inspect(dialect: Dialect, around: Surroundings, ledger: Ledger): Inspection {
  const inspection: Inspection = { found: [], problems: [] };
  for (const scope of SCOPES) {
    if (scope === "system" && around.systemDirectory === undefined && dialect.systemDirectories[around.os] === null) {
      continue;
    }
    if (scope === "system" && around.os === "windows" && around.programData === undefined) continue;
    inspectScope(placesOf(dialect, scope, around), { dialect, around, inspection });
  }
  inspectNested({ dialect, around, inspection });
  for (const path of shadowedHooks(dialect, around.root)) {
    inspection.problems.push(`${path} is not read: another hooks file of the project goes before it`);
  }
  if (dialect.otherMcp !== null && lookAt(join(around.userHome, dialect.otherMcp)) !== null) {
    inspection.problems.push(
      `${join(around.userHome, dialect.otherMcp)} exists too; the editor's servers are in ${
        join(around.userHome, dialect.userMcp)
      }`,
    );
  }
  for (const one of inspection.found) one.ours = isOurs(one, ledger);
  tellPrecedence(inspection.found, dialect);
  return inspection;
}

interface Scene {
  dialect: Dialect;
  around: Surroundings;
  inspection: Inspection;
}

function inspectScope(places: Places, scene: Scene): void {
  const { found } = scene.inspection;
  const add = (kind: ArtifactKind, name: string, path: string, problems: readonly string[], entry?: unknown) =>
    found.push({
      kind,
      name,
      scope: places.scope,
      path,
      ours: false,
      problems,
      ...(entry === undefined ? {} : { entry }),
    });
  const judged = (path: string, judge: (text: string) => string[]) => {
    const text = lookAt(path);
    return text === null ? ["it cannot be read, or is no text"] : judge(text);
  };
  for (const { name, path } of markdownFiles(places.rules)) add("rule", name, path, judged(path, ruleProblems));
  for (const { name, path } of markdownFiles(places.workflows)) {
    add("workflow", name, path, judged(path, workflowProblems));
  }
  const extra = places.scope === "system"
    ? []
    : scene.dialect.skillDirectories.map((directory) => join(places.base, directory));
  for (const directory of [places.skills, ...extra]) {
    for (const name of entries(directory)) {
      const path = join(directory, name, "SKILL.md");
      if (lstatInPlace(path) !== null) add("skill", name, path, judged(path, (text) => skillProblems(text, name)));
    }
  }
  inspectJson({ path: places.hooks, member: "hooks", inspection: scene.inspection }, (event, value) => {
    if (!Array.isArray(value)) return scene.inspection.problems.push(`${places.hooks}: ${event} is no list`);
    const unknown = isEvent(event) ? [] : [`the editor knows no event "${event}"`];
    for (const entry of value) add("hook", event, places.hooks, [...unknown, ...hookProblems(entry)], entry);
  });
  if (places.mcp !== null) {
    const { mcp } = places;
    inspectJson(
      { path: mcp, member: "mcpServers", inspection: scene.inspection },
      (name, value) => add("mcp", name, mcp, serverProblems(value), value),
    );
  }
  const text = places.instructions === null ? null : lookAt(places.instructions);
  if (text !== null && places.instructions !== null) {
    const limit = places.scope === "user" ? lengthProblem(text, LIMITS.globalRules) : null;
    const names = sectionNames(text);
    for (const name of names) add("instructions", name, places.instructions, limit === null ? [] : [limit]);
    if (names.length === 0) add("instructions", "(all)", places.instructions, limit === null ? [] : [limit]);
  }
  if (places.scope === "project" && scene.dialect.legacyRules !== null) {
    const path = join(places.base, scene.dialect.legacyRules);
    if (lookAt(path) !== null) add("rule", scene.dialect.legacyRules, path, []);
  }
}

/** Most directories of a project that are looked into for rules of subdirectories. */
const NESTED_LIMIT = 5_000;

/** Rules and `AGENTS.md` of subdirectories: they hold below their directory. */
function inspectNested({ dialect, around, inspection }: Scene): void {
  const waiting = [around.root];
  for (let left = NESTED_LIMIT; left > 0 && waiting.length > 0; left--) {
    const directory = waiting.shift() ?? around.root;
    for (const name of entries(directory)) {
      if (name.startsWith(".") || name === "node_modules") continue;
      const path = join(directory, name);
      if (lstatInPlace(path)?.kind === "directory") waiting.push(path);
    }
    if (directory === around.root) continue;
    const head = { scope: "project", ours: false } as const;
    for (const { name, path } of markdownFiles(join(directory, dialect.projectDirectory, "rules"))) {
      const text = lookAt(path);
      const problems = text === null ? ["it cannot be read, or is no text"] : ruleProblems(text);
      inspection.found.push({ ...head, kind: "rule", name, path, problems });
    }
    const path = join(directory, "AGENTS.md");
    const text = lookAt(path);
    if (text === null) continue;
    const names = sectionNames(text);
    for (const name of names.length === 0 ? ["(all)"] : names) {
      inspection.found.push({ ...head, kind: "instructions", name, path, problems: [] });
    }
  }
}

function inspectJson(
  { path, member, inspection }: { path: string; member: string; inspection: Inspection },
  visit: (name: string, value: unknown) => void,
): void {
  const text = lookAt(path);
  if (text === null || text.replace(/^\ufeff/, "").trim() === "") return;
  try {
    const node = nodeAt(parseJsonTree(text), [member]);
    if (node?.kind !== "object") return void inspection.problems.push(`${path} has no object "${member}"`);
    for (const { key, value } of node.members) visit(key, dataOf(value));
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
    inspection.problems.push(`${path} cannot be read: ${error.message}`);
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function hookProblems(entry: unknown): string[] {
  if (!isRecord(entry)) return ["the entry is no object"];
  const { command, powershell, working_directory } = entry;
  const problems: string[] = [];
  if (typeof command !== "string" && typeof powershell !== "string") problems.push("it has no command line");
  if (typeof working_directory === "string" && working_directory.startsWith("~")) {
    problems.push("its working_directory starts with ~, which the editor does not know");
  }
  return problems;
}

function serverProblems(value: unknown): string[] {
  if (!isRecord(value)) return ["the server is no object"];
  const ways = ["command", "serverUrl", "url"].filter((key) => typeof value[key] === "string");
  return ways.length === 1 ? [] : ["a server has either a command or an address"];
}

function isOurs({ kind, name, path, entry }: FoundArtifact, { artifacts }: Ledger): boolean {
  return artifacts.some((one) =>
    one.pieces.some(({ piece, written }) => {
      if (written === null || piece.path !== path) return false;
      if (piece.kind === "item") return kind === "hook" && JSON.stringify(piece.value) === JSON.stringify(entry);
      return piece.kind === "member" ? piece.at.at(-1) === name : piece.kind === "file" || piece.name === name;
    })
  );
}

const LEVEL: Readonly<Record<Scope, number>> = { system: 0, project: 1, user: 2 };

function tellPrecedence(found: readonly FoundArtifact[], { precedence }: Dialect): void {
  for (const one of found) {
    if (one.kind === "hook") {
      one.precedence = "all hooks of all levels run";
      continue;
    }
    if (precedence === "merge" && one.kind !== "workflow") continue;
    const others = found.filter((other) =>
      other.kind === one.kind && other.name === one.name && other.scope !== one.scope
    );
    const above = others.filter((other) => LEVEL[other.scope] < LEVEL[one.scope]);
    const [winner] = above.sort((left, right) => LEVEL[left.scope] - LEVEL[right.scope]);
    if (winner !== undefined) one.precedence = `not used: the one of the ${winner.scope} wins`;
    else if (others.length > 0) one.precedence = "wins over the others of that name";
  }
}
