/** Installs a small starting set. */
import type { Artifact } from "../../editor/artifact.ts";
import { makeInstructions, makeSkill, makeWorkflow } from "../../editor/make_artifact.ts";
import INSTRUCTIONS from "../../editor/starting_set/instructions.md" with { type: "text" };
import SKILL from "../../editor/starting_set/skill.md" with { type: "text" };
import WORKFLOW from "../../editor/starting_set/workflow.md" with { type: "text" };
import type { Invocation } from "../verb.ts";
import { notice } from "../say.ts";
import { scaffoldHook, warnMissingProgram } from "./add.ts";
import { carryOut } from "./carry_out.ts";
import { openScene } from "./scene.ts";
import type { INIT_OPTIONS } from "./verb.ts";

/** A second run changes nothing. Exit 1 when something of others stands in the way. */
export async function run({ options, context }: Invocation<typeof INIT_OPTIONS>): Promise<number> {
  const scene = await openScene(options, context);
  const to = { dialect: scene.dialect, places: scene.places("project") };
  const skill = [{ path: "SKILL.md", bytes: new TextEncoder().encode(SKILL), executable: false }];
  const add: Artifact[] = [
    makeInstructions("agentcli", INSTRUCTIONS, { to }),
    await scaffoldHook("no-cloud-guard", { options: { set: [], event: [] }, to }),
    makeWorkflow("agentcli-check", WORKFLOW, { description: undefined, to }),
    makeSkill("local-model", skill, { to }),
  ];
  const code = await carryOut({ add, remove: [], keep: () => false, force: options.force }, scene, options);
  await warnMissingProgram(scene);
  if (!options.dryRun) await notice(context, "agentcli editor doctor shows that the guard blocks");
  return code;
}
