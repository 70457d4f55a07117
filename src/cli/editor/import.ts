/** Shows what other programs or a person wrote, and adopts it when asked. */
import { applyChanges } from "../../editor/plan/apply.ts";
import { artifactId } from "../../editor/resources/artifact.ts";
import { readFound } from "../../editor/plan/disk.ts";
import { problemText } from "../../editor/resources/found.ts";
import { inspect } from "../../editor/resources/inspect.ts";
import type { Problem } from "../../editor/plan/plan.ts";
import { type Candidate, candidatesOf } from "../../editor/plan/adopt.ts";
import { AgentcliError } from "../../errors.ts";
import { clean } from "../../terminal/clean.ts";
import { notice, print, warn } from "../result.ts";
import type { Invocation } from "../command.ts";
import { type EditorContext, openEditorContext } from "./context.ts";
import type { IMPORT_OPTIONS } from "./command.ts";

/** Changes no file: adopting is an entry in the ledger. Exit 1 when something requested cannot be adopted. */
export async function run(
  { options, arguments: words, context }: Invocation<typeof IMPORT_OPTIONS>,
): Promise<number> {
  if (options.take && words.length === 0 && !options.all) {
    throw new AgentcliError("usage", "name what to adopt, or give --all", { hint: "see: agentcli editor import" });
  }
  if (options.all && words.length > 0) throw new AgentcliError("usage", "either name what to adopt, or give --all");
  const editor = await openEditorContext(options, context);
  const { dialect, ledger, places } = editor;
  const { found, problems, notes } = await inspect(dialect, editor.around, ledger);
  const wanted = chosen(candidatesOf(found, { dialect, ledger, places }), words);
  const candidates = withoutProtected(wanted, await unkept(wanted, editor));
  const taken = options.take || options.all ? await takeOver(candidates, editor) : null;
  const refused = words.length === 0 ? [] : candidates.filter(({ artifact }) => artifact === null);
  await print(context, {
    json: {
      artifacts: candidates.map(jsonOf),
      problems: problems.map(problemText),
      notes,
      taken: taken?.count ?? 0,
      not_taken: taken?.problems ?? [],
    },
    table: [["KIND", "NAME", "SCOPE", "PATH", "STATE"], ...candidates.map((one) => rowOf(one, editor))],
    none: "nothing to import",
  });
  if (!context.globals.json) {
    for (const { path, message } of problems) await warn(context, `${editor.shown(path)}: ${message}`);
    for (const note of notes) await notice(context, `note: ${note}`);
    if (candidates.length > 0) await notice(context, takenText(taken?.count ?? null, candidates));
    for (const { artifact, path, message } of taken?.problems ?? []) {
      await context.io.stderr.write(`not adopted: ${clean(`${artifact}: ${editor.shown(path)}: ${message}`)}\n`);
    }
  }
  return taken !== null && (taken.problems.length > 0 || refused.length > 0) ? 1 : 0;
}

/** Files that hold something protected: it is recorded nowhere else, so nothing in them can be adopted. */
async function unkept(candidates: readonly Candidate[], editor: EditorContext): Promise<ReadonlySet<string>> {
  const { mayKeep } = await editor.protection();
  const unkept = new Set<string>();
  for (const path of new Set(candidates.flatMap(pathsOf))) {
    if (!await mayKeep(path, foundAt(path))) unkept.add(path);
  }
  return unkept;
}

/** Nothing for what cannot be read: the plan says so. */
function foundAt(path: string): Uint8Array {
  const nothing = new Uint8Array();
  try {
    return readFound(path)?.bytes ?? nothing;
  } catch (error) {
    if (error instanceof AgentcliError) return nothing;
    throw error;
  }
}

function pathsOf({ artifact }: Candidate): string[] {
  return artifact?.resources.map(({ path }) => path) ?? [];
}

function withoutProtected(candidates: readonly Candidate[], unkept: ReadonlySet<string>): Candidate[] {
  const reason = "it is protected, and what is adopted is noted in the home";
  return candidates.map((one) =>
    pathsOf(one).some((path) => unkept.has(path)) ? { ...one, artifact: null, reason } : one
  );
}

/** The name of a candidate: that of the artifact that it would be. */
function wordsOf({ found, artifact }: Candidate): string[] {
  const names = [artifact, ...found].flatMap((one) => one === null ? [] : [artifactId(one), one.name]);
  return [...names, ...found.flatMap(({ event }) => event ?? [])];
}

function chosen(candidates: readonly Candidate[], words: readonly string[]): readonly Candidate[] {
  const unknown = words.find((word) => !candidates.some((one) => wordsOf(one).includes(word)));
  if (unknown !== undefined) {
    throw new AgentcliError("usage", `nothing that others wrote has the name "${unknown}" here`, {
      hint: "see: agentcli editor import",
    });
  }
  return words.length === 0
    ? candidates
    : candidates.filter((one) => wordsOf(one).some((word) => words.includes(word)));
}

async function takeOver(
  candidates: readonly Candidate[],
  { home }: EditorContext,
): Promise<{ count: number; problems: Problem[] }> {
  const add = candidates.flatMap(({ artifact }) => artifact ?? []);
  const plan = await applyChanges(home, { add, adopt: true });
  const failed = new Set(plan.problems.map(({ artifact }) => artifact));
  return { count: add.filter((one) => !failed.has(artifactId(one))).length, problems: plan.problems };
}

function jsonOf({ found, artifact, reason }: Candidate) {
  const [first] = found;
  const problems = [...new Set(found.flatMap((one) => one.problems))];
  return {
    kind: first?.kind,
    name: artifact?.name ?? first?.name,
    scope: first?.scope,
    path: first?.path,
    files: [...new Set((artifact?.resources ?? []).map(({ path }) => path))],
    events: [...new Set(found.flatMap(({ event }) => event ?? []))],
    valid: problems.length === 0,
    problems,
    can_be_taken: artifact !== null,
    reason,
  };
}

function rowOf(candidate: Candidate, { shown }: EditorContext): string[] {
  const { kind, name, scope, path, events, problems, reason } = jsonOf(candidate);
  const notes = [...problems, ...(reason === undefined ? [] : [`cannot be adopted: ${reason}`])];
  const on = events.join(", ");
  const state = notes.length > 0 ? notes.join("; ") : on === "" ? "valid" : `valid: ${on}`;
  return [kind ?? "", clean(name ?? ""), scope ?? "", clean(shown(path ?? "")), clean(state)];
}

function takenText(taken: number | null, candidates: readonly Candidate[]): string {
  if (taken !== null) return `${taken} adopted; no file was changed, and agentcli editor remove gives them back`;
  return candidates.every(({ artifact }) => artifact === null)
    ? "none of it can be adopted"
    : "adopt it with --take and names (kind:name), or with --all";
}
