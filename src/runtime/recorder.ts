/** Records a session in its transcript, and numbers its turns as that counts them. */
import type { Session } from "../agent/session.ts";
import type { TurnListener } from "../protocol/turn_event.ts";
import type { ItemFacts, Transcript } from "../session/transcript.ts";
import { isPrompt, releaseIn, type SessionItem } from "../session/item.ts";

/** The transcript of one session, fed by the events of its turns. */
export interface Recorder {
  before(listener: TurnListener): TurnListener;
  /** Brings the transcript to what the session holds now. */
  settle(): Promise<void>;
  /** Names the session; false where it is not stored. */
  rename(title: string): Promise<boolean>;
}

/** A recorder; without a transcript it passes everything on. */
export function createRecorder(session: Session, transcript: Transcript | null): Recorder {
  if (transcript === null) {
    return {
      before: (listener) => listener,
      settle: () => Promise.resolve(),
      rename: () => Promise.resolve(false),
    };
  }
  let noted = false;
  let failed: { error: unknown } | null = null;
  const record = async (facts?: ItemFacts) => {
    if (failed !== null) throw failed.error;
    if (releaseIn(session.items) !== undefined) return;
    await transcript.record(session.items, facts);
  };
  const keepContext = () =>
    transcript.setContext({
      system: { text: session.system.text, label: session.system.label, files: session.system.files },
      tools: session.schemas,
      toolProtocol: session.context.toolProtocol,
    });
  return {
    before: (listener) => (event) => {
      switch (event.kind) {
        case "start":
          keepContext();
          return listener(event);
        case "sent":
          // The request does not wait for the disk; the first thing that the client is told of the response does.
          record().catch((error) => failed = { error });
          return listener(event);
        case "response": {
          const { provider, entry } = session.model;
          const facts = { usage: event.usage, stopReason: event.stopReason, model: entry.id, provider };
          const note = noted ? null : profileNote(session);
          noted = true;
          return record(facts).then(() => note === null ? undefined : transcript.note(note)).then(() =>
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
      const isStored = releaseIn(session.items) === undefined;
      if (isStored) await transcript.rename(title);
      return isStored;
    },
  };
}

/** How requests are made, as one line of the transcript; null where nothing is added to them. */
function profileNote({ profile: { rows } }: Session): Record<string, string> | null {
  if (rows.length === 0) return null;
  return Object.fromEntries(rows.map(({ name, value, why }) => [name.replace(" ", "_"), `${value} (${why})`]));
}

/** The numbers of turns, by which changes to files are kept. Each prompt keeps the one that it got first. */
export interface TurnNumbers {
  current(): number;
  /** Undefined for a prompt of a turn that was not numbered. */
  of(prompt: SessionItem): number | undefined;
  /** Turns that the transcript has counted. */
  readonly stored: number;
  /** Takes over what is known of prompts. */
  know(prompts: Iterable<readonly [SessionItem, number | null]>): void;
}

/** Numbers the turns of a session as its transcript counts them; without one, by a number that grows. */
export function createTurnNumbers(
  { items, context }: Pick<Session, "items" | "context">,
  { transcript }: { transcript: Pick<Transcript, "turns"> | null },
): TurnNumbers {
  const numbers = new Map<SessionItem, number>();
  const next = () => {
    if (transcript === null) return context.removed + items.findLastIndex(isPrompt) + 1;
    // The transcript counts those that were summarized, too, but none after a turn that may not be stored.
    return Math.max(transcript.turns, items.filter(isPrompt).length);
  };
  return {
    current() {
      const prompt = items.findLast(isPrompt);
      if (prompt === undefined) return next();
      const number = numbers.get(prompt) ?? next();
      numbers.set(prompt, number);
      return number;
    },
    of: (prompt) => numbers.get(prompt),
    get stored() {
      return transcript?.turns ?? 0;
    },
    know(prompts) {
      for (const [prompt, number] of prompts) if (number !== null) numbers.set(prompt, number);
    },
  };
}
