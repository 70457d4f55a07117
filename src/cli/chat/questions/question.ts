/**
 * A question whether a call may run, as a pure function: state and key in, state out. Nothing is chosen beforehand, and
 * anything that may begin words goes to the input line.
 */
import { clean } from "../../../terminal/clean.ts";
import type { Key } from "../../../terminal/keys.ts";
import type { Choice } from "../../../terminal/picker.ts";
import { type Row, row, span } from "../../../terminal/style.ts";
import { fit } from "../../../terminal/table.ts";
import { wrap } from "../../../terminal/wrap.ts";

export interface Question {
  /** The call that it is about; absent for none. */
  call?: { name: string; subject: string };
  title: string;
  /** Everything that the call would do, in rows of a width. */
  body(width: number): Row[];
  /** Each with its letter; a `confirm` has to be confirmed with another yes. */
  choices: readonly (Choice & { key: string; confirm?: string })[];
}

/** The answer: a letter of a choice, or words to do something else. */
export type QuestionAnswer = { kind: "key"; key: string } | { kind: "words"; text: string };

export interface QuestionState {
  question: Question;
  /** The choice that Enter takes; null for none. */
  selected: number | null;
  /** The first row of the body that is shown. */
  offset: number;
  /** The choice that waits for its second key. */
  confirming: number | null;
  /** A letter that counts unless another key follows at once: then it began a word. */
  held: { letter: string; choice: number; confirms: "yes" | "no" | null } | null;
}

/** The result of a key. `line` is text for the input line; `passed` keys are for others. */
export type QuestionStep =
  | { kind: "open"; state: QuestionState }
  | { kind: "answered"; key: string }
  | { kind: "line"; text: string; state: QuestionState }
  | { kind: "passed"; state: QuestionState };

/** A question with nothing chosen. */
export function openQuestion(question: Question): QuestionState {
  return { question, selected: null, offset: 0, confirming: null, held: null };
}

export interface QuestionRoom {
  width: number;
  height: number;
}

/** One key while nothing is typed in the line. Pasted text is never an answer. */
export function answer(state: QuestionState, key: Key, room: QuestionRoom): QuestionStep {
  const { held } = state;
  const fresh: QuestionState = { ...state, held: null };
  if (held !== null && (key.kind !== "named" || key.name === "enter")) {
    return toLine(fresh, held.letter + (key.kind === "text" ? key.text : ""));
  }
  if (key.kind === "text") return letter(fresh, key.text);
  if (key.kind === "paste") return { kind: "passed", state: { ...fresh, selected: null, confirming: null } };
  return named(fresh, key.name, room);
}

/** Nothing followed the held letter: it is the answer. */
export function release(state: QuestionState): QuestionStep {
  const { held, question } = state;
  const choice = held === null ? undefined : question.choices[held.choice];
  if (held === null || choice === undefined) return { kind: "open", state };
  const fresh: QuestionState = { ...state, held: null, selected: held.choice };
  if (held.confirms === "no") return { kind: "open", state: setAside(state) };
  if (held.confirms === "yes" || choice.confirm === undefined) return { kind: "answered", key: choice.key };
  return { kind: "open", state: { ...fresh, confirming: held.choice } };
}

/** Returns the state once something is typed in the line: nothing is chosen anymore. */
export function setAside(state: QuestionState): QuestionState {
  return { ...state, selected: null, confirming: null, held: null };
}

function toLine(state: QuestionState, text: string): QuestionStep {
  return { kind: "line", text, state: setAside(state) };
}

function letter(state: QuestionState, text: string): QuestionStep {
  const { confirming, question } = state;
  const asked = confirming === null ? undefined : question.choices[confirming];
  if (confirming !== null && asked !== undefined) {
    const said = ({ y: "yes", n: "no" } as const)[text.toLowerCase()];
    if (said === undefined) return toLine(state, asked.key + text);
    return {
      kind: "open",
      state: { ...state, held: { letter: asked.key + text, choice: confirming, confirms: said } },
    };
  }
  const choice = question.choices.findIndex(({ key }, index) =>
    text.toLowerCase() === key || text === String(index + 1)
  );
  if (choice < 0) return toLine(state, text);
  return { kind: "open", state: { ...state, held: { letter: text, choice, confirms: null } } };
}

function named(state: QuestionState, name: (Key & { kind: "named" })["name"], room: QuestionRoom): QuestionStep {
  const open = (change: Partial<QuestionState>): QuestionStep => ({ kind: "open", state: { ...state, ...change } });
  const { selected, confirming, question } = state;
  switch (name) {
    case "page_up":
    case "page_down":
    case "up":
    case "down": {
      const scrolled = scroll(state, name, room);
      return { kind: "open", state: scrolled ?? move(state, name === "up" || name === "page_up" ? -1 : 1) };
    }
    case "enter": {
      const choice = selected === null || confirming !== null ? undefined : question.choices[selected];
      if (choice === undefined) return open({});
      return choice.confirm === undefined ? { kind: "answered", key: choice.key } : open({ confirming: selected });
    }
    case "escape":
      return confirming === null ? { kind: "passed", state } : open({ confirming: null, selected: null });
    case "tab":
      return open({});
    default:
      return { kind: "passed", state };
  }
}

/** The same question further up or down; null where there is nothing more to read that way, or a choice is marked. */
export function scroll(
  state: QuestionState,
  name: "up" | "down" | "page_up" | "page_down",
  { width, height }: QuestionRoom,
): QuestionState | null {
  const { rows, window } = layout(state, { width, height });
  const last = Math.max(0, rows.length - window);
  const isPage = name.startsWith("page");
  if (!isPage && state.selected !== null && !(name === "up" && state.selected === 0 && last > 0)) return null;
  const step = (isPage ? Math.max(1, window - 1) : 1) * (name.endsWith("up") ? -1 : 1);
  const from = Math.min(state.offset, last);
  const offset = Math.max(0, Math.min(last, from + step));
  if (offset === from) return isPage ? state : null;
  return { ...state, offset, selected: null };
}

function move(state: QuestionState, by: -1 | 1): QuestionState {
  const many = state.question.choices.length;
  const from = state.selected ?? (by > 0 ? -1 : many);
  return { ...state, selected: (from + by + many) % many, confirming: null };
}

/** Rows of the body that must be visible for choices to be one below the other. */
const LEAST_BODY = 3;

function layout({ question, confirming }: QuestionState, { width, height }: QuestionRoom) {
  const rows = question.body(width);
  const asked = confirming === null ? undefined : question.choices[confirming];
  const warning = asked?.confirm === undefined
    ? []
    : wrap([span(`${asked.confirm}  y: yes · n: back`, "warning")], { width });
  const needed = question.choices.length + warning.length + 1;
  const isSmall = height < needed + Math.min(LEAST_BODY, rows.length);
  const around = warning.length + (isSmall ? (height > 2 ? 2 : 1) : question.choices.length + 1);
  const room = Math.max(0, height - around);
  // A row shows the position where not everything fits.
  const window = rows.length <= room ? rows.length : Math.max(0, room - (room > 1 ? 1 : 0));
  return { rows, window, warning, isSmall, hasPlace: rows.length > room && room > 1 };
}

/** The rows of the question, at most `height`; `typing`: the line holds text, so that letters are no answer. */
export function viewQuestion(
  state: QuestionState,
  { width, height, typing }: QuestionRoom & { typing: string | null },
): Row[] {
  const { question, confirming, held } = state;
  const { rows, window, warning, isSmall, hasPlace } = layout(state, { width, height });
  const offset = Math.max(0, Math.min(state.offset, rows.length - window));
  const place = `rows ${offset + 1}-${offset + window} of ${rows.length} · PageUp, PageDown`;
  const marked = held?.choice ?? state.selected;
  const choices = isSmall
    ? [
      row(
        fit(question.choices.map(({ key, label }) => `${key} ${label}`).join(" · "), width),
        typing === null ? "plain" : "dim",
      ),
    ]
    : question.choices.map((choice, index): Row => {
      const label = fit(`${index + 1} ${choice.key}  ${clean(choice.label)}`, width - 2);
      const note = fit(clean(choice.note ?? ""), Math.max(0, width - 4 - label.length));
      const style = typing !== null ? "dim" : index === marked ? "selected" : "plain";
      return [
        span(index === marked && typing === null ? "> " : "  ", "accent"),
        span(label, style),
        span(note === "" ? "" : `  ${note}`, "dim"),
      ];
    });
  const title = typing === null ? question.title : `${question.title}  ${typing}`;
  const isTitled = !isSmall || height > 2;
  return [
    ...rows.slice(offset, offset + window),
    ...hasPlace ? [row(fit(place, width), "dim")] : [],
    ...isTitled ? [row(fit(title, width), "bold")] : [],
    ...confirming !== null && isSmall ? [] : choices,
    ...warning,
  ].slice(-Math.max(1, height));
}
