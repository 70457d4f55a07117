/** Says of each path whether it is protected, by which line, and what that means for the provider. */
import { describeRule, type ProtectionRule } from "../../boundary/protection_rule.ts";
import { lstat, realPath } from "../../platform/files.ts";
import { basename, dirname, join, normalise, resolve } from "../../platform/path.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import type { Invocation } from "../verb.ts";
import { openScene, providerJson, providerText, ruleJson, type Scene, viewProvider, warnOfMarkers } from "./scene.ts";
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
    checked.push({ word, path, rule: await ruleOf(path, scene) });
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
  return checked.every(({ rule }) => rule !== null) ? 0 : 1;
}

async function ruleOf(path: string, { protection }: Scene): Promise<ProtectionRule | null> {
  const real = await realOrNamed(path);
  const status = await lstat(real);
  const found = status?.kind === "file" ? protection.ruleOfFile(status, real) : protection.rule(real);
  return found ?? protection.rule(path);
}

async function realOrNamed(path: string): Promise<string> {
  const real = await realPath(path).catch(() => null);
  if (real !== null) return normalise(real);
  const up = dirname(path);
  return up === path ? path : join(await realOrNamed(up), basename(path));
}
