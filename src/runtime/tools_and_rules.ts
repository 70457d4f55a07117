/** What a model may use: the tools that it is offered, and the rules that its calls are judged by. */
import type { SessionPolicy } from "../agent/session.ts";
import type { Configuration, ModelEntry } from "../config/types.ts";
import { type Profile, profileTools } from "../tools/profile.ts";
import { builtinTools, readRules, selectTools } from "../tools/registry.ts";
import type { Tool } from "../tools/tool.ts";
import { configuredRules } from "./permission_settings.ts";
import { splitRules } from "./rules.ts";
import type { SessionOptions } from "./session_options.ts";

/** The built-in tools that the options leave, in the form that suits the model. Throws `usage` for an unknown name. */
export function offeredTools(
  { tools, disallowedTools }: Pick<SessionOptions, "tools" | "disallowedTools">,
  { profile, entry, git }: { profile: Profile; entry: ModelEntry; git: boolean },
): Tool[] {
  const named = tools.length > 0;
  const selected = selectTools(builtinTools({ git }), {
    ...(named ? { only: splitRules(tools).filter((name) => name !== "none") } : {}),
    without: splitRules(disallowedTools).filter((rule) => /^\w+$/.test(rule)),
  });
  return profileTools(selected, { profile, edit: entry.edit ?? "replace", named });
}

/** The rules of the configuration and the options together. Throws `usage` for a malformed one. */
export function policyOf(
  options: Pick<SessionOptions, "permissionMode" | "allowedTools" | "disallowedTools">,
  configuration: Configuration,
): SessionPolicy {
  const configured = configuredRules(configuration);
  return {
    mode: options.permissionMode ?? "default",
    allow: [...configured.allow, ...readRules(splitRules(options.allowedTools))],
    deny: [...configured.deny, ...readRules(splitRules(options.disallowedTools))],
  };
}
