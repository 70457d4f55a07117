/** Why a file is not attached. */
import type { Refusal } from "../boundary/workspace/workspace.ts";
import { AgentcliError, type ErrorDetails } from "../errors.ts";

/** What to do where the reason does not say it. */
const NEXT: Partial<Record<Refusal["refused"], ErrorDetails>> = {
  absent: { hint: "paths are taken from the working directory (-C), then from the project's root" },
  not_a_file: { hint: "attach its files one by one, or name it in the prompt: the model can list it" },
};

/** The error for a file that cannot be sent; `reason` is a clause. */
export function cannotAttach(file: string, reason: string, details: ErrorDetails = {}): AgentcliError {
  return new AgentcliError("usage", `cannot attach ${file}: ${reason}`, details);
}

/** The error for a file that the workspace does not give out. */
export function mayNotAttach(file: string, { refused, message, forUser }: Refusal): AgentcliError {
  if (refused !== "protected") return cannotAttach(file, message, NEXT[refused] ?? {});
  return new AgentcliError("policy_refused", `cannot attach ${file}: ${forUser?.message ?? message}`, forUser);
}
