/** Returns the tools that a model is offered, and the permission rules of its tool calls. */
import type { Configuration, ModelEntry } from "../config/types.ts";
import { AgentcliError } from "../errors.ts";
import type { PermissionPolicy } from "../tools/permission.ts";
import type { Rule } from "../tools/permission_rule.ts";
import { builtinTools, type Profile, profileTools, readRules, selectTools, withBackground } from "../tools/registry.ts";
import type { Tool } from "../tools/tool.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import { lstatSync } from "../platform/files.ts";
import { join } from "../platform/path.ts";
import type { SessionOptions } from "./session_options.ts";

/** Parts `Edit,Bash(git log:*)` at commas outside of parentheses; several lists are joined. */
export function splitRules(texts: readonly string[]): string[] {
  const rules: string[] = [];
  for (const text of texts) {
    let depth = 0;
    let rule = "";
    for (const character of text) {
      if (character === "(") depth++;
      if (character === ")") depth--;
      if (character === "," && depth <= 0) {
        rules.push(rule);
        rule = "";
      } else rule += character;
    }
    rules.push(rule);
  }
  return rules.map((rule) => rule.trim()).filter((rule) => rule !== "");
}

/**
 * The rules of one list of the file. One that cannot be used is `config_invalid` with file, key path and what is wrong
 * with it.
 */
async function configuredRules(
  list: "allow" | "deny",
  { path, permissions }: Pick<Configuration, "path" | "permissions">,
): Promise<Rule[]> {
  const rules: Rule[] = [];
  for (const [index, text] of permissions[list].entries()) {
    try {
      rules.push(...await readRules([text]));
    } catch (error) {
      if (!(error instanceof AgentcliError)) throw error;
      throw new AgentcliError(
        "config_invalid",
        `${path}: permissions.${list}[${index}]: ${error.message}`,
        error.hint === undefined ? {} : { hint: error.hint },
      );
    }
  }
  return rules;
}

/** Smallest window, in tokens, in which searches and background commands pay for their declarations. */
const ROOMY_WINDOW = 16_000;

/** The built-in tools that the options leave, in the form that suits the model. Throws `usage` for an unknown name. */
export function offeredTools(
  { tools, disallowedTools }: Pick<SessionOptions, "tools" | "disallowedTools">,
  { window, profile, entry, git }: { window: number | undefined; profile: Profile; entry: ModelEntry; git: boolean },
): Tool[] {
  const named = tools.length > 0;
  const roomy = named || (window ?? 0) >= ROOMY_WINDOW;
  const selected = selectTools(builtinTools({ git, explore: roomy, background: roomy }), {
    ...(named ? { only: splitRules(tools).filter((name) => name !== "none") } : {}),
    without: splitRules(disallowedTools).filter((rule) => /^\w+$/.test(rule)),
  });
  return withBackground(profileTools(selected, { profile, edit: entry.edit ?? "replace", named }));
}

/** The rules of the configuration, the project and the options together. Throws `usage` for a malformed one. */
export async function policyOf(
  options: Pick<SessionOptions, "permissionMode" | "allowedTools" | "disallowedTools">,
  { configuration, projectRules }: { configuration: Configuration; projectRules: readonly string[] },
): Promise<PermissionPolicy> {
  const [allow, deny] = [await configuredRules("allow", configuration), await configuredRules("deny", configuration)];
  const given = await readRules([...projectRules, ...splitRules(options.allowedTools)]);
  return {
    mode: options.permissionMode ?? "default",
    allow: [...allow, ...given],
    deny: [...deny, ...await readRules(splitRules(options.disallowedTools))],
  };
}

/**
 * Whether the session gets the tool Git: the project has a marker and is a repository, so that commands may not see
 * `.git`. Only the whole history shows whether they really do not, and reading it must not hold up the first request.
 */
export function offersGit({ root, protection }: Pick<Workspace, "root" | "protection">): boolean {
  if (protection.markers.length === 0) return false;
  return lstatSync(join(root, ".git")) !== null;
}
