/**
 * Methods of classes that are compiled ahead: V8 does so with functions in parentheses alone, and a method has none. What
 * is written instead does the same: a public method is put on the prototype, a private one becomes a field.
 */
import { childrenOf, type Edit, isNode, nameOf, type Node } from "./bundle_syntax.ts";

/**
 * The edits that make a method a function in parentheses; null where that would not be the same. `owner` is the body of its
 * class.
 */
export function methodAhead(method: Node, { owner, code }: { owner: Node; code: string }): Edit[] | null {
  const { value, key } = method;
  if (
    !isNode(value) || !isNode(key) || method.kind !== "method" || method.static === true || method.computed === true
  ) {
    return null;
  }
  // `super` has a meaning in methods alone.
  if (/\bsuper\b/.test(code.slice(value.start, value.end))) return null;
  const word = `${value.async === true ? "async " : ""}function${value.generator === true ? "*" : ""} `;
  if (key.type === "PrivateIdentifier") {
    if (fieldsUseThis(owner, code)) return null;
    return [
      { from: method.start, to: value.start, text: `${nameOf(key)} = (${word}` },
      { from: value.end, to: value.end, text: ");" },
    ];
  }
  // What is static may use the methods before they would be there.
  if (key.type !== "Identifier" || childrenOf(owner).some(isStatic)) return null;
  const name = nameOf(key);
  // Through an object, so that the function has its name and nothing in it means something else by that name.
  return [
    {
      from: method.start,
      to: value.start,
      text: `static { Object.defineProperty(this.prototype, "${name}", { value: { ${name}: (${word}`,
    },
    { from: value.end, to: value.end, text: `) }.${name}, writable: true, configurable: true }); }` },
  ];
}

function isStatic(member: Node): boolean {
  return member.type === "StaticBlock" || (member.type === "PropertyDefinition" && member.static === true);
}

/** Whether a field is made with what the instance has by then: private methods come before all fields. */
function fieldsUseThis(owner: Node, code: string): boolean {
  return childrenOf(owner).some(({ type, value }) =>
    type === "PropertyDefinition" && isNode(value) && !/Function/.test(value.type) &&
    /\bthis\b/.test(code.slice(value.start, value.end))
  );
}
