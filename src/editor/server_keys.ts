/** Keys of MCP servers: where a value would be one as it stands, which no file of an editor may hold. */
import { isSecretVariable } from "../boundary/hygiene.ts";

const KEY_SHAPE = /\b(?:sk-|sk_|gh[pousr]_|github_pat_|xox[a-z]-|AKIA|AIza|eyJ)[-_A-Za-z0-9.]{8,}/;
const REFERENCE = /\$\{env:[A-Za-z_]\w*\}/;

/** Whether the value of a variable or of a header is a key as it stands, and no reference to one. */
export function isLiteralKey(name: string, value: string, { inHeader }: { inHeader: boolean }): boolean {
  const secret = isSecretVariable(name.replaceAll("-", "_")) || (inHeader && /^(?:authorization|cookie)$/i.test(name));
  return KEY_SHAPE.test(value) || (secret && value !== "" && !REFERENCE.test(value));
}

/** Whether a word of a command line or an address holds a key. */
export function holdsKey(word: string): boolean {
  return KEY_SHAPE.test(word) || /:\/\/[^/\s@]*:[^/\s@]*@/.test(word);
}
