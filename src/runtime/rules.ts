/** Lists of permission rules on the command line. */

/** Parts `Edit,Bash(git log:*)` at commas outside of parentheses; several lists are joined. */
export function splitRules(texts: readonly string[]): string[] {
  const rules: string[] = [];
  for (const text of texts) {
    let depth = 0;
    let rule = "";
    for (const character of text) {
      if (character === "(") depth++;
      if (character === ")") depth--;
      if (character === "," && depth <= 0) {
        rules.push(rule);
        rule = "";
      } else rule += character;
    }
    rules.push(rule);
  }
  return rules.map((rule) => rule.trim()).filter((rule) => rule !== "");
}
