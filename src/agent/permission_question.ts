/** The question whether a call may run, and its answers. Who answers it is passed in: a person, a client, or nobody. */

/** What is asked. */
export interface PermissionQuestion {
  toolName: string;
  callId: string;
  input: Record<string, unknown>;
  /** The command or the path, as it will be used. */
  subject: string;
  /** Why it is asked. */
  reason: string;
}

/** An answer. `input` replaces what the model gave; `message` is for the model, `told` for the person who denied. */
export type PermissionAnswer =
  | { behavior: "allow"; input?: Record<string, unknown> }
  | { behavior: "deny"; message: string; told?: string; interrupt?: boolean };

/** The no of a person, with the words that the model shall hear; empty for none. */
export function deniedByPerson(words: string): PermissionAnswer {
  return words === ""
    ? { behavior: "deny", message: "The user denied this call.", told: "You said no." }
    : { behavior: "deny", message: `The user denied this call. They said: ${words}`, told: `You said no: ${words}` };
}

/** Asks; null where nobody can answer. */
export type AskPermission = (question: PermissionQuestion, signal: AbortSignal) => Promise<PermissionAnswer | null>;
