/** What `git status` says in the sandbox, made true again for protected files. */

/** Of protected files, told without git. Names are relative to the top. */
export interface KnownChanges {
  changed: readonly string[];
  gone: readonly string[];
  covered(name: string): boolean;
}

/**
 * The entries of `git status --porcelain -z`. Behind the sandbox every protected file differs from the index: the letter of the
 * working tree is replaced by what is so, and entries without a letter are left out. Untracked ones come last.
 */
export function statusEntries(text: string, known: KnownChanges): string[] {
  const staged = new Map<string, string>();
  const others: string[] = [];
  for (const entry of text.split("\0").filter((entry) => entry !== "")) {
    const name = entry.slice(3);
    if (known.covered(name)) staged.set(name, entry.charAt(0));
    else others.push(entry);
  }
  const changes = new Map<string, string>(known.changed.map((name) => [name, "M"]));
  for (const name of known.gone) changes.set(name, "D");
  const own = [...new Set([...staged.keys(), ...changes.keys()])]
    .map((name) => `${staged.get(name) ?? " "}${changes.get(name) ?? " "} ${name}`)
    .filter((entry) => /[^ ?!]/.test(entry.slice(0, 2)));
  const untracked = (entry: string) => entry.startsWith("??");
  return [
    ...own,
    ...others.filter((entry) => !untracked(entry)),
    ...others.filter(untracked),
  ];
}
