/** Marks paths as no-cloud in the marker of the project root, and opts hosts in. */
import { parseLocalEndpoint } from "../../boundary/policy/locality.ts";
import { findMarkers, MARKER_NAME } from "../../boundary/policy/marker.ts";
import { addToMarker, markerValue } from "./marker_edit.ts";
import { describeRule } from "../../boundary/policy/protection_rule.ts";
import { AgentcliError } from "../../errors.ts";
import { isWithin, join, relativeTo, resolve } from "../../platform/path.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import type { Invocation } from "../verb.ts";
import { openScene, type Scene, warnOfMarkers } from "./scene.ts";
import type { ADD_OPTIONS } from "./verb.ts";

/**
 * Writes nothing when a path lies outside of the project, or a host is none. What is covered already is said and not
 * written again.
 */
export async function run({ options, arguments: words, context }: Invocation<typeof ADD_OPTIONS>): Promise<void> {
  const { io, globals } = context;
  const hosts = options.localEndpoint;
  if (words.length + hosts.length === 0) {
    throw new AgentcliError("usage", "nothing to add", { hint: "name a path, or a host with --local-endpoint" });
  }
  const wrong = hosts.find((host) => parseLocalEndpoint(host) === null);
  if (wrong !== undefined) {
    throw new AgentcliError("usage", `${clean(wrong)} is no host`, { hint: "write host, host:port or [v6]:port" });
  }
  const scene = await openScene(context, { create: hosts.length > 0 });
  const { root, cwd, protection } = scene;
  const paths = words.map((word) => {
    const path = resolve(cwd, word);
    if (word === "" || !isWithin(root, path)) {
      throw new AgentcliError("usage", `${clean(word) || "an empty path"} is not in the project ${root}`, {
        hint: "a marker covers only what lies below it",
      });
    }
    return { word, path, value: markerValue(relativeTo(root, path)) };
  });
  const open = paths.filter(({ path }) => protection.damaged !== null || protection.rule(path) === null);
  const values = [...new Set(open.map(({ value }) => value))];
  if (values.length > 0) await addToMarker(root, values.map((value) => `no-cloud: ${value}`));
  await trustHosts(hosts, scene);
  protection.refresh();
  if (globals.json) {
    await io.stdout.write(
      jsonText({ marker: join(root, MARKER_NAME), added: values, local_endpoints: hosts }),
    );
  } else {
    for (const { word, path } of paths) {
      const rule = protection.rule(path);
      const said = open.some((one) => one.word === word) ? "added" : "was protected already";
      await io.stdout.write(`${clean(word)}: ${said} (${rule === null ? "" : clean(describeRule(rule, root))})\n`);
    }
    for (const host of hosts) await io.stdout.write(`${clean(host)}: counts as local here\n`);
  }
  await warnOfMarkers({ ...scene, notices: [] }, context);
}

async function trustHosts(hosts: readonly string[], { root, record }: Scene): Promise<void> {
  if (hosts.length === 0 || record === null) return;
  if (record.problem !== null) throw record.problem;
  const standing = findMarkers(root).localEndpoints;
  const missing = hosts.filter((host) => !standing.includes(host));
  if (missing.length > 0) await addToMarker(root, missing.map((host) => `local-endpoints: ${host}`));
  for (const host of hosts) await record.trustEndpoint(host);
}
