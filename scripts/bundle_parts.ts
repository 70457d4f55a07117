/**
 * Makes one file of the files that `deno bundle --code-splitting` writes.
 *
 * What is not needed at once stands in a function and is run when it is first imported: the engine then neither makes
 * its thousands of functions at every start nor keeps room for them in its code cache. And what a turn needs for sure is
 * compiled ahead: V8 compiles a function with parentheses around it together with the file and so keeps it in the code
 * cache, every other one anew in each process when it is first called. Measured in docs/performance.md.
 */

/** How the one file is cut. */
export interface Layout {
  /** Name of the file that starts the program. */
  entry: string;
  /** Module that a turn starts with (`src/cli/run/run.ts`): what it imports is compiled ahead as a whole. */
  turn: string;
  /** Functions that every turn calls, as `src/cli/run/run.ts turn`. Names that do not exist any more do no harm. */
  eager: ReadonlySet<string>;
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

/** One module in a part: its title line, which names it, and its code. */
interface Section {
  title: string;
  code: string;
}

const IMPORT = /^import (?:\{([^}]*)\} from )?"\.\/([^"]+)";\n/;
const EXPORT = /(?:^|\n)export \{([^}]*)\};\s*$/;
const LATER_IMPORT = /\bimport\("\.\/([^"]+)"\)/g;
const TITLE = /^\/\/ \S+$/m;
// A function at the margin ends with the first brace at the margin: so the bundler writes them.
const FUNCTION = /^(?:async )?function\*? ([\w$]+)\([^]*?\n\}\n/gm;

const PRELUDE = `// Every part below is a function that runs once, when it is first imported.
function definePart(make) {
  let exports;
  return () => exports ??= make();
}
function importPart(part) {
  return Promise.resolve().then(part);
}
`;

/** The text of the one file. Throws when the files are not written the way this module expects. */
export function oneFile(files: ReadonlyMap<string, string>, layout: Layout): string {
  const parts = new Map([...files].map(([file, text]) => [file, readPart(file, text)]));
  const order = orderOf(parts, layout.entry);
  const names = nameAll(order, layout.entry);
  const turn = order.find((part) => part.body.includes(`// ${layout.turn}\n`));
  if (turn === undefined) throw new Error(`no part holds ${layout.turn}`);
  const ahead = new Set([...neededBy(layout.entry, parts), ...neededBy(turn.file, parts)]);
  const texts = order.map((part) => {
    const code = headOf(part, names) + bodyOf(part, { names, eager: ahead.has(part.file) ? layout.eager : new Set() });
    if (part.file === layout.entry) return code;
    const made = `function () {\n${code}\nreturn { ${part.exports.map(exported).join(", ")} };\n}`;
    return `const ${names.get(part.file)} = definePart(${ahead.has(part.file) ? `(${made})` : made});\n`;
  });
  return PRELUDE + texts.join("\n");
}

/** The functions at the margin whose parameters begin at these offsets of the one file, as {@link Layout.eager} has them. */
export function functionsAt(text: string, offsets: readonly number[]): string[] {
  const names: string[] = [];
  let start = 0;
  for (const { title, code } of sectionsOf(text)) {
    start += title === "" ? 0 : title.length + 1;
    for (const { 0: whole, 1: name = "", index } of code.matchAll(FUNCTION)) {
      // The engine counts a function from its parameters on.
      const parameters = start + index + whole.indexOf("(");
      if (title !== "" && offsets.includes(parameters)) names.push(`${title.slice(3)} ${plainName(name)}`);
    }
    start += code.length;
  }
  return names;
}

/** The bundler numbers names that occur in several modules; which number it is changes with other modules. */
function plainName(name: string): string {
  return name.replace(/\d+$/, "");
}

function readPart(file: string, text: string): Part {
  const imports: Import[] = [];
  let rest = text;
  for (let found = IMPORT.exec(rest); found !== null; found = IMPORT.exec(rest)) {
    imports.push({ names: listOf(found[1]), file: found[2] ?? "" });
    rest = rest.slice(found[0].length);
  }
  const end = EXPORT.exec(rest);
  const body = end === null ? rest : `${rest.slice(0, end.index)}\n`;
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
    const last = sectionsOf(body).findLast(({ title }) => title !== "")?.title.slice(3) ??
      file.replace(/-\w+\.js$/, "");
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
  return part.imports.map(({ names: taken, file }) => {
    const call = `${names.get(file)}();\n`;
    return taken.length === 0
      ? call
      : `const { ${taken.map((name) => name.replace(" as ", ": ")).join(", ")} } = ${call}`;
  }).join("");
}

function exported(name: string): string {
  const [inner = "", outer] = name.split(" as ");
  return outer === undefined ? inner : `${outer}: ${inner}`;
}

function bodyOf(part: Part, how: { names: ReadonlyMap<string, string>; eager: ReadonlySet<string> }): string {
  const body = part.body.replace(LATER_IMPORT, (_, file) => `importPart(${how.names.get(file)})`);
  return sectionsOf(body).map((section) => compiledAhead(section, how.eager)).join("");
}

function sectionsOf(body: string): Section[] {
  return body.split(/^(?=\/\/ \S+$)/m).map((text) => {
    const title = TITLE.exec(text);
    if (title?.index !== 0) return { title: "", code: text };
    return { title: title[0], code: text.slice(title[0].length + 1) };
  });
}

/** The functions that are compiled ahead go first: like all functions, they are there before the module runs. */
function compiledAhead({ title, code }: Section, eager: ReadonlySet<string>): string {
  const first: string[] = [];
  const rest = code.replace(FUNCTION, (text, name) => {
    if (!eager.has(`${title.slice(3)} ${plainName(name)}`)) return text;
    first.push(`var ${name} = (${text.trimEnd()});\n`);
    return "";
  });
  return (title === "" ? "" : `${title}\n`) + first.join("") + rest;
}
