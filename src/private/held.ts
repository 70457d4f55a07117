/**
 * Answers in text, which wait for the user: each is a file of the home that a built-in rule protects, since a project
 * can have git add what is in it, and an entry that says what the user decided. Only what the user released goes to
 * clients.
 */
import { byteLength } from "../platform/text.ts";
import { HELD_DIRECTORY } from "../boundary/policy/protection_rule.ts";
import { AgentcliError } from "../errors.ts";
import { sha256 } from "../platform/digest.ts";
import type { Home } from "../platform/home.ts";
import { appendLines, changeState } from "../platform/journal.ts";
import type { Clock } from "../platform/io.ts";
import { placeOf } from "./facts.ts";
import { fieldsOf, isRecord, membersOf, parseJson } from "../platform/record.ts";
import { normalized } from "../platform/text.ts";

const FILE = "private/held.json";
/** Answers of one project that may wait. */
const MOST_WAITING = 100;
/** Characters of the longest text. */
const TEXT_LIMIT = 256 * 1024;

function fileOf(id: string): string {
  return `${HELD_DIRECTORY}/${id}.md`;
}

/** One answer that waited or waits. */
interface HeldAnswer {
  id: string;
  /** Real path of the project when it was asked. */
  root: string;
  /** From `placeOf`; absent in answers of earlier versions, which belong to no project. */
  place?: string;
  /** In the client's own words. */
  question: string;
  client: string;
  /** Milliseconds since 1970. */
  at: number;
  state: "waiting" | "kept" | "released";
  /** Exactly the text that the user released. */
  released?: string;
}

interface State {
  last: number;
  answers: HeldAnswer[];
}

/** The held answers of one project. */
export class HeldAnswers {
  readonly #home: Home;
  readonly #root: string;
  readonly #place: string;
  readonly #clock: Pick<Clock, "now">;

  constructor(home: Home, { root, clock }: { root: string; clock: Pick<Clock, "now"> }) {
    this.#home = home;
    this.#root = root;
    this.#place = placeOf(root);
    this.#clock = clock;
  }

  /** Returns the answers of the project, oldest first. */
  async all(): Promise<HeldAnswer[]> {
    return (await this.#read()).answers.filter(({ place }) => place === this.#place);
  }

  /** Returns the ids of those that wait. */
  async waiting(): Promise<string[]> {
    return (await this.all()).filter(({ state }) => state === "waiting").map(({ id }) => id);
  }

  async find(id: string): Promise<HeldAnswer | null> {
    return (await this.all()).find((answer) => answer.id === id) ?? null;
  }

  /** Makes room for an answer before anything is asked; null where too many wait. */
  async begin({ question, client }: Pick<HeldAnswer, "question" | "client">): Promise<string | null> {
    return await this.#change((state) => {
      const own = state.answers.filter(({ place }) => place === this.#place);
      if (own.filter((answer) => answer.state === "waiting").length >= MOST_WAITING) return null;
      const id = `r-${++state.last}`;
      state.answers.push({
        id,
        root: this.#root,
        place: this.#place,
        question,
        client,
        at: this.#clock.now(),
        state: "waiting",
      });
      return id;
    });
  }

  /** Writes the text of an answer, for the owner alone. */
  async write(id: string, text: string): Promise<void> {
    await this.#home.write(fileOf(id), text.slice(0, TEXT_LIMIT));
  }

  /**
   * Returns the text of an answer that waits or was kept, without invisible characters. Throws `usage` where there is
   * none.
   */
  async text(id: string): Promise<string> {
    const text = await this.#home.read(fileOf(id));
    if (text !== null) return visibleText(text);
    const path = this.#home.file(fileOf(id));
    throw new AgentcliError("usage", `there is no text of ${id}: it is still being written, or ${path} was removed`);
  }

  /** Releases exactly this text, once: it is logged first. Throws `usage` for an answer that does not wait. */
  async release(id: string, text: string, { isWhole }: { isWhole: boolean }): Promise<void> {
    const answer = await this.waitingOne(id);
    const bytes = byteLength(text);
    const { root: project, client } = answer;
    const entry = { what: "released", id, project, asked_by: client, bytes, sha256: await sha256(text) } as const;
    await logRelease(this.#home, entry, { now: this.#clock.now() });
    await this.#decide(id, { state: "released", released: text });
    if (isWhole) await this.#home.remove(fileOf(id));
  }

  /** Keeps an answer from clients for good. Throws as {@link release} does. */
  async keep(id: string): Promise<void> {
    await this.waitingOne(id);
    await this.#decide(id, { state: "kept" });
  }

  /** Returns an answer that waits. Throws `usage` for any other. */
  async waitingOne(id: string): Promise<HeldAnswer> {
    const answer = await this.find(id);
    if (answer?.state === "waiting") return answer;
    const why = answer === null
      ? `no answer of this project has the id ${id.slice(0, 20)}`
      : `${id} was ${answer.state} already`;
    throw new AgentcliError("usage", why, { hint: "agentcli mcp pending" });
  }

  async #decide(id: string, decision: Pick<HeldAnswer, "state" | "released">): Promise<void> {
    await this.#change(({ answers }) => {
      const answer = answers.find((one) => one.id === id && one.place === this.#place && one.state === "waiting");
      if (answer !== undefined) Object.assign(answer, decision);
    });
  }

  async #change<T>(work: (state: State) => T): Promise<T> {
    return await changeState(this.#home, FILE, { read: () => this.#read(), work });
  }

  async #read(): Promise<State> {
    const text = await this.#home.read(FILE);
    const state = text === null ? { last: 0, answers: [] } : parseJson(text);
    const isAnswer = (one: unknown) => isRecord(one) && typeof one.id === "string" && typeof one.root === "string";
    const { last, answers } = fieldsOf(state);
    if (Number.isInteger(last) && Array.isArray(answers) && membersOf(answers).every(isAnswer)) return state as State;
    throw new AgentcliError("home_unusable", `${this.#home.file(FILE)} does not hold the answers of mcp serve`, {
      hint: `remove it; the texts stay in ${this.#home.file(HELD_DIRECTORY)}`,
    });
  }
}

/** Control, format and ignorable characters, which have no width; below, those that look like a space. */
const UNSEEN = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cs}]|(?![\n\t])\p{Cc}/gu;
const BLANK = /[\t\p{Zs}\u2800]/gu;

/** Returns a text as it is seen: a person releases what they were shown. */
function visibleText(text: string): string {
  const plain = text.replace(/\r\n?|[\p{Zl}\p{Zp}]/gu, "\n").replace(UNSEEN, "").replace(BLANK, " ");
  return normalized(plain, "NFC").replace(UNSEEN, "").replace(/(?<! ) +$/gm, "").trimEnd();
}

/** The log of what the user released, in the home: never the content. */
const RELEASED = "released.jsonl";

/** One entry. Texts of clients in it are their own words. */
type LogEntry =
  | { what: "released"; id: string; project: string; asked_by: string; bytes: number; sha256: string }
  | { what: "bits added"; bits: number }
  | { what: "changes of open files allowed once"; project: string }
  | { what: "values allowed once"; project: string };

/** Writes an entry; it is on the disk when it returns. */
export async function logRelease(home: Home, entry: LogEntry, { now }: { now: number }): Promise<void> {
  const line = JSON.stringify({ time: new Date(now).toISOString(), ...entry }) + "\n";
  await appendLines(home, { name: RELEASED, lines: line });
}
