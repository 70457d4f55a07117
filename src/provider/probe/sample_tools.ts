/** The tools the battery declares. Nothing runs: what counts is how they are called. */
import type { ToolSchema } from "../types.ts";

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
