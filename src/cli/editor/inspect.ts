/** Runs `editor list`, `show` and `check`: shows what is there and what differs from the installed state. */
import { type FoundArtifact, problemText, type Source, sourcesOf } from "../../editor/resources/found.ts";
import { inspect } from "../../editor/resources/inspect.ts";
import { type InstalledResource, interruptedPaths } from "../../editor/plan/ledger.ts";
import { LIMITS } from "../../editor/limits.ts";
import { counted } from "../../platform/number.ts";
import { clean } from "../../terminal/clean.ts";
import { notice, print } from "../result.ts";
import type { Completion, Context, Invocation } from "../command.ts";
import { printDialect } from "./apply.ts";
import { type EditorContext, openEditorContext } from "./context.ts";
import type { PLACE_OPTIONS } from "./command.ts";
import { didYouMean } from "../../config/suggest.ts";
import { lookAt } from "../../editor/plan/disk.ts";
import { hideKeys, hideKeysOf } from "../../editor/resources/servers.ts";
import { AgentcliError } from "../../errors.ts";
import { planChanges } from "../../editor/plan/apply.ts";
import { nothingKnown, systemElsewhere } from "../../editor/plan/other_places.ts";
import type { Change, Problem } from "../../editor/plan/plan.ts";
import { earlierVersions } from "../../editor/hooks/upgrade.ts";
import { artifactId } from "../../editor/resources/artifact.ts";
import { EVENTS } from "../../editor/hooks/events.ts";
import { candidatesOf } from "../../editor/plan/adopt.ts";

/** Exit 0 whatever is found. */
export async function listArtifacts({ options, context }: Invocation<typeof PLACE_OPTIONS>): Promise<void> {
  const editor = await openEditorContext(options, context);
  const { found, problems, notes } = await inspect(editor.dialect, editor.around, editor.ledger);
  const sources = sourcesOf(found, editor.dialect, editor.around);
  const isJson = context.globals.json;
  if (!isJson) await notice(context, `dialect ${editor.dialect.id}, project ${editor.around.root}`);
  if (!isJson) await printDialect(editor);
  await print(context, {
    json: {
      dialect: editor.dialect.id,
      root: editor.around.root,
      artifacts: found.map(({ entry: _entry, marks: _marks, ...one }) => one),
      sources,
      problems: problems.map(problemText),
      notes,
      limits: LIMITS,
    },
    table: [["KIND", "NAME", "SCOPE", "BY", "PATH", "NOTE"], ...rowsOf(found, editor)],
    none: problems.length === 0 ? "nothing is installed; agentcli editor init installs a starter set" : undefined,
    text: found.length === 0 ? "" : hookLines(found) + sourceLines(sources, editor),
    notes: [
      ...problems.map(({ path, message }) => `warning: ${editor.shown(path)}: ${message}`),
      ...notes.map((note) => `note: ${note}`),
    ],
  });
}

/** One row for each artifact: kind, name, scope, whose it is, path, note. The entries of one hook are one row. */
function rowsOf(found: readonly FoundArtifact[], { shown }: EditorContext): string[][] {
  const groups = new Map<string, FoundArtifact[]>();
  for (const one of found) {
    const key = one.kind === "hook" ? [one.name, one.scope, one.path, one.ours].join("\0") : String(groups.size);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [one]);
    else group.push(one);
  }
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    if (first === undefined) return [];
    const { kind, name, scope, ours, path, precedence } = first;
    const problems = group.flatMap((one) => one.problems).length;
    const note = problems > 0
      ? `${counted(problems, "problem")} (see editor check)`
      : kind === "hook"
      ? counted(group.length, "event")
      : precedence ?? "";
    return [[kind, clean(name), scope, ours ? "agentcli" : "others", clean(shown(path)), note]];
  });
}

/** The hooks by event, in the order in which they run: system, user, project. */
function hookLines(found: readonly FoundArtifact[]): string {
  const hooks = found.filter(({ kind }) => kind === "hook");
  if (hooks.length === 0) return "";
  const levels = ["system", "user", "project"];
  const lines = [...new Set(hooks.map(({ event = "" }) => event))].sort().map((event) => {
    const names = hooks.filter((one) => one.event === event)
      .sort((one, other) => levels.indexOf(one.scope) - levels.indexOf(other.scope))
      .map(({ name, scope, otherAgent }) => `${clean(name)} (${scope}${otherAgent ? ", other agent" : ""})`);
    return `  ${clean(event)}: ${names.join(", ")}\n`;
  });
  return `\nHooks by event:\n${lines.join("")}`;
}

function sourceLines(sources: readonly Source[], editor: EditorContext): string {
  const lines = sources.map(({ kind, rule, files }) => {
    const paths = kind === "hook" || kind === "mcp" || kind === "instructions"
      ? files.map(({ path }) => `    ${clean(editor.shown(path))}\n`).join("")
      : "";
    return `  ${kind}: ${rule}\n${paths}`;
  });
  return `\nPrecedence:\n${lines.join("")}`;
}

/** Printed in place of a protected file. */
const PROTECTED = "(protected)";

/** Throws `usage` when there is no such artifact. */
export async function showArtifact(
  { options, arguments: words, context }: Invocation<typeof PLACE_OPTIONS>,
): Promise<void> {
  const [word = ""] = words;
  const editor = await openEditorContext(options, context);
  const named = (one: { kind: string; name: string }) => `${one.kind}:${one.name}` === word || one.name === word;
  const ours = editor.installed.filter(named);
  const all = (await inspect(editor.dialect, editor.around, editor.ledger)).found;
  const others = all.filter((one) => !one.ours && named(one));
  if (ours.length + others.length === 0) {
    const names = [...editor.installed, ...all].flatMap(({ kind, name }) => [name, `${kind}:${name}`]);
    throw new AgentcliError("usage", `no artifact is named "${word}"`, {
      hint: didYouMean(word, names) ?? "see: agentcli editor list",
    });
  }
  const { covers } = await editor.protection();
  const { io, globals } = context;
  if (globals.json) {
    const shownOurs = ours.map(({ resources, ...head }) => ({
      ...head,
      pieces: resources.map((resource) => shownResource(resource, covers)),
    }));
    const shownOthers = others.map(({ entry, ...one }) =>
      entry === undefined || covers(one.path) ? one : { ...one, entry: hideKeysOf(entry) }
    );
    return await print(context, { json: { ours: shownOurs, others: shownOthers } });
  }
  const show = async (heading: string, path: string, text: () => string) => {
    const shown = covers(path) ? PROTECTED : text();
    await io.stdout.write(`${heading}\n${clean(shown.trimEnd(), { multiline: true })}\n`);
  };
  for (const one of ours) {
    await io.stdout.write(`${one.kind}:${one.name}, ${one.scope}, written by agentcli (${one.dialect})\n`);
    for (const { resource, written } of one.resources) {
      const where = resource.kind === "file"
        ? ""
        : resource.kind === "section"
        ? ` (section ${resource.name})`
        : ` (${resource.at.join(".")})`;
      const note = written === null ? ", existed before" : "";
      await show(`\n${clean(editor.shown(resource.path))}${clean(where)}${note}`, resource.path, () => {
        if (resource.kind === "file") return lookAt(resource.path) ?? "(no text)";
        return "content" in resource ? resource.content : JSON.stringify(hideKeysOf(resource.value), null, 2);
      });
    }
  }
  for (const { kind, name, scope, path, entry } of others) {
    const heading = `${kind}:${clean(name)}, ${scope}, written by others: ${clean(editor.shown(path))}`;
    const text = () => JSON.stringify(hideKeysOf(entry), null, 2);
    await show(heading, path, entry === undefined ? () => hideKeys(lookAt(path) ?? "(no text)") : text);
  }
}

/**
 * Returns a resource for `--json`, under the names of the first version: without its backup, and without protected
 * content.
 */
function shownResource({ resource, written, adopted }: InstalledResource, covers: (path: string) => boolean) {
  const { kind, path } = resource;
  const shown = covers(path)
    ? { kind, path }
    : resource.kind === "item" || resource.kind === "member"
    ? { ...resource, value: hideKeysOf(resource.value) }
    : resource;
  return { piece: shown, written, taken: adopted };
}

/** Advice for what `apply` alone does not repair. */
const FIXES: Readonly<Record<Problem["reason"], string>> = {
  foreign: ": agentcli editor apply --force overwrites it",
  changed: ": agentcli editor apply --force rewrites it",
  unusable: ": repair it, or move it away",
};

function differenceOf({ before, after }: Change): string {
  if (before === null) return "it is missing: agentcli editor apply restores it";
  return after === null
    ? "it is obsolete: agentcli editor apply removes it"
    : "it is not as it was installed: agentcli editor apply restores it";
}

/** Prints differences and problems. Returns 1 if there are any. */
export async function checkArtifacts({ options, context }: Invocation<typeof PLACE_OPTIONS>): Promise<number> {
  const editor = await openEditorContext(options, context);
  const { ledger, installed } = editor;
  const plan = await planChanges(editor.home, { keep: editor.isHere });
  const inspection = await inspect(editor.dialect, editor.around, ledger);
  const { found, problems } = inspection;
  const isUnknown = found.some(({ ours, scope }) => !ours && scope === "project");
  const notes = [
    ...inspection.notes,
    ...await earlierVersions(installed),
    ...systemElsewhere(ledger, { isHere: editor.isHere, command: "check" }),
    ...isUnknown ? nothingKnown(ledger, editor.around.root) : [],
  ];
  const interrupted = interruptedPaths({ ...ledger, artifacts: installed, files: {} });
  const reported = new Set(plan.problems.map(({ path }) => path));
  const findings = [
    ...interrupted.map((path) => ({
      kind: "interrupted",
      path,
      message: "a change was interrupted: agentcli editor apply completes it",
    })),
    ...plan.changes.map((change) => ({ kind: "differs", path: change.path, message: differenceOf(change) })),
    ...plan.problems.map(({ path, reason, message }) => ({ kind: reason, path, message: message + FIXES[reason] })),
    ...found.flatMap((one) =>
      one.problems.map((message) => ({ kind: "rule", path: one.path, message: `${one.kind} ${one.name}: ${message}` }))
    ),
    ...problems.flatMap(({ path, message, unusable }) =>
      unusable && reported.has(path)
        ? []
        : [{ kind: "place", path, message: unusable ? message + FIXES.unusable : message }]
    ),
  ];
  const lines = findings.map(({ path, message }) => `${clean(editor.shown(path))}: ${clean(message)}\n`);
  await print(context, {
    json: { ok: findings.length === 0, dialect: editor.dialect.id, findings, notes },
    ...findings.length === 0 ? { message: "no drift" } : { text: lines.join("") },
    notes: notes.map((note) => `note: ${note}`),
  });
  return findings.length === 0 ? 0 : 1;
}

interface Word {
  value: string;
  brief: string;
}

/** The words for a kind of value; each once. Throws `usage` and `home_unusable` where nothing can be read. */
export async function editorValues(of: Completion, context: Context): Promise<Word[]> {
  if (of === "hook_event") return EVENTS.map((event) => ({ value: event, brief: "" }));
  const editor = await openEditorContext({}, context);
  const { dialect, ledger, places } = editor;
  const ours = editor.installed.map((one) => ({ value: artifactId(one), brief: `${one.scope}, of agentcli` }));
  if (of === "installed_artifact") return once(ours);
  const candidates = candidatesOf((await inspect(dialect, editor.around, ledger)).found, { dialect, ledger, places });
  const theirs = candidates.flatMap(({ artifact }) => artifact ?? [])
    .map((one) => ({ value: artifactId(one), brief: `${one.scope}, of others` }));
  return once(of === "foreign_artifact" ? theirs : [...ours, ...theirs]);
}

function once(words: readonly Word[]): Word[] {
  return [...new Map(words.map((word) => [word.value, word])).values()];
}
