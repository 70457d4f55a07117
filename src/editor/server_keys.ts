/** Keys of MCP servers: where a value would be one as it stands, which no file of an editor may hold, and nobody is shown. */
import { isSecretVariable } from "../boundary/hygiene.ts";
import { type JsonNode, JsonProblem, nodeAt, parseJsonTree } from "./json_tree.ts";

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

const HIDDEN = "(a key)";

function hiddenIn(text: string): string {
  return text.replace(new RegExp(KEY_SHAPE, "g"), HIDDEN).replace(/:\/\/[^/\s@]*:[^/\s@]*@/g, `://${HIDDEN}@`);
}

/** The values of a server that are keys as they stand. */
function keyNodes(server: JsonNode): JsonNode[] {
  return ["env", "headers"].flatMap((member) => {
    const node = server.kind === "object" ? nodeAt(server, [member]) : null;
    if (node?.kind !== "object") return [];
    return node.members.flatMap(({ key, value }) =>
      value.kind === "plain" && isLiteralKey(key, String(value.value), { inHeader: member === "headers" })
        ? [value]
        : []
    );
  });
}

/**
 * The text of a file for eyes: keys that others wrote into it are hidden. A text that does not parse loses what looks like
 * a key by its shape alone.
 */
export function hideKeys(text: string): string {
  let shown = text;
  try {
    const servers = /"mcpServers"/.test(text) ? nodeAt(parseJsonTree(text), ["mcpServers"]) : null;
    const keys = servers?.kind === "object" ? servers.members.flatMap(({ value }) => keyNodes(value)) : [];
    for (const { start, end } of keys.toReversed()) shown = `${shown.slice(0, start)}"${HIDDEN}"${shown.slice(end)}`;
  } catch (error) {
    if (!(error instanceof JsonProblem)) throw error;
  }
  return hiddenIn(shown);
}

/** An entry of a file for eyes: a server, or anything else. */
export function hideKeysOf(entry: unknown): unknown {
  if (entry === undefined) return undefined;
  return JSON.parse(hideKeys(JSON.stringify({ mcpServers: { entry } }))).mcpServers.entry;
}
