/** The text of a file while pieces are looked for, put in and taken out: read once, however many there are. */
import { lookAt } from "./disk.ts";
import { HookList } from "./hook_item.ts";
import { type EditableJson, editableJson } from "./json_edit.ts";
import { type JsonContainer, JsonProblem, printJson } from "./json_tree.ts";

/** A text that may be JSON. */
export class LiveText {
  #text: string | null;
  #json: EditableJson | JsonProblem | null = null;
  readonly #lists = new WeakMap<JsonContainer, HookList>();
  #isChanged = false;

  constructor(text: string) {
    this.#text = text;
  }

  /** As it stands now. */
  get text(): string {
    return this.#text ??= this.#json === null ? "" : printJson(this.json);
  }

  /** Whether it is not as it was found. */
  get isChanged(): boolean {
    return this.#isChanged;
  }

  /** Whether it has nothing but white space, a byte order mark aside. */
  get isBlank(): boolean {
    return this.#text !== null && this.#text.replace(/^\ufeff/, "").trim() === "";
  }

  /** As a tree; whoever changes the tree calls `changed`. Throws {@link JsonProblem}. */
  get json(): EditableJson {
    if (this.#json === null) {
      try {
        this.#json = editableJson(this.text);
      } catch (error) {
        if (!(error instanceof JsonProblem)) throw error;
        this.#json = error;
      }
    }
    if (this.#json instanceof JsonProblem) throw this.#json;
    return this.#json;
  }

  /** The entries of a list of the tree by what they are. */
  hooksOf(list: JsonContainer): HookList {
    const known = this.#lists.get(list) ?? new HookList(list);
    this.#lists.set(list, known);
    return known;
  }

  /** Notes that the tree was changed. */
  changed(): void {
    this.#text = null;
    this.#isChanged = true;
  }

  /** Sets the whole text. */
  set(text: string): void {
    this.#text = text;
    this.#json = null;
    this.#isChanged = true;
  }
}

/** Looks at files for their texts, at each once; null for one that is not there or cannot be read. */
export function textsOnDisk(): (path: string) => LiveText | null {
  const known = new Map<string, LiveText | null>();
  return (path) => {
    let found = known.get(path);
    if (found === undefined) {
      const text = lookAt(path);
      found = text === null ? null : new LiveText(text);
      known.set(path, found);
    }
    return found;
  };
}
