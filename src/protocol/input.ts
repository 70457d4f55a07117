/** Reads lines of a client: one JSON each, read into a tagged union once and trusted afterwards. */
import { isRecord, parseJson } from "../platform/record.ts";

/** An image of a message as it was sent: its base64, or a source of another kind. Nothing is known of what it holds. */
export type EncodedImage = { data: string } | { source: "other" };

/** A message for the model; starts a turn, or goes into the running one. */
export interface UserInput {
  kind: "user";
  text: string;
  /** Absent for none. */
  images?: EncodedImage[];
  /** The client's own, where it gave one. */
  id?: string;
}

/** A request of the client. */
export interface ControlRequest {
  kind: "control_request";
  id: string;
  subtype: string;
  /** The whole request, `subtype` included. */
  fields: Record<string, unknown>;
}

/** The client's answer to a request of ours. */
export interface ControlResponse {
  kind: "control_response";
  id: string;
  /** The response, or the client's error as text. */
  outcome: { response: Record<string, unknown> } | { error: string };
}

/** A parsed line. `ignored` lines are known but have no effect; `broken` says what is wrong, for a notice. */
export type InputMessage =
  | UserInput
  | ControlRequest
  | ControlResponse
  | { kind: "cancel"; id: string }
  | { kind: "ignored" }
  | { kind: "broken"; problem: string; isJson: boolean };

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Reads one line. Never throws; an empty line is ignored. The problem of a broken line does not quote it. */
export function readInputLine(line: string): InputMessage {
  if (line.trim() === "") return { kind: "ignored" };
  const value = parseJson(line);
  if (value === undefined) return { kind: "broken", problem: "the line is no JSON", isJson: false };
  if (!isRecord(value)) return broken("the line is no JSON object");
  switch (value.type) {
    case "user":
      return userInput(value);
    case "control_request":
      return controlRequest(value);
    case "control_response":
      return controlResponse(value);
    case "control_cancel_request":
      return typeof value.request_id === "string" ? { kind: "cancel", id: value.request_id } : { kind: "ignored" };
    case "keep_alive":
    case "update_environment_variables":
      return { kind: "ignored" };
    default:
      return broken(`the type of the line is not known`);
  }
}

function broken(problem: string): InputMessage {
  return { kind: "broken", problem, isJson: true };
}

function userInput(value: Record<string, unknown>): InputMessage {
  const content = isRecord(value.message) ? value.message.content : undefined;
  const id = text(value.uuid);
  const named = id === undefined ? {} : { id };
  if (typeof content === "string") return { kind: "user", text: content, ...named };
  if (!Array.isArray(content)) return broken("the user message has no content");
  const texts: string[] = [];
  const images: EncodedImage[] = [];
  for (const block of content) {
    if (!isRecord(block)) return broken("a block of the user message is no object");
    if (block.type === "text") texts.push(text(block.text) ?? "");
    else if (block.type === "image") images.push(encodedImage(block.source));
    // Other blocks (documents) have no place in a request: they are named instead.
    else texts.push(`[${text(block.type)?.slice(0, 40) ?? "block"} left out]`);
  }
  return { kind: "user", text: texts.join("\n"), ...(images.length === 0 ? {} : { images }), ...named };
}

function encodedImage(source: unknown): EncodedImage {
  const data = isRecord(source) && source.type === "base64" ? text(source.data) : undefined;
  return data === undefined ? { source: "other" } : { data };
}

function controlRequest(value: Record<string, unknown>): InputMessage {
  const id = text(value.request_id);
  if (id === undefined) return broken("the control request has no request_id");
  const fields = isRecord(value.request) ? value.request : {};
  return { kind: "control_request", id, subtype: text(fields.subtype) ?? "", fields };
}

function controlResponse(value: Record<string, unknown>): InputMessage {
  const body = isRecord(value.response) ? value.response : {};
  const id = text(body.request_id) ?? text(value.request_id);
  if (id === undefined) return broken("the control response has no request_id");
  if (body.subtype === "error") {
    return { kind: "control_response", id, outcome: { error: text(body.error) ?? "the client failed" } };
  }
  return { kind: "control_response", id, outcome: { response: isRecord(body.response) ? body.response : {} } };
}
