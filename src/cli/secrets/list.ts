/** Prints what is protected now and by which line, lines that cover nothing, and what looks as if one should cover it. */
import { doubtOf } from "../../boundary/policy/marker_text.ts";
import { describeRule, type ProtectionRule } from "../../boundary/policy/protection_rule.ts";
import { relativeTo } from "../../platform/path.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { table } from "../../terminal/table.ts";
import { notice, warn } from "../say.ts";
import type { Invocation } from "../verb.ts";
import { openScene, providerJson, providerText, reportOf, ruleJson, viewProvider, warnOfMarkers } from "./scene.ts";
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
  const { idle, namesakes, unjudged } = await reportOf(scene);
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
      absent: idle.map((rule) => ({ ...ruleJson(rule, root), doubt: doubtOf(rule.pattern) })),
      uncovered: namesakes,
      not_judged: unjudged,
      local_endpoints: markers.localEndpoints,
      provider: providerJson(provider),
    }));
  } else if (found.length + idle.length + namesakes.length === 0) {
    await notice(context, "nothing is protected here; mark a path with `agentcli secrets add <path>`");
    await io.stdout.write(providerText(provider) + "\n");
  } else {
    const rows = [
      ...found.map(({ name, rule }) => [clean(name), rule.tier, clean(describeRule(rule, root))]),
      ...idle.map((rule) => ["(nothing yet)", rule.tier, clean(doubted(rule, root))]),
      ...namesakes.map((
        path,
      ) => [clean(relativeTo(root, path)), "open", "no line; another one of that name is protected"]),
    ];
    const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
    await io.stdout.write(table([["PATH", "TIER", "BY"], ...rows], { width }) + providerText(provider) + "\n");
  }
  for (const { directory, reason } of unjudged) {
    await warn(context, `${relativeTo(root, directory)}: ${reason}; commands do not see it`);
  }
  await warnOfMarkers(scene, context);
}

function doubted(rule: ProtectionRule, root: string): string {
  const doubt = doubtOf(rule.pattern);
  return describeRule(rule, root) + (doubt === null ? "" : ` (${doubt})`);
}
