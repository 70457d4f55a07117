/** Keeps text that may become a tool call from being shown while it streams. */
import { isSpace } from "./cursor.ts";
import { FAMILIES } from "./families.ts";

/** UTF-16 units that are held at most; more is an answer about calls, not a call that is worth the silence. */
const HOLD_LIMIT = 65_536;
/** A beginning that stays undecided longer than this is decided. */
const UNDECIDED_LIMIT = 256;

/** Passes text on until it could be a call. What `push` and `end` give is, put together, what was pushed. */
export interface Hold {
  /** Takes a piece; gives what may be shown now. */
  push(text: string): string;
  /** The end of the text: gives what was held. */
  end(): string;
  /** True while something is held back. */
  readonly holding: boolean;
}

/**
 * `start`: nothing but white space has come, the weak form is possible. `flow`: looking for markers; what is held may be
 * the beginning of one. `held`: a marker came, everything waits for the end. `off`: everything passes.
 */
type State = "start" | "flow" | "held" | "off";

/** A hold for one reply; one that is not `enabled` passes everything. A piece without `<` and `[` costs two searches. */
export function createHold(enabled: boolean): Hold {
  let state: State = enabled ? "start" : "off";
  let held = "";
  let markers: Markers | null = null;

  function flow(text: string): string {
    if (text.indexOf("<") < 0 && text.indexOf("[") < 0) return text;
    markers ??= createMarkers();
    const found = markers.find(text);
    if (found.certain) state = "held";
    held = text.slice(found.at);
    return text.slice(0, found.at);
  }

  function start(text: string): string {
    if (text.trimStart() === "") return text;
    const decision = judgeBeginning(text);
    if (decision === "other") {
      state = "flow";
      return flow(text);
    }
    if (decision === "call") state = "held";
    held = text;
    return "";
  }

  return {
    push(text) {
      if (state === "off") return text;
      if (state === "held") {
        held += text;
        if (held.length <= HOLD_LIMIT) return "";
        state = "off";
        return release();
      }
      const all = held === "" ? text : release() + text;
      return state === "start" ? start(all) : flow(all);
    },
    end: release,
    get holding() {
      return held !== "";
    },
  };

  function release(): string {
    const text = held;
    held = "";
    return text;
  }
}

/** Finds where a text must be held from. */
interface Markers {
  /** `at` is the length of the text when nothing is to be held; `certain` when a whole marker stands there. */
  find(text: string): { at: number; certain: boolean };
}

function createMarkers(): Markers {
  const literals = [...new Set(FAMILIES.flatMap((family) => [...family.openers, ...family.before]))];
  const pattern = new RegExp(literals.map((literal) => RegExp.escape(literal)).join("|"), "g");
  const longest = Math.max(...literals.map((literal) => literal.length));

  /** Where the end of the text is the beginning of a marker. */
  function partial(text: string, from: number): number {
    for (let at = Math.max(from, text.length - longest + 1); at < text.length; at++) {
      const character = text.charAt(at);
      if (character !== "<" && character !== "[") continue;
      const tail = text.slice(at);
      if (literals.some((literal) => literal.startsWith(tail))) return at;
    }
    return text.length;
  }

  return {
    find(text) {
      let from = 0;
      pattern.lastIndex = 0;
      for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
        from = pattern.lastIndex;
        let next = from;
        while (next < text.length && isSpace(text.charCodeAt(next))) next++;
        if (next === text.length) return { at: found.index, certain: next - from > UNDECIDED_LIMIT };
        // A name, a tag or an object follows; behind a marker that is only mentioned comes a quote, a stop, a backtick.
        if (/[\w<{[]/.test(text.charAt(next))) return { at: found.index, certain: true };
      }
      return { at: partial(text, from), certain: false };
    },
  };
}

/** How messages of the weak form begin, without white space. */
const FENCES = ["", "```", "```json", "```tool_call", "```tool_code"];
const BRACKETS = ["{", "[{"];
const FIRST_KEYS = ['"name"', '"type":"function"', '"function"', '"arguments"', '"parameters"', '"id"'];

/** Whether a message that begins like this may be nothing but calls in JSON. */
function judgeBeginning(text: string): "call" | "open" | "other" {
  if (!"{[`".includes(text.trimStart().charAt(0))) return "other";
  const begun = text.slice(0, UNDECIDED_LIMIT).replace(/\s+/g, "");
  let open = false;
  for (const fence of FENCES) {
    for (const bracket of BRACKETS) {
      for (const key of FIRST_KEYS) {
        const beginning = fence + bracket + key;
        if (begun.startsWith(beginning)) return "call";
        open ||= beginning.startsWith(begun);
      }
    }
  }
  return open && text.length <= UNDECIDED_LIMIT ? "open" : "other";
}
