/**
 * Makes one file of the files that `deno bundle --code-splitting` writes.
 *
 * What is not needed at once stands in a function and is run when a name of it is first imported: the engine then
 * neither makes its thousands of functions at every start nor keeps room for them in its code cache. Parts that every
 * turn needs, and the functions they declare, have parentheses around them, so that V8 compiles them with the file and
 * keeps them in its code cache. Measured in docs/performance.md.
 */
import { edited, type Node, treeOf } from "./syntax.ts";

/** How the one file is cut. */
export interface Layout {
  /** Name of the file that starts the program. */
  entry: string;
  /** Module that a turn starts with (`src/cli/run/run.ts`): what it imports is compiled with the file. */
  turn: string;
}

interface Import {
  /** As in the source: `a` or `a as b`. */
  names: string[];
  file: string;
}

interface Part {
  file: string;
  imports: Import[];
  body: string;
  /** As in the source: `a` or `a as b`. */
  exports: string[];
}

const IMPORT = /^import (?:\{([^}]*)\} from )?"\.\/([^"]+)";\n/;
/** At the end, before the licenses that the bundler collects there. */
const EXPORT = /(?:^|\n)export \{([^}]*)\};\s*((?:\/\*![^]*?\*\/\s*)*)$/;
/** The comment line with which the bundler begins each module. */
const TITLE = /^\/\/ (\S+)$/gm;
const LATER_IMPORT = /\bimport\("\.\/([^"]+)"\)/g;

const PRELUDE = `// Every part below is a function that runs once, when it is first imported.
function definePart(make) {
  let exports;
  return () => exports ??= make();
}
function importPart(part) {
  return Promise.resolve().then(part);
}
`;

/** Returns the text of the one file. Throws when the files are not written the way this module expects. */
export function oneFile(files: ReadonlyMap<string, string>, layout: Layout): string {
  const parts = new Map([...files].map(([file, text]) => [file, readPart(file, text)]));
  for (const { file, exports } of parts.values()) {
    if (exports.length === 0 && file !== layout.entry) {
      throw new Error(`${file} would not run: nobody takes a name of it`);
    }
  }
  const order = orderOf(parts, layout.entry);
  const names = nameAll(order, layout.entry);
  const turn = order.find((part) => part.body.includes(`// ${layout.turn}\n`));
  if (turn === undefined) throw new Error(`no part holds ${layout.turn}`);
  const ahead = new Set([...neededBy(layout.entry, parts), ...neededBy(turn.file, parts)]);
  let text = PRELUDE;
  for (const part of order) {
    const own = ahead.has(part.file) ? compiledAhead(part.body) : part.body;
    const code = own.replace(LATER_IMPORT, (_, file) => `importPart(${names.get(file)})`);
    const open = ahead.has(part.file) ? "(" : "";
    const wrapped = part.file !== layout.entry;
    if (wrapped) text += `const ${names.get(part.file)} = definePart(${open}function () {\n`;
    text += headOf(part, names) + code;
    if (wrapped) text += `\nreturn { ${part.exports.map(exported).join(", ")} };\n}${open && ")"});\n\n`;
  }
  return text;
}

/** The code with the functions that it declares first, as V8 compiles them with the file: in parentheses. */
function compiledAhead(code: string): string {
  const declared = (treeOf(code)["body"] as Node[]).filter(({ type }) => type === "FunctionDeclaration");
  const first = declared.map(({ id, start, end }) => `const ${(id as Node)["name"]} = (${code.slice(start, end)});\n`);
  return first.join("") + edited(code, declared.map(({ start, end }) => ({ from: start, to: end, text: "" })));
}

function readPart(file: string, text: string): Part {
  const imports: Import[] = [];
  let rest = text;
  for (let found = IMPORT.exec(rest); found !== null; found = IMPORT.exec(rest)) {
    // Without names there is nothing to wait for: a module that is loaded does nothing but declare.
    if (found[1] !== undefined) imports.push({ names: listOf(found[1]), file: found[2] ?? "" });
    rest = rest.slice(found[0].length);
  }
  const end = EXPORT.exec(rest);
  const body = end === null ? rest : `${rest.slice(0, end.index)}\n${end[2]}`;
  const left = /^(?:import\b.*|export\b.*)$/m.exec(body);
  if (left !== null) throw new Error(`${file}: a line of an unknown kind: ${left[0]}`);
  return { file, imports, body, exports: listOf(end?.[1]) };
}

function listOf(text: string | undefined): string[] {
  return (text ?? "").split(",").map((name) => name.trim()).filter((name) => name !== "");
}

function found(file: string, parts: ReadonlyMap<string, Part>): Part {
  const part = parts.get(file);
  if (part === undefined) throw new Error(`no file ${file}`);
  return part;
}

/** Every part after what it imports, the entry last. */
function orderOf(parts: ReadonlyMap<string, Part>, entry: string): Part[] {
  const order: Part[] = [];
  const open = new Set<string>();
  const done = new Set<string>();
  /** Imported when they are needed: looked at once nothing is open, since they may import what is open now. */
  const later: string[] = [];
  const visit = (file: string) => {
    if (done.has(file)) return;
    if (open.has(file)) throw new Error(`${file} imports itself by way of others`);
    open.add(file);
    const part = found(file, parts);
    for (const { file: needed } of part.imports) visit(needed);
    open.delete(file);
    done.add(file);
    order.push(part);
    for (const [, needed = ""] of part.body.matchAll(LATER_IMPORT)) if (needed !== entry) later.push(needed);
  };
  visit(entry);
  for (let next = later.shift(); next !== undefined; next = later.shift()) visit(next);
  return [...order.filter(({ file }) => file !== entry), found(entry, parts)];
}

/** Names from what the parts hold, since the bundler's own hold a sum that may depend on the machine. */
function nameAll(order: readonly Part[], entry: string): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { file, body } of order) {
    if (file === entry) continue;
    const last = [...body.matchAll(TITLE)].at(-1)?.[1] ?? file.replace(/-\w+\.js$/, "");
    const name = `part_${last.replace(/^src\//, "").replace(/\.[jt]s$/, "").replace(/\W+/g, "_")}`;
    let free = name;
    for (let number = 2; taken.has(free); number++) free = `${name}_${number}`;
    taken.add(free);
    names.set(file, free);
  }
  return names;
}

/** The files that run before `file` does, and itself. */
function neededBy(file: string, parts: ReadonlyMap<string, Part>, needed: Set<string> = new Set()): Set<string> {
  if (needed.has(file)) return needed;
  needed.add(file);
  for (const next of found(file, parts).imports) neededBy(next.file, parts, needed);
  return needed;
}

function headOf(part: Part, names: ReadonlyMap<string, string>): string {
  return part.imports.map(({ names: taken, file }) =>
    `const { ${taken.map((name) => name.replace(" as ", ": ")).join(", ")} } = ${names.get(file)}();\n`
  ).join("");
}

function exported(name: string): string {
  const [inner = "", outer] = name.split(" as ");
  return outer === undefined ? inner : `${outer}: ${inner}`;
}
