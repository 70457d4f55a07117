/** The words of artifacts and events that completions offer. */
import { artifactId } from "../../editor/resources/artifact.ts";
import { EVENTS } from "../../editor/hooks/events.ts";
import { inspect } from "../../editor/resources/inspect.ts";
import { readLedger } from "../../editor/plan/ledger.ts";
import { candidatesOf } from "../../editor/plan/adopt.ts";
import type { Completion, Context } from "../verb.ts";
import { openScene } from "./scene.ts";

/** A word and what it is. */
interface Word {
  value: string;
  brief: string;
}

/** The words for a kind of value; each once. Throws `usage` and `home_unusable` where nothing can be looked up. */
export async function editorValues(of: Completion, context: Context): Promise<Word[]> {
  if (of === "hook_event") return EVENTS.map((event) => ({ value: event, brief: "" }));
  const scene = await openScene({}, context);
  const ledger = await readLedger(scene.home);
  const ours = ledger.artifacts.filter(scene.isHere)
    .map((one) => ({ value: artifactId(one), brief: `${one.scope}, of agentcli` }));
  if (of === "installed_artifact") return once(ours);
  const { dialect, places } = scene;
  const candidates = candidatesOf(inspect(dialect, scene.around, ledger).found, { dialect, ledger, places });
  const theirs = candidates.flatMap(({ artifact }) => artifact ?? [])
    .map((one) => ({ value: artifactId(one), brief: `${one.scope}, of others` }));
  return once(of === "foreign_artifact" ? theirs : [...ours, ...theirs]);
}

function once(words: readonly Word[]): Word[] {
  return [...new Map(words.map((word) => [word.value, word])).values()];
}
