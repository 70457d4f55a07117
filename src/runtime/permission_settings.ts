/** The permission rules of providers.yaml, for the verbs that use and change them. */
import type { Configuration } from "../config/types.ts";
import { AgentcliError } from "../errors.ts";
import type { Rule } from "../tools/permission.ts";
import { readRules } from "../tools/registry.ts";

/** The lists of rules. */
const RULE_LISTS = ["allow", "deny"] as const;

/** The rules of the file. One that cannot be used is `config_invalid` with file, key path and what is wrong with it. */
export function configuredRules(configuration: Pick<Configuration, "path" | "permissions">): Record<
  typeof RULE_LISTS[number],
  Rule[]
> {
  const read = (list: typeof RULE_LISTS[number]) =>
    configuration.permissions[list].flatMap((text, index) => {
      try {
        return readRules([text]);
      } catch (error) {
        if (!(error instanceof AgentcliError)) throw error;
        throw new AgentcliError(
          "config_invalid",
          `${configuration.path}: permissions.${list}[${index}]: ${error.message}`,
          error.hint === undefined ? {} : { hint: error.hint },
        );
      }
    });
  return { allow: read("allow"), deny: read("deny") };
}
