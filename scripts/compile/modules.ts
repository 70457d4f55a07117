/**
 * Cuts the one file into modules again for the standalone binary, along the parts it is made of
 * (`scripts/bundle/parts.ts`).
 *
 * A binary keeps no code cache (it would write one into the temporary directory), so the engine reads at every start
 * the whole text of each module it loads: as one file that took 1.9 times the cpu of an empty program, in modules 1.1.
 */

const PART = /^const (part_\w+) = definePart\(/gm;
const END_OF_PART = /^return \{.*\};\n\}\)?\);\n/m;

interface Part {
  name: string;
  code: string;
}

/** The modules by file name; `main.js` starts the program. Throws when the text is not written as `oneFile` does. */
export function modulesOf(oneFile: string): Map<string, string> {
  const { prelude, parts, entry } = cut(oneFile);
  const byName = new Map(parts.map((part) => [part.name, part]));
  const atStart = new Set<string>();
  for (const name of neededBy(entry, byName)) addNeeded(name, { byName, needed: atStart });
  const fileOf = (name: string) => atStart.has(name) ? "start.js" : `${name}.js`;
  const started = parts.filter(({ name }) => atStart.has(name));
  const modules = new Map([
    ["main.js", importLines(neededBy(entry, byName), fileOf) + withLaterImports(entry, fileOf)],
    ["start.js", prelude + started.map(({ code }) => `export ${withLaterImports(code, fileOf)}`).join("")],
  ]);
  for (const { name, code } of parts) {
    if (atStart.has(name)) continue;
    const needed = neededBy(code, byName).filter((other) => other !== name);
    modules.set(
      `${name}.js`,
      importLines(needed, fileOf) +
        `import { definePart } from "./start.js";\nexport ${withLaterImports(code, fileOf)}`,
    );
  }
  return modules;
}

function cut(text: string): { prelude: string; parts: Part[]; entry: string } {
  const starts = [...text.matchAll(PART)];
  const parts: Part[] = [];
  let entry = text;
  for (const [at, { index, 1: name = "" }] of starts.entries()) {
    const rest = text.slice(index, starts[at + 1]?.index);
    const end = END_OF_PART.exec(rest);
    if (end === null) throw new Error(`${name} does not end as a part does`);
    const length = end.index + end[0].length;
    const after = rest.slice(length);
    if (at < starts.length - 1 && after.trim() !== "") throw new Error(`text between ${name} and the next part`);
    parts.push({ name, code: rest.slice(0, length) });
    entry = after;
  }
  const prelude = text.slice(0, starts[0]?.index).replace("function definePart", "export function definePart");
  if (parts.length === 0 || !prelude.includes("export function definePart")) throw new Error("the file has no parts");
  return { prelude, parts, entry };
}

/** The parts that run before the code does. */
function neededBy(code: string, byName: ReadonlyMap<string, Part>): string[] {
  const names = [...code.matchAll(/^(?:const \{[^}]*\} = )?(part_\w+)\(\);$/gm)].map(([, name = ""]) => name);
  return [...new Set(names)].filter((name) => byName.has(name));
}

function addNeeded(name: string, into: { byName: ReadonlyMap<string, Part>; needed: Set<string> }): void {
  if (into.needed.has(name)) return;
  into.needed.add(name);
  for (const next of neededBy(into.byName.get(name)?.code ?? "", into.byName)) addNeeded(next, into);
}

function importLines(names: readonly string[], fileOf: (name: string) => string): string {
  return names.map((name) => `import { ${name} } from "./${fileOf(name)}";\n`).join("");
}

function withLaterImports(code: string, fileOf: (name: string) => string): string {
  return code.replace(
    /\bimportPart\((part_\w+)\)/g,
    (_, name) => `import("./${fileOf(name)}").then(({ ${name} }) => ${name}())`,
  );
}
