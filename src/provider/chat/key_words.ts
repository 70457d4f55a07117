/** What is said of the key that a server refused or wants: where it came from, and what to do. Never the key. */
import { type ServerError, serverErrorFromBody, shownMessage } from "./server_error.ts";
import type { Endpoint } from "../types.ts";

type Given = Pick<Endpoint, "provider" | "key" | "keySource" | "configFile">;

/** Follows the provider's name: `refused the key (HTTP 401): literal in …/providers.yaml`. */
export function keyRefused(endpoint: Given, where: string): string {
  const { keySource, configFile } = endpoint;
  if (endpoint.key === undefined || endpoint.key === "") return `wants a key (${where})`;
  if (keySource === "local") return `wants a key (${where}): it was sent the local placeholder`;
  if (keySource === "literal") return `refused the key (${where}): literal in ${configFile ?? "providers.yaml"}`;
  return `refused the key (${where}): ${keySource}`;
}

/** Letters in a row that a word shares with a key only by being a part of it. */
const PIECE = 4;

/**
 * The server's own words about a key, to stand behind {@link keyRefused}; empty where it has none. Beside what
 * {@link shownMessage} leaves out, every word goes that has four letters in a row in common with the key or a header, or
 * in which the server itself left some out.
 */
export function wordsAboutKey(
  error: ServerError,
  { key = "", headers }: Pick<Endpoint, "key" | "headers">,
  texts: readonly string[] = [],
): string {
  const secrets = [key, ...Object.values(headers)].map((secret) => secret.trim()).filter((secret) => secret !== "");
  const message = shownMessage(error, [...texts, ...secrets]);
  const pieces = new Set(secrets.flatMap((secret) => piecesOf(secret)));
  const shown = message.replace(/[^\s"'`,;()<>[\]{}]+/g, (word) => {
    const isPart = /\*{2}|\.{3}|\u2026|^sk-/.test(word) || piecesOf(word).some((piece) => pieces.has(piece));
    return isPart ? `\u2026${/[.:!?]*$/.exec(word)?.[0] ?? ""}` : word;
  });
  return shown === "" ? "" : `; it says: ${shown}`;
}

/** {@link wordsAboutKey} of the body of a refusal. */
export function wordsInRefusal(body: string, endpoint: Pick<Endpoint, "key" | "headers">): string {
  return wordsAboutKey(serverErrorFromBody(body), endpoint);
}

function piecesOf(text: string): string[] {
  const folded = text.toLowerCase();
  if (folded.length <= PIECE) return [folded];
  return Array.from({ length: folded.length - PIECE + 1 }, (_, at) => folded.slice(at, at + PIECE));
}

/** What to do about it. */
export function keyHint(endpoint: Given): string {
  const { provider, keySource } = endpoint;
  const file = endpoint.configFile ?? "providers.yaml";
  if (keySource.startsWith("env:")) return `set ${keySource.slice("env:".length)} to a valid key`;
  if (keySource === "literal") {
    return `put a valid key in place of api_key of ${provider} there, or write api_key: $NAME and set that variable`;
  }
  if (keySource === "keyring" || keySource === "file") {
    return `store a valid one: agentcli providers set-key ${provider}`;
  }
  return `write api_key: $NAME for ${provider} in ${file}, and set that variable to its key`;
}
