/** What is wrong with an MCP server as it stands in its file. */
import { argumentsWithKey, holdsKey, isLiteralKey } from "./server_keys.ts";

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
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
