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

/** An answer. `input` replaces what the model gave. */
export type PermissionAnswer =
  | { behaviour: "allow"; input?: Record<string, unknown> }
  | { behaviour: "deny"; message: string; interrupt?: boolean };

/** Asks; null where nobody can answer. */
export type AskPermission = (question: PermissionQuestion, signal: AbortSignal) => Promise<PermissionAnswer | null>;
