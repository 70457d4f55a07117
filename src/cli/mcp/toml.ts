/** The servers of a TOML file: values are texts, numbers, switches, lists and inline tables. */
import { statementsOf } from "../../editor/resources/toml_table.ts";

type Table = Record<string, unknown>;

/** Reads the tables of servers. Throws for what it does not know in one; other tables may hold anything. */
export function parseServersToml(text: string): Table {
  const root: Table = {};
  for (const { names, rest, isHeader, isList } of statementsOf(text)) {
    if (names[0] !== "mcp_servers") continue;
    if (isList) throw new Error("a list of tables");
    if (isHeader) tableAt(root, names);
    else Object.assign(tableAt(root, names.slice(0, -1)), { [names.at(-1) ?? ""]: new Reader(rest).whole() });
  }
  return root;
}

function tableAt(root: Table, names: readonly string[]): Table {
  return names.reduce<Table>((at, name) => {
    const found = Object.hasOwn(at, name) ? at[name] : undefined;
    if (typeof found === "object" && found !== null && !Array.isArray(found)) return found as Table;
    const made: Table = Object.create(null);
    at[name] = made;
    return made;
  }, root);
}

class Reader {
  #at = 0;
  constructor(readonly text: string) {}

  whole(): unknown {
    const value = this.#value();
    this.#space();
    if (this.#at < this.text.length) throw new Error("more than one value");
    return value;
  }

  #value(): unknown {
    this.#space();
    if (this.#take("[")) return this.#list();
    if (this.#take("{")) return this.#inline();
    const quoted = this.#match(/"((?:\\.|[^"\\])*)"/y);
    if (quoted !== null) return JSON.parse(`"${quoted[1]}"`);
    const literal = this.#match(/'([^']*)'/y);
    if (literal !== null) return literal[1];
    const word = this.#match(/[^\s,\]}]+/y)?.[0];
    if (word === "true" || word === "false") return word === "true";
    if (word !== undefined && /^[+-]?\d[\d_]*(?:\.\d+)?$/.test(word)) return Number(word.replaceAll("_", ""));
    throw new Error("a value of another kind");
  }

  #list(): unknown[] {
    const values: unknown[] = [];
    for (this.#space(); !this.#take("]"); this.#space()) {
      values.push(this.#value());
      this.#space();
      this.#take(",");
    }
    return values;
  }

  #inline(): Table {
    const table: Table = Object.create(null);
    for (this.#space(); !this.#take("}"); this.#space()) {
      const [, quoted, literal, bare] = this.#match(/\s*(?:"((?:\\.|[^"\\])*)"|'([^']*)'|([\w-]+))\s*=/y) ?? [];
      const key = quoted ?? literal ?? bare;
      if (key === undefined) throw new Error("a table without a key");
      table[key] = this.#value();
      this.#space();
      this.#take(",");
    }
    return table;
  }

  /** Comments too: a list may go over several lines. */
  #space(): void {
    this.#match(/(?:\s|#[^\n]*)*/y);
  }

  #take(sign: string): boolean {
    if (!this.text.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found;
  }
}
