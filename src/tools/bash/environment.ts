/** What a command gets of the environment: everything but keys and what makes a runtime write its insides elsewhere. */
import { isCopyingVariable, isSecretVariable } from "../../boundary/policy/leaky_environment.ts";

/** What every command finds set: nobody is there to page or to answer. */
export const SET: Readonly<Record<string, string>> = {
  TERM: "dumb",
  GIT_TERMINAL_PROMPT: "0",
  GIT_PAGER: "cat",
  PAGER: "cat",
};

/** The variables of a child process, from ours. `secret` are the names that hold resolved keys. */
export function childEnvironment(
  environment: Readonly<Record<string, string>>,
  secret: readonly string[],
): Record<string, string> {
  const hidden = new Set(secret.map((name) => name.toUpperCase()));
  const kept = Object.entries(environment).filter(([name]) =>
    !hidden.has(name.toUpperCase()) && !isSecretVariable(name) && !isCopyingVariable(name)
  );
  return { ...Object.fromEntries(kept), ...SET };
}
