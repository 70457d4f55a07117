/** Removes what agentcli wrote; what was changed since is reported and stays. */
import { readLedger } from "../../editor/plan/ledger.ts";
import { AgentcliError } from "../../errors.ts";
import { nothingKnown, systemElsewhere } from "../../editor/plan/other_places.ts";
import { notice } from "../output.ts";
import type { Invocation } from "../verb.ts";
import { carryOut } from "./carry_out.ts";
import { openScene } from "./scene.ts";
import { selectInstalled } from "./selected.ts";
import type { REMOVE_OPTIONS } from "./verb.ts";

/** Exit 1 when something had to stay. */
export async function run(
  { options, arguments: words, context }: Invocation<typeof REMOVE_OPTIONS>,
): Promise<number> {
  if (options.all === words.length > 0) {
    throw new AgentcliError("usage", "name what to remove, or give --all", { hint: "see: agentcli editor list" });
  }
  const scene = await openScene(options, context);
  const { artifacts } = await readLedger(scene.home);
  const here = artifacts.filter((one) => scene.isHere(one) && (options.scope ?? one.scope) === one.scope);
  const remove = options.all ? here : selectInstalled(words, here);
  const code = await carryOut({ add: [], remove, keep: () => false, force: options.force }, scene, options);
  if (!options.all) return code;
  const system = (options.scope ?? "system") === "system"
    ? systemElsewhere({ artifacts }, { isHere: scene.isHere, verb: "remove --all" })
    : [];
  const project = (options.scope ?? "project") === "project"
    ? await nothingKnown({ artifacts }, scene.around.root)
    : [];
  for (const note of [...system, ...project]) await notice(context, `note: ${note}`);
  return code;
}
