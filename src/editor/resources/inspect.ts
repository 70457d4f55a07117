/** Finds the artifacts on the disk, whoever wrote them, and their problems. Only reads. */
import { listSync, lstatSync } from "../../platform/files.ts";
import { join } from "../../platform/path.ts";
import { quietly } from "../../platform/real_path.ts";
import { type Dialect, type Scope, SCOPES } from "../dialect.ts";
import { lookAt } from "../plan/disk.ts";
import { type FoundArtifact, type Inspection, ledgerOwners, markPrecedence } from "./found.ts";
import { type HookInFile, hooksOfEvent, hooksOfOtherAgent } from "./hook_entry.ts";
import { serverProblems } from "./servers.ts";
import { dataOf, nodeAt, parseJsonTree } from "./json_tree.ts";
import type { Ledger } from "../plan/ledger.ts";
import { lengthProblem, LIMITS, orProblem } from "../limits.ts";
import { ruleProblems, skillProblems, workflowProblems } from "./markdown.ts";
import { hooksFileProblems, type LookupOptions, type Places, placesOf, systemDirectory } from "../places.ts";
import { hasOwnText, sectionsIn } from "./section.ts";
import { artifactsInWorktree, missingHere, type Worktrees, worktreesAround } from "../plan/other_places.ts";

interface Context {
  dialect: Dialect;
  around: LookupOptions;
  inspection: Inspection;
}

/** Inspects all scopes; the system scope is left out where its place is not known. */
export async function inspect(dialect: Dialect, around: LookupOptions, ledger: Ledger): Promise<Inspection> {
  const inspection: Inspection = { found: [], problems: [], notes: [] };
  const context = { dialect, around, inspection };
  const worktrees = worktreesAround(around.root);
  for (const scope of SCOPES) {
    if (scope === "system" && systemDirectory(dialect, around) === null) continue;
    inspectScope(placesOf(dialect, scope, around), context);
  }
  inspectOtherPlaces(context);
  inspectNested(context);
  const artifacts = [...ledger.artifacts, ...artifactsInWorktree(ledger, around.root, worktrees)];
  const ownerOf = ledgerOwners({ artifacts });
  for (const one of inspection.found) {
    const owner = ownerOf(one);
    one.ours = owner !== null;
    // A rule for all projects is a section, which does not say of what kind it is.
    if (owner !== null) [one.kind, one.name] = [owner.kind, owner.name];
  }
  await inspectWorktrees(context, { worktrees, ledger });
  markPrecedence(inspection.found, dialect);
  return inspection;
}

function entries(directory: string): string[] {
  return (quietly(() => listSync(directory)) ?? []).map(({ name }) => name).sort();
}

const UNREADABLE = "it cannot be read, is larger than 4 MiB, or is no UTF-8 text";

/** Adds what was found; its owner is determined once everything is found. */
function add({ inspection }: Context, one: Omit<FoundArtifact, "ours">): void {
  inspection.found.push({ ...one, ours: false });
}

function addFile(
  one: Pick<FoundArtifact, "kind" | "name" | "scope" | "path">,
  context: Context,
  judge: (text: string) => string[],
): void {
  const text = lookAt(one.path);
  add(context, { ...one, problems: text === null ? [UNREADABLE] : judge(text) });
}

function addMarkdown(
  kind: "rule" | "workflow",
  directory: string | null,
  { context, scope }: { context: Context; scope: Scope },
): void {
  if (directory === null) return;
  const judge = kind === "rule" ? ruleProblems : workflowProblems;
  for (const file of entries(directory)) {
    if (!file.endsWith(".md")) continue;
    addFile({ kind, name: file.slice(0, -3), scope, path: join(directory, file) }, context, judge);
  }
}

function inspectScope(places: Places, context: Context): void {
  const { scope, base } = places;
  addMarkdown("rule", places.rules, { context, scope });
  addMarkdown("workflow", places.workflows, { context, scope });
  const extra = scope === "system" ? [] : context.dialect.skillDirectories.map((directory) => join(base, directory));
  for (const directory of [places.skills, ...extra]) {
    for (const name of entries(directory)) {
      const path = join(directory, name, "SKILL.md");
      if (lstatSync(path) === null) continue;
      addFile({ kind: "skill", name, scope, path }, context, (text) => skillProblems(text, name));
    }
  }
  addHooks({ path: places.hooks, scope }, context, { member: "hooks", read: hooksOfEvent });
  if (places.mcp !== null) {
    for (const { name, value } of membersOf(places.mcp, { member: "mcpServers", context })) {
      add(context, { kind: "mcp", name, scope, path: places.mcp, problems: serverProblems(value), entry: value });
    }
  }
  if (places.instructions !== null) {
    addInstructions(places.instructions, context, { scope, limit: scope === "user" ? LIMITS.globalRules : null });
  }
  const legacy = scope === "project" ? context.dialect.legacyRules : null;
  if (legacy !== null) addLegacyRules(legacy, join(base, legacy), context);
}

/** Returns the old single file of rules: what others wrote into it, and the sections in it. */
function addLegacyRules(name: string, path: string, context: Context): void {
  if (lstatSync(path) === null) return;
  const text = lookAt(path);
  const marks = text === null ? [] : sectionsIn(text);
  if (text === null || marks.length === 0 || hasOwnText(text)) {
    addFile({ kind: "rule", name, scope: "project", path }, context, () => []);
  }
  for (const one of marks) {
    add(context, { kind: "instructions", name: one.name, scope: "project", path, problems: [], marks: one });
  }
}

function addHooks(
  place: Pick<FoundArtifact, "path" | "scope" | "otherAgent">,
  context: Context,
  { member, read }: { member: string | null; read: (event: string, value: unknown) => HookInFile[] | null },
): void {
  const { path } = place;
  for (const { name, value } of membersOf(path, { member, context })) {
    const hooks = read(name, value);
    if (hooks === null) context.inspection.problems.push({ path, message: `${name} is no list` });
    for (const hook of hooks ?? []) add(context, { kind: "hook", ...hook, ...place });
  }
}

/** Returns the sections of a file of instructions, and what stands beside them. */
function addInstructions(
  path: string,
  context: Context,
  { scope, limit }: { scope: Scope; limit: number | null },
): void {
  if (lstatSync(path) === null) return;
  const text = lookAt(path);
  const problem = text === null ? UNREADABLE : limit === null ? null : lengthProblem(text, limit);
  const found = { kind: "instructions", scope, path, problems: problem === null ? [] : [problem] } as const;
  if (text === null || hasOwnText(text)) add(context, { ...found, name: "(text)" });
  for (const marks of text === null ? [] : sectionsIn(text)) add(context, { ...found, name: marks.name, marks });
}

/** Returns the members of an object of a JSON file; what is wrong with the file is noted. */
function membersOf(
  path: string,
  { member, context: { inspection } }: { member: string | null; context: Context },
): { name: string; value: unknown }[] {
  const unusable = (message: string) => {
    inspection.problems.push({ path, message, unusable: true });
    return [];
  };
  const text = lookAt(path);
  if (text === null && lstatSync(path) !== null) return unusable(UNREADABLE);
  if (text === null || text.trim() === "") return [];
  return orProblem(() => {
    const root = parseJsonTree(text);
    const node = member === null ? nodeAt(root, ["hooks"]) ?? root : nodeAt(root, [member]);
    if (node?.kind !== "object") return unusable(`it has no object${member === null ? "" : ` "${member}"`}`);
    // Of a name that occurs twice, the editor uses one, and nobody knows which.
    for (const { key } of node.children) nodeAt(node, [key]);
    return node.children.map(({ key, value }) => ({ name: key, value: dataOf(value) }));
  }, ({ message }) => unusable(`it cannot be read: ${message}`));
}

/** Places of the editor's other agent, places named for what is elsewhere, and files that are not read. */
function inspectOtherPlaces(context: Context): void {
  const { dialect, around, inspection } = context;
  const other = dialect.otherHooks === null ? null : join(around.root, dialect.otherHooks);
  if (other !== null && lstatSync(other) !== null) {
    const place = { path: other, scope: "project", otherAgent: true } as const;
    addHooks(place, context, { member: null, read: hooksOfOtherAgent });
    inspection.notes.push(
      `${other} is run by the editor's other agent, which runs nothing of hooks.json: a guard there does not hold for it`,
    );
  }
  if (dialect.otherInstructions !== null) {
    addInstructions(join(around.userHome, dialect.otherInstructions), context, { scope: "user", limit: null });
  }
  inspection.problems.push(...hooksFileProblems(dialect, around.root));
  const [named, read] = [dialect.otherMcp, dialect.userMcp].map((name) => name && join(around.userHome, name));
  if (named && lstatSync(named) !== null) {
    inspection.notes.push(`${named} exists too; the editor's servers are in ${read}`);
  }
  for (const path of dialect.unreadMcp.map((name) => join(around.root, name))) {
    if (lstatSync(path) === null) continue;
    inspection.notes.push(`${path} is there, and the editor reads no servers of a project: those in ${read} count`);
  }
}

/** Most directories of a project that are searched for rules of subdirectories. */
const NESTED_LIMIT = 5_000;

/** Rules and `AGENTS.md` of subdirectories: they hold below their directory. */
function inspectNested(context: Context): void {
  const { dialect, around } = context;
  const waiting = [around.root];
  for (let left = NESTED_LIMIT; left > 0 && waiting.length > 0; left--) {
    const directory = waiting.shift() ?? around.root;
    for (const name of entries(directory)) {
      if (name.startsWith(".") || name === "node_modules") continue;
      const path = join(directory, name);
      if (lstatSync(path)?.kind === "directory") waiting.push(path);
    }
    if (directory === around.root) continue;
    addMarkdown("rule", join(directory, dialect.projectDirectory, "rules"), { context, scope: "project" });
    addInstructions(join(directory, "AGENTS.md"), context, { scope: "project", limit: null });
  }
}

async function inspectWorktrees(
  { around, inspection }: Context,
  { worktrees, ledger }: { worktrees: Worktrees; ledger: Ledger },
): Promise<void> {
  const { main, linked } = worktrees;
  const missing = await missingHere(artifactsInWorktree(ledger, around.root, worktrees), ledger.artifacts);
  if (missing.length > 0) {
    inspection.problems.push({
      path: around.root,
      message: `in this worktree ${
        missing.join(", ")
      } of ${main} is missing: commit it, add it here, or let setup-worktree copy it`,
    });
  }
  if (linked.length > LIMITS.parallelSessions) {
    inspection.notes.push(
      `the repository has ${linked.length} linked worktrees; the editor runs at most ${LIMITS.parallelSessions} sessions side by side`,
    );
  }
  const prepared = inspection.found.some(({ event }) => event === "post_setup_worktree");
  if (linked.length > 0 && !prepared) {
    inspection.notes.push("no hook prepares new worktrees: agentcli editor add hook setup-worktree");
  }
}
