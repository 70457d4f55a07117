/** Takes the markers of the project as they stand now: the one way to loosen what the home remembers. */
import { findMarkers } from "../../boundary/policy/marker.ts";
import { ProtectedSet } from "../../boundary/policy/protected.ts";
import { describeRule, type ProtectionRule } from "../../boundary/policy/protection_rule.ts";
import { isWithin, relativeTo, resolve } from "../../platform/path.ts";
import { AgentcliError } from "../../errors.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { confirm } from "../../terminal/prompt.ts";
import { notice } from "../say.ts";
import type { Invocation } from "../verb.ts";
import { openScene, ruleJson, type Scene, warnOfMarkers } from "./scene.ts";

/** What would change. */
interface Difference {
  /** Rules that no marker has any longer. */
  gone: ProtectionRule[];
  /** `local-endpoints:` without an effect. */
  endpoints: string[];
  /** Files that hold protected content, absolute paths. */
  derived: string[];
  replaced: boolean;
}

/** Exit 1 when the person at the terminal said no. With paths only these files are released. */
export async function run({ arguments: words, context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const scene = await openScene(context, { create: true });
  const { root, cwd, record } = scene;
  if (record === null) throw new AgentcliError("internal", "a project that is recorded has no record");
  if (record.problem !== null) throw record.problem;
  const found = differenceOf(scene);
  const named = words.map((word) => resolve(cwd, word));
  const stranger = named.find((path) => !found.derived.includes(path));
  if (stranger !== undefined) {
    throw new AgentcliError("usage", `${clean(stranger)} is not recorded as a file that holds protected content`, {
      hint: "agentcli secrets list names those that are; without a path all that the markers say is taken",
    });
  }
  const change = named.length === 0 ? found : { gone: [], endpoints: [], derived: named, replaced: false };
  const json = () => ({
    root,
    rules: change.gone.map((rule) => ruleJson(rule, root)),
    local_endpoints: change.endpoints,
    released: change.derived,
    replaced: change.replaced,
  });
  if (change.gone.length + change.endpoints.length + change.derived.length === 0 && !change.replaced) {
    if (globals.json) await io.stdout.write(jsonText({ ...json(), trusted: false }));
    else await notice(context, "nothing is left to trust: the project is as it is remembered");
    return 0;
  }
  if (!globals.json) await io.stderr.write(textOf(change, root));
  if (!globals.yes && !await confirm(io, "Trust the project as it is now?")) {
    await notice(context, "nothing changed");
    return 1;
  }
  if (named.length > 0) await record.releaseDerived(named);
  else {
    const now = new ProtectedSet([root]);
    now.start();
    void now.any;
    await record.trust({
      seen: now.seen,
      endpoints: findMarkers(root).localEndpoints,
      confirmed: change.endpoints,
    });
  }
  if (globals.json) await io.stdout.write(jsonText({ ...json(), trusted: true }));
  else await io.stdout.write(`trusted: ${clean(root)}\n`);
  await warnOfMarkers({ ...scene, notices: [] }, context);
  return 0;
}

function differenceOf({ root, protection, markers, record }: Scene): Difference {
  // Markers below the root are met by a walk.
  void protection.any;
  const own = record?.own ?? null;
  const isOwn = ({ marker, tier, pattern }: ProtectionRule) =>
    own?.markers.some(({ path, lines }) =>
      path === marker && lines.some((line) => line.tier === tier && line.pattern === pattern)
    ) === true;
  const standing = findMarkers(root);
  return {
    gone: protection.rules.filter((rule) => rule.remembered === true && isOwn(rule)),
    endpoints: [...new Set(standing.localEndpoints)].filter((value) => !markers.localEndpoints.includes(value)),
    derived: (own?.derived ?? []).map(({ path }) => path),
    replaced: record?.replaced === true,
  };
}

function textOf({ gone, endpoints, derived, replaced }: Difference, root: string): string {
  const shown = (path: string) => isWithin(root, path) ? relativeTo(root, path) : path;
  const part = (title: string, lines: readonly string[]) =>
    lines.length === 0 ? "" : `${title}\n${lines.map((line) => `  ${clean(line)}\n`).join("")}`;
  return part("no longer protected, since no marker says so any more:", gone.map((rule) => describeRule(rule, root))) +
    part("counts as local, and may get what is protected here:", endpoints) +
    part("open again, though they hold protected content:", derived.map(shown)) +
    (replaced ? `another directory than before: ${clean(root)}\n` : "");
}
