/** Assembles tool calls from pieces: which piece belongs to which call. Source: wire reference, §6.7. */
import { ObjectScanner } from "./arguments.ts";
import type { ChatDelta, ReplyCall } from "../types.ts";
import { isRecord, type JsonRecord, parseJson, textOf } from "../../platform/record.ts";

/** A call as its pieces gave it; id and name are empty when the server gave none. */
export type CollectedCall = Pick<ReplyCall, "id" | "name" | "raw">;

export type ToolPiece = Omit<ChatDelta & { kind: "tool_call" }, "kind">;

interface PendingCall {
  id: string;
  name: string;
  /** The server's number for it; null when it gave none. */
  index: number | null;
  parts: string[];
  scanner: ObjectScanner;
  /** Number of parts that the scanner has seen. */
  scanned: number;
  /** Each part so far begins with the whole part before it: perhaps the server repeats what it sent. */
  growing: boolean;
}

const CALL_LIMIT = 1000;

/** Collects calls. Names are set once, never appended; ids and indexes may be missing, shared, or repeated. */
export class ToolCallCollector {
  readonly #pending: PendingCall[] = [];
  readonly #byId = new Map<string, PendingCall>();
  /** The server's number → the newest call under it. */
  readonly #byIndex = new Map<number, PendingCall>();
  /** Calls that were left out because one reply may hold {@link CALL_LIMIT} only. */
  dropped = 0;

  /** Takes one entry of `tool_calls`; gives what it added, or null when it added nothing. */
  push(delta: JsonRecord): ToolPiece | null {
    const call = isRecord(delta["function"]) ? delta["function"] : delta;
    const id = identifierOf(delta["id"]);
    const name = textOf(call["name"])?.trim() ?? "";
    const index = typeof delta["index"] === "number" ? delta["index"] : null;
    const args = argumentText(call["arguments"] ?? call["parameters"]);
    const known = this.#find({ id, name, index, args });
    if (known === null && id + name + args === "") return null;
    if (known === null && this.#pending.length >= CALL_LIMIT) {
      // What comes without a name continues a call that was left out.
      if (name !== "") this.dropped++;
      return null;
    }
    const pending = known ?? this.#open(index);
    if (pending.id === "" && id !== "") {
      pending.id = id;
      this.#byId.set(id, pending);
    }
    const named = pending.name === "" && name !== "";
    if (named) pending.name = name;
    const previous = pending.parts.at(-1);
    if (args !== "") {
      if (previous !== undefined && !args.startsWith(previous)) pending.growing = false;
      pending.parts.push(args);
    }
    if (!named && args === "") return null;
    return { index: this.#pending.indexOf(pending), ...(named ? { name } : {}), arguments: args };
  }

  /** The calls in the order in which they began. */
  calls(): CollectedCall[] {
    return this.#pending.map((pending) => ({ id: pending.id, name: pending.name, raw: rawOf(pending) }));
  }

  #find(piece: { id: string; name: string; index: number | null; args: string }): PendingCall | null {
    const { id, name, index, args } = piece;
    const byId = id === "" ? undefined : this.#byId.get(id);
    if (byId !== undefined) return byId;
    if (index === null) return id === "" && name === "" ? this.#pending.at(-1) ?? null : null;
    const byIndex = this.#byIndex.get(index);
    if (byIndex === undefined) return null;
    // Ollama 0.20 numbers every parallel call 0: another id is another call.
    if (id !== "" && (byIndex.id !== "" || name !== "")) return null;
    if (name === "" || byIndex.name === "") return byIndex;
    if (!isClosed(byIndex)) return byIndex;
    // A name after complete arguments begins a call, unless the server repeats the one it has sent.
    return name === byIndex.name && (args === "" || args === byIndex.parts.at(-1)) ? byIndex : null;
  }

  #open(index: number | null): PendingCall {
    const pending = { id: "", name: "", index, parts: [], scanner: new ObjectScanner(), scanned: 0, growing: true };
    this.#pending.push(pending);
    if (index !== null) this.#byIndex.set(index, pending);
    return pending;
  }
}

function identifierOf(value: unknown): string {
  if (typeof value === "number") return String(value);
  const text = textOf(value) ?? "";
  // Mistral sends the word for "none".
  return text === "null" ? "" : text;
}

function argumentText(value: unknown): string {
  if (typeof value === "string") return value;
  return isRecord(value) || Array.isArray(value) ? JSON.stringify(value) : "";
}

function isClosed(pending: PendingCall): boolean {
  for (; pending.scanned < pending.parts.length; pending.scanned++) {
    pending.scanner.push(pending.parts[pending.scanned] ?? "");
  }
  return pending.scanner.state === "closed" || pending.scanner.state === "more";
}

/**
 * Returns the pieces joined; where that is no JSON and every piece repeats the one before and adds to it, the last
 * piece.
 */
function rawOf(pending: PendingCall): string {
  const joined = pending.parts.join("");
  if (pending.parts.length < 2 || !pending.growing || parseJson(joined) !== undefined) return joined;
  return pending.parts.at(-1) ?? joined;
}
