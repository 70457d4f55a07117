/** The servers of a TOML file: values are texts, numbers, switches, lists and inline tables. */
import { Scanner, statementsOf } from "../../editor/resources/toml_table.ts";

type Table = Record<string, unknown>;

/** Reads the tables of servers. Throws for unknown syntax in one; other tables may hold anything. */
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
  readonly #scanner: Scanner;

  constructor(text: string) {
    this.#scanner = new Scanner(text);
  }

  whole(): unknown {
    const value = this.#value();
    this.#space();
    if (!this.#scanner.isDone) throw new Error("more than one value");
    return value;
  }

  #value(): unknown {
    const scanner = this.#scanner;
    this.#space();
    if (scanner.take("[")) return this.#list();
    if (scanner.take("{")) return this.#inline();
    const quoted = scanner.match(/"(?:\\.|[^"\\])*"/y);
    if (quoted !== "") return JSON.parse(quoted);
    const literal = scanner.match(/'[^']*'/y);
    if (literal !== "") return literal.slice(1, -1);
    const word = scanner.match(/[^\s,\]}]+/y);
    if (word === "true" || word === "false") return word === "true";
    if (/^[+-]?\d[\d_]*(?:\.\d+)?$/.test(word)) return Number(word.replaceAll("_", ""));
    throw new Error("a value of another kind");
  }

  #list(): unknown[] {
    const values: unknown[] = [];
    for (this.#space(); !this.#scanner.take("]"); this.#space()) {
      values.push(this.#value());
      this.#space();
      this.#scanner.take(",");
    }
    return values;
  }

  #inline(): Table {
    const table: Table = Object.create(null);
    for (this.#space(); !this.#scanner.take("}"); this.#space()) {
      const [key = "", ...below] = this.#scanner.names();
      if (below.length > 0 || !this.#scanner.take("=")) throw new Error("a table without a key");
      table[key] = this.#value();
      this.#space();
      this.#scanner.take(",");
    }
    return table;
  }

  /** Skips comments too: a list may span several lines. */
  #space(): void {
    this.#scanner.match(/(?:\s|#[^\n]*)*/y);
  }
}
