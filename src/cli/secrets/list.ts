/** Prints what is protected now, by which line, and the lines that cover nothing yet. */
import { describeRule } from "../../boundary/policy/protection_rule.ts";
import { relativeTo } from "../../platform/path.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { table } from "../../terminal/table.ts";
import { notice } from "../say.ts";
import type { Invocation } from "../verb.ts";
import { openScene, providerJson, providerText, ruleJson, viewProvider, warnOfMarkers } from "./scene.ts";
import type { SECRETS_OPTIONS } from "./verb.ts";

/** Runs the verb. Walks the project; asks no server. */
export async function run({ options, context }: Invocation<typeof SECRETS_OPTIONS>): Promise<void> {
  const { io, globals } = context;
  const scene = await openScene(context);
  const { root, protection, markers } = scene;
  const { files, directories } = await protection.hidden();
  const found = [
    ...directories.map((path) => ({ path, name: `${relativeTo(root, path)}/` })),
    ...files.map((path) => ({ path, name: relativeTo(root, path) })),
  ].flatMap(({ path, name }) => {
    const rule = protection.rule(path);
    return rule === null ? [] : [{ path, name, rule }];
  }).sort((one, other) => one.path < other.path ? -1 : 1);
  const used = new Set(found.map(({ rule }) => describeRule(rule, root)));
  // A marker that cannot be used covers everything: which of the lines would cover what is not known.
  const idle = protection.damaged !== null
    ? []
    : protection.rules.filter((rule) => !used.has(describeRule(rule, root)));
  const provider = await viewProvider(options.model, { context, markers });
  if (globals.json) {
    await io.stdout.write(jsonText({
      root,
      markers: protection.markers,
      protected: found.map(({ path, rule }) => ({
        path,
        kind: directories.includes(path) ? "directory" : "file",
        rule: ruleJson(rule, root),
      })),
      absent: idle.map((rule) => ruleJson(rule, root)),
      local_endpoints: markers.localEndpoints,
      provider: providerJson(provider),
    }));
  } else if (found.length + idle.length === 0) {
    await notice(context, "nothing is protected here; mark a path with `agentcli secrets add <path>`");
    await io.stdout.write(providerText(provider) + "\n");
  } else {
    const rows = [
      ...found.map(({ name, rule }) => [clean(name), rule.tier, clean(describeRule(rule, root))]),
      ...idle.map((rule) => ["(nothing yet)", rule.tier, clean(describeRule(rule, root))]),
    ];
    const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
    await io.stdout.write(table([["PATH", "TIER", "BY"], ...rows], { width }) + providerText(provider) + "\n");
  }
  await warnOfMarkers(scene, context);
}
