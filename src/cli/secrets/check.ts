/** Says of each path whether it is protected, by which line, and what that means for the provider. */
import { describeReport } from "../../runtime/marker_report.ts";
import { describeRule, type ProtectionRule } from "../../boundary/policy/protection_rule.ts";
import { realOrNamed, walkedPath } from "../../boundary/real_path.ts";
import { lstat } from "../../platform/files.ts";
import { resolve } from "../../platform/path.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { warn } from "../say.ts";
import type { Invocation } from "../verb.ts";
import {
  openScene,
  providerJson,
  providerText,
  reportOf,
  ruleJson,
  type Scene,
  viewProvider,
  warnOfMarkers,
} from "./scene.ts";
import type { SECRETS_OPTIONS } from "./verb.ts";

/** Exit 1 when one of the paths is not protected. */
export async function run(
  { options, arguments: words, context }: Invocation<typeof SECRETS_OPTIONS>,
): Promise<number> {
  const { io, globals } = context;
  const scene = await openScene(context);
  const checked = [];
  for (const word of words) {
    const path = resolve(globals.cwd, word);
    // The system follows a link before it goes up from it; a tool may take `..` as text.
    const walked = walkedPath(word, globals.cwd);
    const rule = await ruleOf(path, scene) ?? (walked === null ? null : await ruleOf(walked, scene));
    checked.push({ word, path, rule });
  }
  const provider = await viewProvider(options.model, { context, markers: scene.markers });
  if (globals.json) {
    await io.stdout.write(jsonText({
      paths: checked.map(({ path, rule }) => ({
        path,
        protected: rule !== null,
        rule: rule === null ? null : ruleJson(rule, scene.root),
      })),
      provider: providerJson(provider),
    }));
  } else {
    const lines = checked.map(({ word, rule }) =>
      rule === null
        ? `${clean(word)}: not protected\n`
        : `${clean(word)}: protected (${clean(describeRule(rule, scene.root))})\n`
    );
    await io.stdout.write(lines.join("") + providerText(provider) + "\n");
  }
  await warnOfMarkers(scene, context);
  for (const line of describeReport(await reportOf(scene), scene.root)) await warn(context, line);
  return checked.every(({ rule }) => rule !== null) ? 0 : 1;
}

async function ruleOf(path: string, { protection }: Scene): Promise<ProtectionRule | null> {
  const real = realOrNamed(path);
  const status = await lstat(real);
  const found = status?.kind === "file" ? protection.ruleOfFile(status, real) : protection.rule(real);
  return found ?? protection.rule(path);
}
