/** Records a session in its transcript. */
import type { Session } from "../agent/session.ts";
import type { TurnListener } from "../protocol/turn_event.ts";
import type { ItemFacts, Transcript } from "../session/transcript.ts";
import { releaseIn } from "../session/item.ts";

/** The transcript of one session, fed by the events of its turns. */
export interface Recorder {
  /** Whether anything is stored that can be resumed. */
  readonly hasStored: boolean;
  /** Returns a listener that records an event before `listener` hears it. */
  before(listener: TurnListener): TurnListener;
  /** Writes what the transcript lacks of the session. */
  settle(): Promise<void>;
  /** Names the session; false where it is not stored. */
  rename(title: string): Promise<boolean>;
}

/** Creates a recorder; without a transcript it only passes events on. */
export function createRecorder(session: Session, transcript: Transcript | null): Recorder {
  let noted = false;
  let failed: { error: unknown } | null = null;
  const record = async (facts?: ItemFacts) => {
    if (failed !== null) throw failed.error;
    const { isRefused } = session.context;
    if (releaseIn(session.items) === undefined) await transcript?.record(session.items, { ...facts, isRefused });
  };
  const keepContext = () =>
    transcript?.setContext({
      system: { text: session.system.text, label: session.system.label, files: session.system.files },
      tools: session.schemas,
      toolProtocol: session.context.toolProtocol,
    });
  return {
    get hasStored() {
      return transcript !== null && transcript.turns > 0;
    },
    before: (listener) =>
      transcript === null ? listener : (event) => {
        switch (event.kind) {
          case "start":
            keepContext();
            return listener(event);
          case "sent":
            // The request does not wait for the disk; the first event of the response does.
            record().catch((error) => failed = { error });
            return listener(event);
          case "response": {
            const { provider, entry } = session.model;
            const facts = { usage: event.usage, stopReason: event.stopReason, model: entry.id, provider };
            const note = noted ? null : profileNote(session);
            noted = true;
            return record(facts).then(() => note === null ? undefined : transcript?.note(note)).then(() =>
              listener(event)
            );
          }
          case "cache_invalidated":
            keepContext();
            return record().then(() => listener(event));
          case "tool_result":
          case "steered":
          case "compacted":
            return record().then(() => listener(event));
          default:
            return listener(event);
        }
      },
    settle: () => record(),
    rename: async (title) => {
      if (transcript === null || releaseIn(session.items) !== undefined) return false;
      await transcript.rename(title);
      return true;
    },
  };
}

/** Returns what the model's profile adds to requests, as one line of the transcript; null for nothing. */
function profileNote({ profile: { rows } }: Session): Record<string, string> | null {
  if (rows.length === 0) return null;
  return Object.fromEntries(rows.map(({ name, value, why }) => [name.replace(" ", "_"), `${value} (${why})`]));
}
