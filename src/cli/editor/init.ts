/** Installs a small starting set. */
import { type Artifact, artifactId } from "../../editor/resources/artifact.ts";
import { type Installed, readLedger } from "../../editor/plan/ledger.ts";
import { type Destination, makeInstructions, makeSkill, makeWorkflow } from "../../editor/resources/make_artifact.ts";
import { scaffoldAsNow } from "../../editor/hooks/upgrade.ts";
import INSTRUCTIONS from "../../editor/starting_set/instructions.md" with { type: "text" };
import SKILL from "../../editor/starting_set/skill.md" with { type: "text" };
import WORKFLOW from "../../editor/starting_set/workflow.md" with { type: "text" };
import type { Invocation } from "../verb.ts";
import { notice } from "../output.ts";
import { scaffoldHook, warnMissingProgram } from "./add.ts";
import { carryOut } from "./carry_out.ts";
import { openScene, type Scene } from "./scene.ts";
import type { INIT_OPTIONS } from "./verb.ts";

/** A second run changes nothing. Exit 1 when something of others stands in the way. */
export async function run({ options, context }: Invocation<typeof INIT_OPTIONS>): Promise<number> {
  const scene = await openScene(options, context);
  const to = { dialect: scene.dialect, places: scene.places("project") };
  const skill = [{ path: "SKILL.md", bytes: new TextEncoder().encode(SKILL), executable: false }];
  const add: Artifact[] = [
    makeInstructions("agentcli", INSTRUCTIONS, { to }),
    await guardOf(scene, to),
    makeWorkflow("agentcli-check", WORKFLOW, { description: undefined, to }),
    makeSkill("local-model", skill, { to }),
  ];
  const code = await carryOut({ add, remove: [], keep: () => false, force: options.force }, scene, options);
  const hasGuard = await installedGuard(scene) !== undefined;
  if (hasGuard || options.dryRun) await warnMissingProgram(scene);
  if (hasGuard && !options.dryRun) await notice(context, "agentcli editor doctor shows that the guard blocks");
  return code;
}

async function installedGuard({ home, around, dialect }: Scene): Promise<Installed | undefined> {
  const { artifacts } = await readLedger(home);
  return artifacts.find((one) =>
    artifactId(one) === "hook:no-cloud-guard" && one.base === around.root && one.dialect === dialect.id
  );
}

/** The guard; one that is installed here already keeps its parameters and events. */
async function guardOf(scene: Scene, to: Destination): Promise<Artifact> {
  const installed = await installedGuard(scene);
  const renewed = installed === undefined ? null : await scaffoldAsNow(installed);
  return renewed ?? await scaffoldHook("no-cloud-guard", { options: { set: [], event: [] }, to });
}
