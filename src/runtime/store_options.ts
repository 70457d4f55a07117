/** What the command line says of stored sessions, checked before anything is opened. */
import { AgentcliError } from "../errors.ts";

/** What the command line says of stored sessions. */
export interface StoreOptions {
  resume?: string | undefined;
  continue: boolean;
  forkSession: boolean;
  sessionId?: string | undefined;
  noSessionPersistence: boolean;
}

/** The session to go on with, as `findSession` takes it; undefined for a new one. */
export function sessionToGoOn({ resume, continue: last }: StoreOptions): string | undefined {
  return resume ?? (last ? "latest" : undefined);
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The id that events name until a session is open: the one that it will have where the options say it, else a new one. */
export function eventSessionId({ sessionId, resume, forkSession }: StoreOptions): string {
  const named = sessionId ?? (forkSession ? undefined : resume);
  return named !== undefined && UUID.test(named) ? named.toLowerCase() : crypto.randomUUID();
}

/** Throws `usage` for options that do not go together. */
export function checkStoreOptions(options: StoreOptions): void {
  const { resume, sessionId, forkSession: fork } = options;
  if (sessionId !== undefined && !UUID.test(sessionId)) {
    throw new AgentcliError("usage", "--session-id is not a UUID", { hint: "leave it out to have one made" });
  }
  if (resume !== undefined && options.continue) {
    throw new AgentcliError("usage", "--resume and --continue name two sessions", { hint: "give one of them" });
  }
  const goesOn = sessionToGoOn(options) !== undefined;
  if (fork && !goesOn) {
    throw new AgentcliError("usage", "--fork-session needs --resume or --continue");
  }
  if (sessionId !== undefined && goesOn && !fork && sessionId.toLowerCase() !== resume?.toLowerCase()) {
    throw new AgentcliError("usage", "--session-id names a new session, --resume or --continue an old one", {
      hint: "add --fork-session to go on in a copy of that id",
    });
  }
}
