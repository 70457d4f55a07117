/** The part of TOML that files with MCP servers are made of: tables, texts, numbers, switches, lists and inline tables. */

type Table = Record<string, unknown>;

/** Reads the tables of a text. Throws for what it does not know in a table of servers; other tables are passed over. */
export function parseServersToml(text: string): Table {
  const root: Table = {};
  let table: Table | null = root;
  for (const line of joinedLines(text)) {
    const header = /^\[([^[\]]+)\]$/.exec(line)?.[1];
    if (header !== undefined) {
      const names = keyParts(header);
      table = names[0] === "mcp_servers" ? tableAt(root, names) : null;
      continue;
    }
    if (/^\[\[/.test(line)) table = null;
    if (table === null || /^\[\[/.test(line)) continue;
    const at = equalsIn(line);
    const value = new Reader(line.slice(at + 1));
    const names = keyParts(line.slice(0, at));
    const name = names.pop();
    if (name === undefined) throw new Error("a line without a key");
    // The tables before the first header hold settings of the program itself, which may be anything.
    if (table === root && names[0] !== "mcp_servers") continue;
    Object.assign(tableAt(table, names), { [name]: value.whole() });
  }
  return root;
}

/** Lines without comments; a list may go over several. */
function joinedLines(text: string): string[] {
  const lines: string[] = [];
  let open = "";
  for (const raw of text.split(/\r?\n/)) {
    const line = (open + " " + withoutComment(raw)).trim();
    const plain = line.replace(/"(?:\\.|[^"\\])*"|'[^']*'/g, "");
    const depth = (plain.match(/[[{]/g)?.length ?? 0) - (plain.match(/[\]}]/g)?.length ?? 0);
    open = depth > 0 ? line : "";
    if (open === "" && line !== "") lines.push(line);
  }
  return lines;
}

function withoutComment(line: string): string {
  return /^(?:[^"'#]|"(?:\\.|[^"\\])*"|'[^']*')*/.exec(line)?.[0] ?? "";
}

function equalsIn(line: string): number {
  const at = /^(?:[^"'=]|"(?:\\.|[^"\\])*"|'[^']*')*=/.exec(line)?.[0].length;
  if (at === undefined) throw new Error("a line without a value");
  return at - 1;
}

function keyParts(text: string): string[] {
  return [...text.matchAll(/"((?:\\.|[^"\\])*)"|'([^']*)'|([\w-]+)/g)].map(([, quoted, literal, bare]) =>
    quoted ?? literal ?? bare ?? ""
  );
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
      const key = this.#match(/\s*("(?:\\.|[^"\\])*"|'[^']*'|[\w-]+)\s*=/y)?.[1];
      if (key === undefined) throw new Error("a table without a key");
      table[keyParts(key)[0] ?? ""] = this.#value();
      this.#space();
      this.#take(",");
    }
    return table;
  }

  #space(): void {
    this.#match(/\s*/y);
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
