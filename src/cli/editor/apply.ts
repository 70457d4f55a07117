/** Runs `editor apply`, `plan` and `remove`: plans changes, shows them, asks, and applies them. */
import { applyChanges, planChanges } from "../../editor/plan/apply.ts";
import { utf8Text } from "../../platform/text.ts";
import { hooksFileProblems } from "../../editor/places.ts";
import type { Plan } from "../../editor/plan/plan.ts";
import { hideKeys } from "../../editor/resources/servers.ts";
import type { Wanted } from "../../editor/plan/operations.ts";
import { AgentcliError } from "../../errors.ts";
import { clean, jsonText } from "../../terminal/clean.ts";
import { unifiedDiff } from "../../terminal/diff.ts";
import { table } from "../../terminal/table.ts";
import { confirm } from "../../terminal/prompt.ts";
import { counted } from "../../platform/number.ts";
import { isWithin } from "../../platform/path.ts";
import { changedLines } from "../chat/questions/preview.ts";
import { type EditorContext, openEditorContext } from "./context.ts";
import type { Invocation } from "../command.ts";
import type { CHANGE_OPTIONS, PLACE_OPTIONS, REMOVE_OPTIONS } from "./command.ts";
import type { Installed } from "../../editor/plan/ledger.ts";
import { nothingKnown, systemElsewhere } from "../../editor/plan/other_places.ts";
import { upgradedScaffolds } from "../../editor/hooks/upgrade.ts";
import { didYouMean } from "../../config/suggest.ts";
import { artifactId } from "../../editor/resources/artifact.ts";
import { notice, print, warn } from "../result.ts";

/** The text of a file as a diff shows it, with other programs' keys hidden. Null: no text. */
function shownText(bytes: Uint8Array): string | null {
  const text = utf8Text(bytes, { stays: true });
  return text === null ? null : hideKeys(text);
}

/** The changes of a plan as one text; of a protected file only that it changes. */
async function planText(
  changes: Plan["changes"],
  { shown, around, protection }: EditorContext,
): Promise<string> {
  const isOfProject = changes.some(({ path }) => isWithin(around.root, path));
  const covers = isOfProject ? (await protection()).covers : () => false;
  return changes.map((change) => changeText(change, { name: shown(change.path), isHidden: covers(change.path) }))
    .join("");
}

function changeText(
  { before, after, mode }: Plan["changes"][number],
  { name, isHidden }: { name: string; isHidden: boolean },
): string {
  const what = after === null ? "removed" : "written";
  if (isHidden) return `protected file ${clean(name)}: ${what}\n`;
  const [old, now] = [before?.bytes ?? null, after].map((bytes) => bytes === null ? "" : shownText(bytes));
  if (typeof old !== "string" || typeof now !== "string") return `binary file ${clean(name)}: ${what}\n`;
  if (after === null) return clean(unifiedDiff(old, "", { name }), { multiline: true });
  const diff = unifiedDiff(before === null ? null : old, now, { name });
  return diff === "" ? `${clean(name)}: permissions ${mode.toString(8)}\n` : clean(diff, { multiline: true });
}

/** Returns one row for each file of a plan: what is done to it, how many lines change, and of which artifacts. */
async function planSummary({ changes }: Plan, { add = [] }: Wanted, editor: EditorContext): Promise<string> {
  const rows = await Promise.all(changes.map(async (change) => {
    const { added, removed } = changedLines(await planText([change], editor));
    const lines = [...added === 0 ? [] : [`+${added}`], ...removed === 0 ? [] : [`−${removed}`]].join(" ");
    const artifacts = add.filter(({ resources }) => resources.some(({ path }) => path === change.path));
    return ["", action(change), clean(editor.shown(change.path)), lines, clean(artifacts.map(artifactId).join(", "))];
  }));
  return table(rows, { width: Infinity });
}

function problemLines({ problems }: Plan, { shown }: EditorContext): string[] {
  return problems.map(({ artifact, path, message }) => `${artifact}: ${shown(path)}: ${message}`);
}

function action({ before, after }: Plan["changes"][number]): string {
  return before === null ? "create" : after === null ? "remove" : "change";
}

async function planJson(plan: Plan, editor: EditorContext): Promise<Record<string, unknown>> {
  return {
    dialect: editor.shownDialect ?? editor.dialect.id,
    changes: await Promise.all(plan.changes.map(async (change) => ({
      path: change.path,
      action: action(change),
      diff: await planText([change], editor),
    }))),
    problems: plan.problems,
    given_back: plan.givenBack,
  };
}

/**
 * Plans, shows what would change (with `--dry-run` as a diff), asks unless `--yes` was given, and applies it. The exit
 * code is 1 when something could not be done.
 */
export async function planAndApply(
  wanted: Wanted,
  editor: EditorContext,
  options: { dryRun: boolean },
): Promise<number> {
  const { io, globals } = editor.context;
  const { add = [] } = wanted;
  if (add.length > 0) await printDialect(editor);
  if (add.some(({ kind, scope }) => kind === "hook" && scope === "project")) await warnHooksFiles(editor);
  const diff = async (plan: Plan) => await io.stdout.write(await planText(plan.changes, editor));
  const show = async (plan: Plan) => {
    if (globals.json || globals.quiet) return;
    if (options.dryRun) await diff(plan);
    else await io.stdout.write(await planSummary(plan, wanted, editor));
  };
  const mayKeep = async (path: string, bytes: Uint8Array) => await (await editor.protection()).mayKeep(path, bytes);
  const plan = globals.yes && !options.dryRun
    // Nobody is asked, so the plan is made once, while no other agentcli writes: a concurrent one does not stop it.
    ? await applyChanges(editor.home, wanted, { announce: show, mayKeep })
    : await planChanges(editor.home, wanted, mayKeep);
  if (!globals.yes || options.dryRun) await show(plan);
  if (!globals.yes && !options.dryRun) {
    if (plan.changes.length > 0 && !await confirm(io, questionOf(plan), { diff: () => diff(plan) })) {
      throw new AgentcliError("usage", "nothing was written");
    }
    // Even when no file changes, the intent is recorded.
    await applyChanges(editor.home, wanted, { expected: plan, mayKeep });
  }
  if (globals.json) await io.stdout.write(jsonText({ ...await planJson(plan, editor), applied: !options.dryRun }));
  return await printOutcome(plan, editor, { isDone: !options.dryRun });
}

/** Says which editor it is for, where the project has files of several and none was chosen. */
export async function printDialect({ context, dialect, otherDialects }: EditorContext): Promise<void> {
  if (otherDialects.length === 0) return;
  const others = otherDialects.map((id) => `--dialect ${id}`).join(" or ");
  await notice(context, `using ${dialect.id}; the project also has files of other editors: ${others} selects them`);
}

/** Says what may keep the editor from reading the hooks file that is written. */
async function warnHooksFiles({ context, dialect, around, shown }: EditorContext): Promise<void> {
  for (const { path, message } of hooksFileProblems(dialect, around.root)) {
    await warn(context, `${shown(path)}: ${message}`);
  }
}

/** Says so when a guard that was installed has nothing to protect. */
export async function warnUnprotected({ context, protection }: EditorContext): Promise<void> {
  if ((await protection()).any) return;
  await warn(context, "nothing is protected in this project yet: agentcli secrets add PATH");
}

async function printOutcome(plan: Plan, editor: EditorContext, { isDone }: { isDone: boolean }): Promise<number> {
  const { io, globals } = editor.context;
  const count = plan.changes.length;
  if (!globals.json) {
    for (const word of plan.givenBack) {
      await notice(editor.context, `${clean(word)} was adopted, so it stays as others wrote it (--force removes it)`);
    }
    if (count === 0 && plan.givenBack.length === 0 && plan.problems.length === 0) {
      await notice(editor.context, "nothing to change");
    } else if (count > 0) {
      await notice(editor.context, `${isDone ? "" : "dry run, nothing was written: "}${summaryOf(plan)}`);
    }
  }
  for (const problem of problemLines(plan, editor)) await io.stderr.write(`not applied: ${clean(problem)}\n`);
  if (plan.problems.some(({ reason }) => reason === "unusable")) {
    await notice(editor.context, "repair these files, or move them away, and run this again");
  } else if (plan.problems.length > 0) {
    await notice(editor.context, "--force does it anyway: it overwrites or removes what is there");
  }
  return plan.problems.length > 0 ? 1 : 0;
}

/** `2 files created, 1 changed`. */
function summaryOf({ changes }: Plan): string {
  const actions = changes.map(action);
  const counts = ["create", "change", "remove"]
    .map((name) => ({ name, count: actions.filter((one) => one === name).length }))
    .filter(({ count }) => count > 0);
  return counts.map(({ name, count }, at) => `${at === 0 ? counted(count, "file") : count} ${name}d`).join(", ");
}

function questionOf({ changes }: Plan): string {
  const removed = changes.filter((change) => action(change) === "remove").length;
  const written = changes.length - removed;
  if (written === 0) return `Remove ${counted(removed, "file")}?`;
  return removed === 0
    ? `Write ${counted(written, "file")}?`
    : `Write ${written} and remove ${counted(removed, "file")}?`;
}

/** Restores what is installed. Returns 1 if something could not be applied. */
export async function applyInstalled({ options, context }: Invocation<typeof CHANGE_OPTIONS>): Promise<number> {
  const editor = await openEditorContext(options, context);
  return await planAndApply(await reconcileAll(editor, options), editor, options);
}

/** Writes nothing; exit 0 whatever the plan holds. */
export async function showPlan({ options, context }: Invocation<typeof PLACE_OPTIONS>): Promise<void> {
  const editor = await openEditorContext(options, context);
  const plan = await planChanges(editor.home, await reconcileAll(editor, { force: false }));
  await print(context, { json: await planJson(plan, editor), text: await planText(plan.changes, editor) });
  if (context.globals.json) return;
  for (const problem of problemLines(plan, editor)) {
    await context.io.stderr.write(`would not be applied: ${clean(problem)}\n`);
  }
  if (plan.changes.length + plan.problems.length === 0) await notice(context, "nothing to change");
}

/** Removes artifacts. Returns 1 if something had to stay. */
export async function removeArtifacts(
  { options, arguments: words, context }: Invocation<typeof REMOVE_OPTIONS>,
): Promise<number> {
  if (options.all === words.length > 0) {
    throw new AgentcliError("usage", "name what to remove, or pass --all", { hint: "see: agentcli editor list" });
  }
  const editor = await openEditorContext(options, context);
  const here = editor.installed.filter((one) => (options.scope ?? one.scope) === one.scope);
  const remove = options.all ? here : selectInstalled(words, here);
  const code = await planAndApply({ remove, force: options.force }, editor, options);
  if (!options.all) return code;
  const system = (options.scope ?? "system") === "system"
    ? systemElsewhere(editor.ledger, { isHere: editor.isHere, command: "remove --all" })
    : [];
  const project = (options.scope ?? "project") === "project" ? nothingKnown(editor.ledger, editor.around.root) : [];
  for (const note of [...system, ...project]) await notice(context, `note: ${note}`);
  return code;
}

/** Everything that is installed here in order, hooks of an earlier version as this one writes them. */
async function reconcileAll({ installed, isHere }: EditorContext, { force }: { force: boolean }): Promise<Wanted> {
  return { add: await upgradedScaffolds(installed), keep: isHere, force };
}

/** Those that the words name; every word has to name one. Throws `usage`. */
function selectInstalled(words: readonly string[], installed: readonly Installed[]): Installed[] {
  const selected = words.flatMap((word) => {
    const found = installed.filter((one) => artifactId(one) === word || one.name === word);
    if (found.length === 0) {
      throw new AgentcliError("usage", `"${word}" is not installed here`, {
        hint: didYouMean(word, installed.flatMap((one) => [one.name, artifactId(one)])) ?? "see: agentcli editor list",
      });
    }
    return found;
  });
  return [...new Set(selected)];
}
