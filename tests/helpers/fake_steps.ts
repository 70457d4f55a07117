/** What the fake server answers: the steps of a script, and short ways to write them. */

/** What a call is meant to do; the server picks the offered tool that can do it. */
export type Capability = "read" | "list" | "grep" | "shell" | "write" | "edit";

/** What a call is about; each goes into the parameter of the picked tool that means it. */
export interface Wanted {
  path?: string;
  pattern?: string;
  command?: string;
  content?: string;
  old?: string;
  new?: string;
}

/** A call: of a capability, or of a named tool with exactly this input (a string is sent as it is). */
export type PlannedCall =
  | { capability: Capability; wanted: Wanted }
  | { name: string; input: Record<string, unknown> | string; id?: string };

/** Token counts; `null` sends no usage at all. Absent: counted from the bytes of the request. */
export interface PlannedUsage {
  prompt: number;
  completion: number;
  cached?: number;
}

interface Streamed {
  text?: string;
  reasoning?: string;
  /** Default: `stop`, or `tool_calls` with calls. */
  finish?: string | null;
  usage?: PlannedUsage | null;
  /** Sent beside the usage, as llama.cpp does. */
  timings?: Record<string, number>;
}

/** One answer of the server. */
export type Step =
  /** A streamed message, a word a piece. */
  | ({ kind: "message"; calls?: PlannedCall[] } & Streamed)
  /** A whole reply with a status; `body` is sent as it is. */
  | { kind: "status"; status: number; body: string; headers?: Record<string, string> }
  /** These bytes, then the connection ends. */
  | { kind: "raw"; bytes: string | Uint8Array }
  /** A streamed message whose connection ends after `events` events. */
  | { kind: "cut"; events: number; message: Extract<Step, { kind: "message" }> }
  /** A streamed message that pauses after `events` events until `gate`, or until the client leaves. */
  | { kind: "paused"; events: number; gate: Promise<void>; message: Extract<Step, { kind: "message" }> }
  /** The head of a stream and nothing more, until the client leaves or the server closes. */
  | { kind: "silence"; beforeHead?: boolean }
  /** `[DONE]` and nothing else. */
  | { kind: "empty" }
  /** Waits for `gate`, then answers `then`. The client leaving ends the wait. */
  | { kind: "gated"; gate: Promise<void>; then: Step | Promise<Step> }
  /** What another server says first decides the answer. */
  | { kind: "later"; step: Promise<Step> }
  /** The same answer for every request from here on. */
  | { kind: "repeat"; step: Step };

/** A text answer. */
export function say(text: string, more: Omit<Streamed, "text"> = {}): Extract<Step, { kind: "message" }> {
  return { kind: "message", text, ...more };
}

/** Tool calls in one reply. */
export function ask(...calls: PlannedCall[]): Step {
  return { kind: "message", calls };
}

/** A call by capability. */
export function want(capability: Capability, wanted: Wanted): PlannedCall {
  return { capability, wanted };
}

/** An error with the body of an OpenAI-compatible server. */
export function refuse(status: number, message: string, headers: Record<string, string> = {}): Step {
  const body = JSON.stringify({ error: { message, type: "error", code: status } });
  return { kind: "status", status, body, headers: { "content-type": "application/json", ...headers } };
}

/** A page for people, with status 200. */
export function html(text = "Sign in"): Step {
  const body = `<!doctype html><html><body><h1>${text}</h1></body></html>`;
  return { kind: "status", status: 200, body, headers: { "content-type": "text/html" } };
}

/** The same step forever. */
export function always(step: Step): Step {
  return { kind: "repeat", step };
}
