/**
 * The budget of the bits that reach clients: `private/budget.json` of the home. It is charged before a model is asked,
 * by the size of the set of answers, so that nothing that happens afterwards (a failure, no time left, a process that
 * is killed) reveals anything that was not paid for.
 *
 * There is one budget for everything protected, of all projects, files, rules and clients. A budget for each file would
 * begin again with a copy, a new name or another root, and both files of a shared value would pay for it.
 */
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";
import type { Clock } from "../platform/io.ts";
import { changeState } from "../platform/journal.ts";
import { fieldsOf, isRecord, membersOf, parseJson } from "../platform/record.ts";
import type { ClosedAnswer } from "./answer.ts";

const FILE = "private/budget.json";

/** The most that reaches clients in any 24 hours, in thousandths of a bit. */
const DAILY = 64_000;
const WINDOW_MS = 24 * 60 * 60 * 1000;
/**
 * That the model is gone reveals which earlier question took it along: one of fewer than two to this power, in bits.
 */
const MISSING = 8_000;

/** A question that was paid for. */
interface Entry {
  at: number;
  cost: number;
  /** Digest of the question, its place and its set. */
  key: string;
  /** Absent until there is one. `unknown` is not kept: it is asked again, and paid for again. */
  answer?: ClosedAnswer;
}

interface State {
  /** The latest time seen: setting the clock back refunds nothing. */
  latest: number;
  entries: Entry[];
  /** Added by the user, by hand. */
  added: { at: number; cost: number }[];
  /** Roots of projects where the next question may see values, as the user said. */
  values: string[];
  /** Roots of projects where the next task may change open files, as the user said. */
  changes: string[];
  /** A model was asked something after it was last missing. */
  asked: boolean;
}

/** A question as it is paid for. */
export interface Question {
  key: string;
  cost: number;
  /** The project, from `placeOf`. */
  place: string;
  /** It is asked again, and paid for again, though there is an answer. */
  again: boolean;
}

/** The state of a question before a model is asked. */
export type Looked =
  | { kind: "known"; answer: ClosedAnswer }
  | { kind: "over" }
  /** `values`: the user lets this one see values. */
  | { kind: "asked"; values: boolean };

/** The budget of a home. Each change locks the file: all clients and processes share it. */
export class Budget {
  readonly #home: Home;
  readonly #clock: Pick<Clock, "now">;

  constructor(home: Home, clock: Pick<Clock, "now">) {
    this.#home = home;
    this.#clock = clock;
  }

  /** Returns the thousandths of a bit that are left now. */
  async left(): Promise<number> {
    return leftOf(await this.#read());
  }

  /** Returns the state without paying. */
  async look(question: Question): Promise<Looked> {
    return lookIn(await this.#read(), question);
  }

  /** Pays for a question that {@link look} leaves to be asked; what it returns is the current budget. */
  async charge(question: Question): Promise<Looked> {
    return await this.#change((state) => {
      const looked = lookIn(state, question);
      if (looked.kind !== "asked") return looked;
      state.asked = true;
      takeBack(state.values, question.place);
      state.entries = state.entries.filter(({ key }) => key !== question.key).concat(
        // What an earlier answer cost stays on the account.
        state.entries.filter(({ key }) => key === question.key).map(({ at, cost }) => ({ at, cost, key: "" })),
        { at: state.latest, cost: question.cost, key: question.key },
      );
      return looked;
    });
  }

  /** Records that a model is asked something that costs nothing, and ends the user's permission for values. */
  async begin(place: string): Promise<void> {
    await this.#change((state) => {
      state.asked = true;
      takeBack(state.values, place);
    });
  }

  /** Returns what the user permits for the next question or task of a project. */
  async allowed(place: string): Promise<{ values: boolean; changes: boolean }> {
    const { values, changes } = await this.#read();
    return { values: values.includes(place), changes: changes.includes(place) };
  }

  /** Pays for a task, and ends the user's permission for it; false where it is over the budget. */
  async spend({ cost, place }: Pick<Question, "cost" | "place">): Promise<boolean> {
    return await this.#change((state) => {
      if (leftOf(state) < cost) return false;
      state.asked = true;
      for (const places of [state.values, state.changes]) takeBack(places, place);
      state.entries.push({ at: state.latest, cost, key: "" });
      return true;
    });
  }

  /**
   * Returns whether nothing may be asked now, since a missing model could not be paid for; by the account alone, so
   * that this refusal reveals nothing of the model.
   */
  async isOver(): Promise<boolean> {
    const state = await this.#read();
    return state.asked && leftOf(state) < MISSING;
  }

  /** Pays for saying that there is no model, where an earlier question may have ended it; null as {@link spend}. */
  async miss(): Promise<number | null> {
    return await this.#change((state) => {
      if (!state.asked) return 0;
      if (leftOf(state) < MISSING) return null;
      state.asked = false;
      state.entries.push({ at: state.latest, cost: MISSING, key: "" });
      return MISSING;
    });
  }

  /** Keeps the answer to a question that was paid for. */
  async keep(key: string, answer: ClosedAnswer): Promise<void> {
    await this.#change(({ entries }) => {
      const entry = entries.find((one) => one.key === key);
      if (entry !== undefined) entry.answer = answer;
    });
  }

  /** Adds to the budget for the next 24 hours, by the user's word. */
  async add(cost: number): Promise<void> {
    await this.#change(({ added, latest }) => void added.push({ at: latest, cost }));
  }

  /** Lets the next question of a project see values, by the user's word. */
  async showValues(place: string): Promise<void> {
    await this.#change(({ values }) => void values.push(place));
  }

  /** Lets the next task of a project change open files, by the user's word. */
  async allowChanges(place: string): Promise<void> {
    await this.#change(({ changes }) => void changes.push(place));
  }

  async #change<T>(work: (state: State) => T): Promise<T> {
    return await changeState(this.#home, FILE, { read: () => this.#read(), work });
  }

  /** Drops everything older than the window. */
  async #read(): Promise<State> {
    const text = await this.#home.read(FILE);
    const state = text === null
      ? { latest: 0, entries: [], added: [], values: [], changes: [], asked: false }
      : stateIn(text);
    if (state === null) {
      throw new AgentcliError("home_unusable", `${this.#home.file(FILE)} does not hold the bits that were answered`, {
        hint: "nothing is answered until you remove it; what was answered today is forgotten then",
      });
    }
    const latest = Math.max(state.latest, this.#clock.now());
    const isCurrent = ({ at }: { at: number }) => at > latest - WINDOW_MS;
    return { ...state, latest, entries: state.entries.filter(isCurrent), added: state.added.filter(isCurrent) };
  }
}

/** Ends one permission of the user for a project. */
function takeBack(places: string[], place: string): void {
  if (places.includes(place)) places.splice(places.indexOf(place), 1);
}

function sum(costs: readonly { cost: number }[]): number {
  return costs.reduce((total, { cost }) => total + cost, 0);
}

function leftOf({ entries, added }: State): number {
  return Math.max(0, DAILY + sum(added) - sum(entries));
}

function lookIn(state: State, { key, cost, place, again }: Question): Looked {
  const answer = state.entries.find((entry) => entry.key === key)?.answer;
  if (answer !== undefined && !again) return { kind: "known", answer };
  if (leftOf(state) < cost) return { kind: "over" };
  return { kind: "asked", values: state.values.includes(place) };
}

/** Null for a text of another form: nothing is answered then. */
function stateIn(text: string): State | null {
  const value = parseJson(text);
  if (!isRecord(value)) return null;
  const isPaid = (one: unknown) => {
    const { at, cost } = fieldsOf(one);
    return Number.isFinite(at) && Number.isFinite(cost) && Number(cost) >= 0;
  };
  const { latest, entries, added, values, changes, asked } = value;
  const lists = [entries, added, values, changes];
  if (!Number.isFinite(latest) || typeof asked !== "boolean" || !lists.every(Array.isArray)) return null;
  const isWhole = [...membersOf(entries), ...membersOf(added)].every(isPaid) &&
    membersOf(entries).every((entry) => typeof fieldsOf(entry).key === "string") &&
    [...membersOf(values), ...membersOf(changes)].every((place) => typeof place === "string");
  return isWhole ? value as unknown as State : null;
}
