/** Reads fields of what clients send, which can have any shape. */
import { fieldsOf } from "../../provider/record.ts";

/** Text that is not empty. */
export function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The texts of a list; none when it is no list. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((entry): entry is string => typeof entry === "string") : [];
}

/** The servers that are named. */
export interface NamedServers {
  /** Of the client's own process. */
  own: string[];
  /** Programs and addresses: not connected to yet. */
  others: string[];
}

/** Reads the values of the option. What is no JSON object is a file, which is not read yet. */
export function readMcpConfig(values: readonly string[]): NamedServers {
  const named: NamedServers = { own: [], others: [] };
  for (const value of values) {
    let config: unknown;
    try {
      config = JSON.parse(value);
    } catch {
      named.others.push(value.replace(/^.*[\\/]/, "").slice(0, 100));
      continue;
    }
    for (const [name, server] of Object.entries(fieldsOf(fieldsOf(config).mcpServers))) {
      (fieldsOf(server).type === "sdk" ? named.own : named.others).push(name);
    }
  }
  return named;
}
