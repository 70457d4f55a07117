/** Passwords that stand in a command line as an argument with no name that says so. */

const VALUE = String.raw`((?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+)`;

/** Programs, and their options that a password follows. Sources: their manual pages. */
const OPTIONS: readonly { program: RegExp; option: RegExp }[] = [
  // With a space between, it is the name of a database, and the password is asked for.
  { program: /(?:mysql|mariadb)/i, option: new RegExp(String.raw`(\s-p)${VALUE}`, "g") },
  {
    program: /\b(?:curl|wget|xh)\b|(?:^|[\s;|&(])https?\s/,
    option: new RegExp(String.raw`(\s(?:-[a-zA-Z]*[uU]|--user|--proxy-user)(?:\s+|=)?)${VALUE}`, "g"),
  },
  { program: /\bsshpass\b/, option: new RegExp(String.raw`(\s-p\s*)${VALUE}`, "g") },
  { program: /\blogin\b/, option: new RegExp(String.raw`(\s-p(?:\s+|=)?)${VALUE}`, "g") },
  { program: /\bredis-cli\b/, option: new RegExp(String.raw`(\s-a\s*)${VALUE}`, "g") },
];

/**
 * A command line with such passwords as `(hidden)`, with the user's name where both are one word. An option of that letter
 * of another program of the line is hidden too: what is said of a command in a log is no command to be run again.
 */
export function hideArguments(line: string): string {
  return OPTIONS.reduce(
    (text, { program, option }) => program.test(line) ? text.replace(option, "$1(hidden)") : text,
    line,
  );
}
