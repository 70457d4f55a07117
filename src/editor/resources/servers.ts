/** MCP servers: which values are keys, and the problems of an entry. */
import { orProblem } from "../limits.ts";
import { isRecord } from "../../platform/record.ts";
import { isSecretVariable } from "../../boundary/policy/environment.ts";
import { type JsonNode, nodeAt, parseJsonDocument, printJson } from "./json_tree.ts";

const KEY_SHAPE = /\b(?:sk-|sk_|gh[pousr]_|github_pat_|xox[a-z]-|AKIA|AIza|eyJ)[-_A-Za-z0-9.]{8,}/;
/** `${env:NAME}`, which the editors fill in. */
const REFERENCE = /\$\{env:[A-Za-z_]\w*\}/g;
/** In arguments and addresses programs fill in names of their own too. */
const ANY_REFERENCE = /\$\{[^{}]*\}|\$[A-Za-z_]\w*|%\w+%|<[^<>]*>/g;
const PASSWORD = /(:\/\/[^/\s@:]*:)[^/\s@]+@/g;
const SCHEME = /^\s*(?:bearer|basic|token|bot)\s+\S{6,}\s*$/i;
const HIDDEN = "(a key)";

/** Returns whether something of that name is a key: a variable, a header, an option, a parameter of an address. */
function namesKey(name: string): boolean {
  const plain = name.replace(/^-+/, "").replaceAll(/[-.]/g, "_");
  return isSecretVariable(plain) || /(?:^|_)(?:authorization|auth|cookie|pass|pwd|pat|sig|signature)$/i.test(plain);
}

/** Text beside references that is not part of a key: a scheme (`Bearer`), cookie names, separators. */
function isOnlyReferences(value: string): boolean {
  const rest = value.replace(REFERENCE, "\0");
  return rest.includes("\0") &&
    /^[\s"']*(?:(?:bearer|basic|bot|digest|oauth|apikey|(?:[a-z-]*-)?(?:token|key))\s+)?(?:[\0:;,"'\s]|(?<![^\s;])[A-Za-z][\w.-]{0,31}=)*$/i
      .test(rest);
}

/** Returns whether the value of a variable or of a header is a literal key, or holds one beside a reference. */
export function isLiteralKey(name: string, value: string, { inHeader }: { inHeader: boolean }): boolean {
  const isNamed = isSecretVariable(name.replaceAll("-", "_")) || (inHeader && namesKey(name));
  return holdsKey(value) || SCHEME.test(value.replace(REFERENCE, "")) ||
    (isNamed && value !== "" && !isOnlyReferences(value));
}

/**
 * Returns whether a word or an address holds a key: by its shape, as a password, or as a parameter with the name of
 * one.
 */
export function holdsKey(word: string): boolean {
  return hiddenIn(word) !== word;
}

/** Returns what follows the name of a key: a key, unless it refers to one, or names a file. */
function isValueOfKey(value: string): boolean {
  const rest = value.replace(ANY_REFERENCE, "").replace(/^\s*(?:(?:bearer|basic|token|bot|[:"'])[\s:"']*)?$/i, "");
  return rest !== "" && !/^(?:\.{0,2}|~)\/|^[A-Za-z]:\\|\.(?:pem|key|crt|json|txt)$/.test(value);
}

/** Returns a word with what is a key in it hidden; `before`: the word in front of it. */
function shownWord(word: string, before: string): string {
  const [, head = "", name = "", value = ""] =
    /^((?:--?[A-Za-z][\w-]*=)?(-{0,2}[A-Za-z_][\w-]*)[=:]\s*)([^]*)$/.exec(word) ??
      [];
  if (namesKey(name) && !value.startsWith("//") && isValueOfKey(value)) return head + HIDDEN;
  const isOption = /^--?[A-Za-z][\w-]*$/.test(before) && namesKey(before);
  return isOption && !word.startsWith("-") && isValueOfKey(word) ? HIDDEN : hiddenIn(word);
}

function shownWords(words: readonly string[]): string[] {
  return words.map((word, at) => shownWord(word, words[at - 1] ?? ""));
}

/**
 * Returns the places of those words of a command line that hold a literal key (`--token=…`, `--password …`, `KEY=…`).
 */
export function argumentsWithKey(words: readonly string[]): number[] {
  return shownWords(words).flatMap((shown, at) => shown === words[at] ? [] : [at]);
}

/** Returns a text without keys, wherever they are: by their shape, in an address, or after an option named like one. */
function hiddenIn(text: string): string {
  return text
    .replace(new RegExp(KEY_SHAPE, "g"), HIDDEN)
    .replace(
      PASSWORD,
      (whole, head: string) => whole.slice(head.length, -1).replace(ANY_REFERENCE, "") === "" ? whole : `://${HIDDEN}@`,
    )
    .replace(
      /([?&])([\w.-]+)=([^&#\s"'`\\]+)/g,
      (whole, sign: string, name: string, value: string) =>
        namesKey(name) && isValueOfKey(value) ? `${sign}${name}=${HIDDEN}` : whole,
    )
    .replace(
      // As files of settings write it.
      /(^[ \t]*|[{,][ \t]*)"?([\w.-]+)"?([ \t]*=[ \t]*)"([^"\n]+)"/gm,
      (whole, head: string, name: string, sign: string, value: string) =>
        namesKey(name.split(".").at(-1) ?? "") && isValueOfKey(value) ? `${head}${name}${sign}"${HIDDEN}"` : whole,
    )
    .replace(
      /(^|[\s"'`])(--?[A-Za-z][\w-]*)=([^\s"'`\\]+)/g,
      (whole, sign: string, name: string, value: string) =>
        namesKey(name) && isValueOfKey(value) ? `${sign}${name}=${HIDDEN}` : whole,
    );
}

/** Hides the values of a server that are literal keys. */
function hideIn(server: JsonNode): void {
  if (server.kind !== "object") return;
  for (const { key: member, value } of server.children) {
    if (value.kind === "plain") continue;
    if (member === "args") {
      const words = value.children.map(({ value: word }) => word.kind === "plain" ? String(word.value) : "");
      const shown = shownWords(words);
      value.children.forEach((word, at) => {
        if (shown[at] !== words[at]) word.value = shownAs(shown[at] ?? HIDDEN);
      });
    }
    if ((member !== "env" && member !== "headers") || value.kind !== "object") continue;
    for (const one of value.children) {
      const isKey = one.value.kind === "plain" &&
        isLiteralKey(one.key, String(one.value.value), { inHeader: member === "headers" });
      if (isKey) one.value = shownAs(HIDDEN);
    }
  }
}

function shownAs(value: string): JsonNode {
  return { kind: "plain", value, text: JSON.stringify(value), indent: "" };
}

/**
 * Returns the text of a file for display: keys that others wrote into it are hidden. A text that does not parse loses
 * what looks like a key by its shape, and what is in the place of one in an address or an option.
 */
export function hideKeys(text: string): string {
  if (!text.includes('"mcpServers"')) return hiddenIn(text);
  return orProblem(() => {
    const json = parseJsonDocument(text);
    const servers = nodeAt(json.root, ["mcpServers"]);
    if (servers?.kind === "object") servers.children.forEach(({ value }) => hideIn(value));
    return hiddenIn(printJson(json));
  }, () => hiddenIn(text));
}

/** Returns an entry of a file for display: a server, or anything else. */
export function hideKeysOf(entry: unknown): unknown {
  if (entry === undefined) return undefined;
  return JSON.parse(hideKeys(JSON.stringify({ mcpServers: { entry } }))).mcpServers.entry;
}

function textList(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

/** Problems of a server; no value of it is in them. */
export function serverProblems(value: unknown): string[] {
  if (!isRecord(value)) return ["the server is no object"];
  const problems: string[] = [];
  const ways = ["command", "serverUrl", "url"].filter((key) => typeof value[key] === "string");
  if (ways.length !== 1) problems.push("a server has either a command or an address");
  for (const key of ["args", "disabledTools"]) {
    if (value[key] !== undefined && !textList(value[key])) problems.push(`its ${key} is no list of texts`);
  }
  if (value.disabled !== undefined && typeof value.disabled !== "boolean") {
    problems.push("its disabled is no true or false");
  }
  const open = [value.command, value.serverUrl, value.url].filter((word) => typeof word === "string");
  if (open.some(holdsKey) || (textList(value.args) && argumentsWithKey(value.args).length > 0)) {
    problems.push("its command line or address holds a literal key");
  }
  return [...problems, ...mapProblems("env", value.env), ...mapProblems("headers", value.headers)];
}

function mapProblems(member: "env" | "headers", value: unknown): string[] {
  if (value === undefined) return [];
  if (!isRecord(value)) return [`its ${member} is no map of texts`];
  return Object.entries(value).flatMap(([name, text]) => {
    if (typeof text !== "string") return [`its ${member} is no map of texts`];
    return isLiteralKey(name, text, { inHeader: member === "headers" }) ? [`${name} holds a literal key`] : [];
  });
}
