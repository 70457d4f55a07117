/** Shows what the editor finds on this machine for this project. */
import type { FoundArtifact } from "../../editor/found.ts";
import { inspect } from "../../editor/inspect.ts";
import { readLedger } from "../../editor/ledger.ts";
import { LIMITS } from "../../editor/limits.ts";
import { type Source, sourcesOf } from "../../editor/precedence.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { table } from "../../terminal/table.ts";
import { notice, warn } from "../say.ts";
import type { Invocation } from "../verb.ts";
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
      jsonText({ dialect, root: scene.around.root, artifacts, sources, problems, notes, limits: LIMITS }),
    );
  }
  await notice(context, `dialect ${scene.dialect.id}, project ${scene.around.root}`);
  if (found.length === 0) {
    await notice(context, "nothing is there; agentcli editor init installs a small starting set");
  } else {
    const rows = found.map((one) => [
      one.kind,
      clean(one.name),
      one.scope,
      one.ours ? "agentcli" : "others",
      clean(scene.shown(one.path)),
      noteOf(one),
    ]);
    const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
    await io.stdout.write(table([["KIND", "NAME", "SCOPE", "BY", "PATH", "NOTE"], ...rows], { width }));
    await io.stdout.write(hookLines(found) + sourceLines(sources, scene));
  }
  for (const problem of problems) await warn(context, problem);
  for (const note of notes) await notice(context, `note: ${note}`);
}

function noteOf({ problems, precedence, event, kind }: FoundArtifact): string {
  if (problems.length > 0) return `${problems.length} problem${problems.length === 1 ? "" : "s"} (see editor check)`;
  // Of hooks it is the same for all and stands below; the event is what tells them apart.
  return kind === "hook" ? clean(event ?? "") : precedence ?? "";
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
