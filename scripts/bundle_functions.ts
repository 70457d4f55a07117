/**
 * The functions of a piece of code: how each is called across builds, and how it is compiled ahead.
 *
 * V8 compiles a function with parentheses around it together with the code around it. That reaches declarations, arrows,
 * function expressions and methods of object literals; methods of classes are written in another way for it.
 */
import { methodAhead } from "./bundle_methods.ts";
import { childrenOf, type Edit, edited, isNode, nameOf, type Node, treeOf } from "./bundle_syntax.ts";

/** A function in a piece of code. */
export interface FoundFunction {
  /** Title of its module and the names around it, `src/a.ts open/close`; `#2` is the second without a name there. */
  key: string;
  /** Where its text begins, where its body does, and where it ends. */
  start: number;
  body: number;
  end: number;
  /** How it is compiled ahead: as a variable at the front, or written otherwise. Null where that cannot be. */
  ahead: { variable: string } | { edits: Edit[] } | null;
}

const TITLE = /^\/\/ (\S+)$/gm;

/** The titles of modules in a text that the bundler wrote. */
export function titlesOf(code: string): { at: number; title: string }[] {
  return [...code.matchAll(TITLE)].map((match) => ({ at: match.index, title: match[1] ?? "" }));
}

/** The bundler numbers names that occur in several modules; which number it is changes with other modules. */
function plainName(name: string): string {
  return name.replace(/\d+$/, "");
}

/** What a node calls the function that is its value: `const name = () => …`, `{ name() {} }`, `name = () => …`. */
function nameGiven(parent: Node): string {
  return nameOf(parent.type === "VariableDeclarator" ? parent.id : parent.key);
}

interface Around {
  parent: Node;
  nested: boolean;
  /** The body of the class that it is a member of. */
  owner: Node | null;
}

function aheadOf(node: Node, code: string, { parent, nested, owner }: Around): FoundFunction["ahead"] {
  const edits = (head: Edit): { edits: Edit[] } => ({ edits: [head, { from: node.end, to: node.end, text: ")" }] });
  if (node.type === "FunctionDeclaration") return nested ? null : { variable: nameOf(node.id) };
  if (parent.type === "MethodDefinition") {
    const ahead = owner === null ? null : methodAhead(parent, { owner, code });
    return ahead === null ? null : { edits: ahead };
  }
  if (parent.type === "Property" && parent.kind !== "init") return null;
  if (parent.type !== "Property" || parent.method !== true) {
    return edits({ from: node.start, to: node.start, text: "(" });
  }
  // `super` has a meaning in methods alone.
  if (parent.computed === true || !isNode(parent.key) || /\bsuper\b/.test(code.slice(node.start, node.end))) {
    return null;
  }
  const word = `${node.async === true ? "async " : ""}function${node.generator === true ? "*" : ""}`;
  const key = code.slice(parent.key.start, parent.key.end);
  return edits({ from: parent.start, to: node.start, text: `${key}: (${word}` });
}

/** All functions of a text that the bundler wrote. Throws `SyntaxError`. */
export function functionsOf(code: string): FoundFunction[] {
  const titles = titlesOf(code);
  const found: FoundFunction[] = [];
  const counts = new Map<string, number>();
  const keyOf = (around: string, name: string) => {
    const wanted = `${around}${plainName(name)}`;
    const count = (counts.get(wanted) ?? 0) + 1;
    counts.set(wanted, count);
    return name !== "" && count === 1 ? wanted : `${wanted}#${count}`;
  };
  const visit = (node: Node, { parent, outer, owner }: { parent: Node; outer: string; owner: Node | null }) => {
    const around = outer !== "" ? outer : `${titles.findLast(({ at }) => at <= node.start)?.title ?? ""} `;
    let inside = outer;
    if (/Function/.test(node.type) && isNode(node.body)) {
      const key = keyOf(around, nameOf(node.id) || nameGiven(parent));
      const ahead = aheadOf(node, code, { parent, nested: outer !== "", owner });
      found.push({ key, start: node.start, body: node.body.start, end: node.end, ahead });
      inside = `${key}/`;
    } else if (/Class/.test(node.type) && isNode(node.body)) {
      inside = `${around}${plainName(nameOf(node.id)) || nameGiven(parent)}.`;
    }
    const members = node.type === "ClassBody" ? node : parent.type === "ClassBody" ? owner : null;
    for (const child of childrenOf(node)) visit(child, { parent: node, outer: inside, owner: members });
  };
  const tree = treeOf(code);
  visit(tree, { parent: tree, outer: "", owner: null });
  return found;
}

/**
 * The text with these functions compiled as soon as what is around them is. Declarations become variables at the front:
 * like all declarations they are there before anything runs.
 */
export function compiledAhead(code: string, eager: ReadonlySet<string>): string {
  const edits: Edit[] = [];
  const declarations: { title: string; start: number; end: number; name: string }[] = [];
  for (const { key, start, end, ahead } of functionsOf(code)) {
    if (ahead === null || !eager.has(key)) continue;
    if ("edits" in ahead) edits.push(...ahead.edits);
    else declarations.push({ title: key.slice(0, key.indexOf(" ")), start, end, name: ahead.variable });
  }
  let first = "";
  let rest = "";
  let at = 0;
  let told = "";
  for (const { title, start, end, name } of declarations) {
    if (title !== told) first += `// ${title}\n`;
    told = title;
    first += `var ${name} = (${edited(code, edits, { from: start, to: end })});\n`;
    rest += edited(code, edits, { from: at, to: start });
    at = end;
  }
  return first + rest + edited(code, edits, { from: at });
}
