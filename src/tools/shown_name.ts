/** One line a file name, whatever it holds: control characters are written out. */
export function shownName(name: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  return name.replace(/[\x00-\x1f\x7f]/g, (character) => `\\x${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}
