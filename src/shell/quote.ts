/** Words as a shell reads them back. */

/** Returns a word in the quotes of a POSIX shell. */
export function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** Returns a word for a POSIX shell: in quotes only where it needs them. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : shellQuoted(word);
}

/** Returns a word in the quotes of PowerShell, which takes typographic single quotes for the plain one. */
export function powershellQuoted(word: string): string {
  return `'${word.replace(/['\u2018-\u201b]/g, "$&$&")}'`;
}
