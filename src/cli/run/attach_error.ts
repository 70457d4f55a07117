/** Why a file is not attached. */
import type { Refusal } from "../../boundary/workspace.ts";
import { AgentcliError } from "../../errors.ts";

/** The error for a file that cannot be sent; `reason` is a clause. */
export function cannotAttach(file: string, reason: string): AgentcliError {
  return new AgentcliError("usage", `cannot attach ${file}: ${reason}`);
}

/** The error for a file that the workspace does not give out. */
export function mayNotAttach(file: string, { refused, message }: Refusal): AgentcliError {
  return refused === "protected" ? new AgentcliError("policy_refused", message) : cannotAttach(file, message);
}
