/** Shows what the editor finds on this machine for this project. */
import { type FoundArtifact, problemText, type Source, sourcesOf } from "../../editor/resources/found.ts";
import { inspect } from "../../editor/resources/inspect.ts";
import { readLedger } from "../../editor/plan/ledger.ts";
import { LIMITS } from "../../editor/limits.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { table } from "../../terminal/table.ts";
import { notice, warn } from "../output.ts";
import type { Invocation } from "../verb.ts";
import { tellDialect } from "./carry_out.ts";
import { openScene, type Scene } from "./scene.ts";
import type { PLACE_OPTIONS } from "./verb.ts";

/** Exit 0 whatever is found. */
export async function run({ options, context }: Invocation<typeof PLACE_OPTIONS>): Promise<void> {
  const scene = await openScene(options, context);
  const { found, problems, notes } = inspect(scene.dialect, scene.around, await readLedger(scene.home));
  const sources = sourcesOf(found, scene.dialect, scene.around);
  const { io, globals } = context;
  if (globals.json) {
    const artifacts = found.map(({ entry: _entry, marks: _marks, ...one }) => one);
    const dialect = scene.dialect.id;
    return await io.stdout.write(
      jsonText({
        dialect,
        root: scene.around.root,
        artifacts,
        sources,
        problems: problems.map(problemText),
        notes,
        limits: LIMITS,
      }),
    );
  }
  await notice(context, `dialect ${scene.dialect.id}, project ${scene.around.root}`);
  await tellDialect(scene);
  if (found.length === 0 && problems.length === 0) {
    await notice(context, "nothing is there; agentcli editor init installs a small starting set");
  } else if (found.length > 0) {
    const rows = rowsOf(found, scene);
    const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
    await io.stdout.write(table([["KIND", "NAME", "SCOPE", "BY", "PATH", "NOTE"], ...rows], { width }));
    await io.stdout.write(hookLines(found) + sourceLines(sources, scene));
  }
  for (const { path, message } of problems) await warn(context, `${scene.shown(path)}: ${message}`);
  for (const note of notes) await notice(context, `note: ${note}`);
}

/** One row for each artifact: kind, name, scope, whose it is, path, note. The entries of one hook are one row. */
function rowsOf(found: readonly FoundArtifact[], { shown }: Scene): string[][] {
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
      ? `${problems} problem${problems === 1 ? "" : "s"} (see editor check)`
      : kind === "hook"
      ? `${group.length} event${group.length === 1 ? "" : "s"}`
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

function sourceLines(sources: readonly Source[], scene: Scene): string {
  const lines = sources.map(({ kind, rule, files }) => {
    const paths = kind === "hook" || kind === "mcp" || kind === "instructions"
      ? files.map(({ path }) => `    ${clean(scene.shown(path))}\n`).join("")
      : "";
    return `  ${kind}: ${rule}\n${paths}`;
  });
  return `\nWhich one counts:\n${lines.join("")}`;
}
