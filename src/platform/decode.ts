/** Text as others write it down: bytes of a file, and addresses. */
import { quietly } from "./real_path.ts";

/** Returns the text of UTF-8, without its byte order mark unless that `stays`; null for other bytes. */
export function utf8Text(bytes: Uint8Array, { stays = false }: { stays?: boolean } = {}): string | null {
  return quietly(() => new TextDecoder("utf-8", { fatal: true, ignoreBOM: stays }).decode(bytes));
}

/** Returns a text with what its percent signs stand for; where they stand for nothing, as it is. */
export function percentDecoded(text: string): string {
  return quietly(() => decodeURIComponent(text)) ?? text;
}

/** Returns the path of an address; null where it is none. */
export function pathOfAddress(address: string): string | null {
  const path = quietly(() => decodeURIComponent(new URL(address).pathname));
  // Drives: `/C:/…`.
  return Deno.build.os === "windows" && path !== null ? path.replace(/^\/(?=[A-Za-z]:)/, "") : path;
}
