/** Marks paths as no-cloud in the marker of the project root. */
import { addToMarker, markerValue } from "../../boundary/policy/marker_edit.ts";
import { MARKER_NAME } from "../../boundary/policy/marker.ts";
import { describeRule } from "../../boundary/policy/protection_rule.ts";
import { AgentcliError } from "../../errors.ts";
import { realPath } from "../../platform/files.ts";
import { isWithin, join, normalize, relativeTo, resolve } from "../../platform/path.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import type { Invocation } from "../verb.ts";
import { openScene, warnOfMarkers } from "./scene.ts";

/** Writes nothing when a path lies outside of the project. What is covered already is said and not written again. */
export async function run({ arguments: words, context }: Invocation): Promise<void> {
  const { io, globals } = context;
  const scene = await openScene(context);
  const { root, protection } = scene;
  // The project root is a real path; the working directory may lead there through links.
  const cwd = normalize(await realPath(globals.cwd) ?? globals.cwd);
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
  if (values.length > 0) await addToMarker(root, values);
  protection.refresh();
  if (globals.json) {
    await io.stdout.write(jsonText({ marker: join(root, MARKER_NAME), added: values }));
  } else {
    for (const { word, path } of paths) {
      const rule = protection.rule(path);
      const said = open.some((one) => one.word === word) ? "added" : "was protected already";
      await io.stdout.write(`${clean(word)}: ${said} (${rule === null ? "" : clean(describeRule(rule, root))})\n`);
    }
  }
  await warnOfMarkers(scene, context);
}
