/** The calls of a reply, however they were made, held against what was asked for, and the tools that are offered. */
import { recoverCalls } from "../text_calls/recover.ts";
import type { ChatResponse, ToolSchema } from "../types.ts";
import type { CallFinding } from "./findings.ts";

export interface Call {
  name: string;
  input: Record<string, unknown>;
}

/** Says what is wrong with the calls; null when they are right. */
export type CallCheck = (calls: readonly Call[]) => string | null;

/** The calls that can be used, how they came, and what is wrong with the others. */
interface SeenCalls {
  how: CallFinding["how"];
  calls: Call[];
  /** The form of calls in text; null for others. */
  family: string | null;
  problem: string | null;
}

const CUT: SeenCalls = { how: "cut", calls: [], family: null, problem: "no call before the token limit" };

/** The calls of a reply; those in its text only when there are no others and it was not cut. */
function callsIn(reply: ChatResponse, tools: readonly ToolSchema[]): SeenCalls {
  if (reply.calls.length > 0) {
    const calls = reply.calls.flatMap(({ name, input }) => input === null ? [] : [{ name, input }]);
    if (reply.finish === "length") return CUT;
    const broken = reply.calls.length - calls.length;
    return { how: "native", calls, family: null, problem: broken > 0 ? "the arguments are not valid JSON" : null };
  }
  if (reply.finish === "length") return CUT;
  const recovered = recoverCalls(reply.text, tools);
  if (recovered === null) return { how: "none", calls: [], family: null, problem: null };
  return { how: "text", calls: recovered.calls, family: recovered.family, problem: null };
}

/** Checks the calls of a reply. */
export function checkCalls(
  reply: ChatResponse,
  request: { tools: readonly ToolSchema[]; check: CallCheck },
): CallFinding {
  const { how, calls, family, problem } = callsIn(reply, request.tools);
  if (how === "none" || how === "cut") return { how, correct: false, detail: problem ?? "answered in words" };
  const wrong = problem ?? request.check(calls);
  if (wrong !== null) return { how, correct: false, detail: wrong };
  return { how, correct: true, detail: family === null ? "" : `written as text, form ${family}` };
}

/** Returns whether an argument names the city, in whatever spelling or with its country. */
function isCity(value: unknown, city: string): boolean {
  return typeof value === "string" && value.toLowerCase().includes(city.toLowerCase());
}

/** One call of `get_weather` for each of the cities, and no other call. */
export function weatherOf(...cities: readonly string[]): CallCheck {
  return (calls) => {
    if (calls.some(({ name }) => name !== "get_weather")) return "another tool was called";
    if (calls.length !== cities.length) {
      return `${calls.length} ${calls.length === 1 ? "call" : "calls"} instead of ${cities.length}`;
    }
    const missing = cities.find((city) => !calls.some(({ input }) => isCity(input["city"], city)));
    return missing === undefined ? null : `no call for ${missing}`;
  };
}

/** The event that was asked for, with its place and its guests as objects. */
export const checkEvent: CallCheck = (calls) => {
  const [call] = calls;
  if (call?.name !== "create_event" || calls.length !== 1) return "not one call of the tool";
  const { title, place, guests } = call.input;
  if (typeof title !== "string") return "the title is no text";
  if (typeof place !== "object" || place === null || Array.isArray(place)) return "the place is no object";
  const { city, room } = place as Record<string, unknown>;
  if (!isCity(city, "Oslo") || room !== 12) return "the place is not the one that was asked for";
  if (!Array.isArray(guests)) return "the guests are no list";
  const names = guests.map((guest: unknown) => (guest as { name?: unknown } | null)?.name);
  return isCity(names[0], "Ada") && isCity(names[1], "Grace") && names.length === 2
    ? null
    : "the guests are not those that were asked for";
};

function tool(name: string, description: string, parameters: Record<string, unknown>): ToolSchema {
  return { type: "function", function: { name, description, parameters } };
}

const text = { type: "string" };

/** One text argument. */
export const WEATHER: ToolSchema = tool("get_weather", "Get the weather of a city", {
  type: "object",
  properties: { city: text },
  required: ["city"],
});

/** An object and a list of objects as arguments. */
export const EVENT: ToolSchema = tool("create_event", "Create a calendar event", {
  type: "object",
  properties: {
    title: text,
    place: { type: "object", properties: { city: text, room: { type: "integer" } }, required: ["city", "room"] },
    guests: {
      type: "array",
      items: { type: "object", properties: { name: text }, required: ["name"] },
    },
  },
  required: ["title", "place", "guests"],
});

/** The form in which the agent lets models edit. */
export const EDIT: ToolSchema = tool("Edit", "Replace a text in a file", {
  type: "object",
  properties: {
    file_path: text,
    old_string: { type: "string", description: "exact text of the file" },
    new_string: text,
  },
  required: ["file_path", "old_string", "new_string"],
});
