/** The checks of calls: native, as text, what comes back, and an edit that can be applied. */
import { ProviderFailure } from "../failure.ts";
import { asTextMessages, promptProtocol } from "../text_calls/prompt.ts";
import type { ChatResponse, ToolSchema, WireMessage } from "../types.ts";
import { recoverCalls } from "../text_calls/recover.ts";
import type { CallFinding, ToolResultFinding, ToolRoundCache } from "./findings.ts";
import { fillerText, newSeed } from "./window_checks.ts";
import { type Subject, userMessage } from "./subject.ts";

interface Call {
  name: string;
  input: Record<string, unknown>;
}

/** Says what is wrong with the calls; null when they are right. */
type CallCheck = (calls: readonly Call[]) => string | null;

/** Checks the calls of a reply; those in its text only when there are no others and it was not cut. */
export function checkCalls(
  reply: ChatResponse,
  { tools, check }: { tools: readonly ToolSchema[]; check: CallCheck },
): CallFinding {
  if (reply.finish === "length") return { how: "cut", correct: false, detail: "no call before the token limit" };
  const isNative = reply.calls.length > 0;
  const recovered = isNative ? null : recoverCalls(reply.text, tools);
  if (!isNative && recovered === null) return { how: "none", correct: false, detail: "answered in words" };
  const how = isNative ? "native" : "text";
  const calls = recovered?.calls ?? reply.calls.flatMap(({ name, input }) => input === null ? [] : [{ name, input }]);
  const isBroken = isNative && calls.length < reply.calls.length;
  const wrong = isBroken ? "the arguments are not valid JSON" : check(calls);
  if (wrong !== null) return { how, correct: false, detail: wrong };
  return { how, correct: true, detail: recovered === null ? "" : `written as text, form ${recovered.family}` };
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

export const WEATHER: ToolSchema = tool("get_weather", "Get the weather of a city", {
  type: "object",
  properties: { city: text },
  required: ["city"],
});

const EVENT: ToolSchema = tool("create_event", "Create a calendar event", {
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
const EDIT: ToolSchema = tool("Edit", "Replace a text in a file", {
  type: "object",
  properties: {
    file_path: text,
    old_string: { type: "string", description: "exact text of the file" },
    new_string: text,
  },
  required: ["file_path", "old_string", "new_string"],
});

/** Tokens of a reply with calls: room for a model that reasons first. */
const CALL_TOKENS = 1024;
/** Prompt of the single call; its result is sent back later. */
const WEATHER_QUESTION = "What is the weather in Paris? Use the tool.";

/** A finding with the reply it comes from; without one where the server does not support tool calling. */
export interface Called {
  found: CallFinding;
  reply: ChatResponse | null;
}

/** A question, the tools that are offered with it, and what is wrong with calls. */
interface Wanted {
  prompt: string;
  tools: ToolSchema[];
  check: CallCheck;
}

/** One call of one tool, two calls in one reply, and objects and lists as arguments. */
export const WANTED = {
  toolCall: { prompt: WEATHER_QUESTION, tools: [WEATHER], check: weatherOf("Paris") },
  parallelCalls: {
    prompt: "What is the weather in Paris and in Oslo? Call the tool once for each city, both calls in the same reply.",
    tools: [WEATHER],
    check: weatherOf("Paris", "Oslo"),
  },
  nestedArguments: {
    prompt: "Create an event with the title Review, in Oslo, room 12, with the guests Ada and Grace. Use the tool.",
    tools: [EVENT],
    check: checkEvent,
  },
};

/** Asks for calls as the protocol has them. */
export async function nativeCalls(subject: Subject, wanted: Wanted, signal: AbortSignal): Promise<Called> {
  const { prompt, tools, check } = wanted;
  try {
    const request = { messages: userMessage(prompt), tools, maxTokens: CALL_TOKENS };
    const { reply } = await subject.send(request, { signal });
    return { found: checkCalls(reply, { tools, check }), reply };
  } catch (error) {
    if (!refusesTools(error)) throw error;
    const detail = "the server does not support tool calling with this model";
    return { found: { how: "refused", correct: false, detail }, reply: null };
  }
}

/** Every other part of the request was accepted without tools before, so a refusal means the tools. */
function refusesTools(error: unknown): boolean {
  if (!(error instanceof ProviderFailure)) return false;
  return error.kind === "no_tools" || error.kind === "template" ||
    (error.kind === "request" && (error.facts.status ?? 0) >= 400);
}

/** A question with the tools in the system message. */
function withProtocol(tools: readonly ToolSchema[], prompt: string): WireMessage[] {
  return [{ role: "system", content: promptProtocol(tools) }, { role: "user", content: prompt }];
}

/** One call of one tool, written as text. */
export async function textToolCall(subject: Subject, signal: AbortSignal): Promise<CallFinding> {
  const request = { messages: withProtocol([WEATHER], WEATHER_QUESTION), maxTokens: CALL_TOKENS };
  const { reply } = await subject.send(request, { signal });
  return checkCalls(reply, { tools: [WEATHER], check: weatherOf("Paris") });
}

/** Nobody guesses it. */
const DEGREES = "-37";
/** Nine letters and digits: the strictest rule for ids (Mistral). */
const CALL_ID = "call00001";

/** The form of calls, and the reply that made one (null: its reasoning is not known). */
interface ToolTurn {
  how: "native" | "text";
  reply: ChatResponse | null;
}

/**
 * Sends a result back, first without the model's reasoning. Only when the server refuses that, and takes the same with
 * the reasoning, it needs it (DeepSeek: 400).
 */
export async function useToolResult(
  subject: Subject,
  turn: ToolTurn,
  options: { signal: AbortSignal },
): Promise<ToolResultFinding> {
  const reasoning = turn.reply?.reasoning ?? "";
  const use = async (history: WireMessage[]) => {
    const tools = turn.how === "native" ? [WEATHER] : [];
    const { reply } = await subject.send({ messages: history, tools, maxTokens: CALL_TOKENS }, options);
    return /[-−–]\s?37|minus (?:37|thirty-seven)/i.test(reply.text);
  };
  try {
    const used = await use(historyOf(turn.how, ""));
    return { how: turn.how, used, reasoningNeeded: reasoning === "" ? null : false };
  } catch (error) {
    const refused = error instanceof ProviderFailure && (error.kind === "request" || error.kind === "template");
    if (!refused || reasoning === "" || turn.how === "text") throw error;
    return { how: turn.how, used: await use(historyOf(turn.how, reasoning)), reasoningNeeded: true };
  }
}

function historyOf(how: ToolTurn["how"], reasoning: string): WireMessage[] {
  const turns: WireMessage[] = [
    { role: "user", content: WEATHER_QUESTION },
    {
      role: "assistant",
      content: "",
      ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
      tool_calls: [{
        id: CALL_ID,
        type: "function",
        function: { name: WEATHER.function.name, arguments: JSON.stringify({ city: "Paris" }) },
      }],
    },
    {
      role: "tool",
      tool_call_id: CALL_ID,
      name: WEATHER.function.name,
      content: JSON.stringify({ celsius: Number(DEGREES), sky: "clear" }),
    },
  ];
  return how === "native" ? turns : asTextMessages([{ role: "system", content: promptProtocol([WEATHER]) }, ...turns]);
}

/** How a session sends what was said before. */
export interface SentHistory {
  keepsReasoning: boolean;
  /** Template variables with which reasoning is shown. */
  fields: Record<string, unknown>;
}

/** Tokens of the text in front of the question, where the window has room: less than a server's block says nothing. */
const ROUND_TOKENS = 1500;
/** Share of the first prompt that may be read again: its end shares a block with what follows. */
const READ_AGAIN = 0.1;

/** Sends a long prompt, and then the same with the reply and the result of a tool after it. */
export async function checkToolRound(
  subject: Subject,
  options: { how: "native" | "text"; history: SentHistory; window: number | null; signal: AbortSignal },
): Promise<ToolRoundCache> {
  const { how, history: { keepsReasoning, fields }, window, signal } = options;
  const tokens = Math.min(ROUND_TOKENS, Math.floor((window ?? ROUND_TOKENS * 4) / 4));
  const text = fillerText(tokens * subject.bytesPerToken, newSeed());
  const prompt = `${text}\n\n${WEATHER_QUESTION}`;
  const tools = how === "native" ? [WEATHER] : [];
  const start = how === "native" ? userMessage(prompt) : withProtocol([WEATHER], prompt);
  const send = async (messages: WireMessage[]) =>
    (await subject.send({ messages, tools, maxTokens: CALL_TOKENS, params: fields }, { signal })).reply;
  const first = await send(start);
  const reasoning = keepsReasoning && how === "native" ? first.reasoning : "";
  const said = historyOf(how, reasoning).slice(start.length);
  const [reply] = said;
  const [call] = first.calls;
  if (reply?.role === "assistant") {
    reply.content = first.text;
    const sent = reply.tool_calls?.[0];
    if (sent !== undefined && call !== undefined) {
      sent.function = { name: call.name, arguments: JSON.stringify(call.input ?? {}) };
    }
  }
  const { usage } = await send([...start, ...said]);
  const promptTokens = first.usage?.promptTokens ?? 0;
  if (usage?.cacheReported !== true || promptTokens === 0) return { promptTokens, rereadTokens: null, kept: "unclear" };
  const rereadTokens = Math.max(promptTokens - usage.cachedTokens, 0);
  return { promptTokens, rereadTokens, kept: rereadTokens <= promptTokens * READ_AGAIN ? "yes" : "no" };
}

const FILE = `def area(width, height):
    total = width * height
    return total


def border(width, height):
    total = 2 * (width + height)
    return total
`;
const EXPECTED = FILE.replace(
  "2 * (width + height)\n    return total",
  "2 * (width + height)\n    return round(total)",
);
const PROMPT = `The file shapes.py holds:\n\n${FILE}\n` +
  "Make the function border return round(total) instead of total, and change nothing else. Use the tool Edit once: " +
  "old_string is text of the file, exactly as it stands there, that occurs once; new_string takes its place.";

/** Asks for one edit, with native calls or with calls in text. What counts is the file that the edit would give. */
export async function checkEdit(
  subject: Subject,
  options: { how: "native" | "text"; signal: AbortSignal },
): Promise<CallFinding> {
  const { how, signal } = options;
  const request = how === "native"
    ? { messages: userMessage(PROMPT), tools: [EDIT], maxTokens: CALL_TOKENS }
    : { messages: withProtocol([EDIT], PROMPT), maxTokens: CALL_TOKENS };
  const { reply } = await subject.send(request, { signal });
  return checkCalls(reply, { tools: [EDIT], check: checkEditCall });
}

/** Returns what is wrong with the edit; null when it produces the requested file. */
export const checkEditCall: CallCheck = (calls) => {
  const [call] = calls;
  if (call?.name !== "Edit" || calls.length !== 1) return "not one call of the tool";
  const { file_path, old_string, new_string } = call.input;
  if (typeof file_path !== "string" || typeof old_string !== "string" || typeof new_string !== "string") {
    return "arguments are missing";
  }
  if (!file_path.endsWith("shapes.py")) return "another file is named";
  const places = old_string === "" ? 0 : FILE.split(old_string).length - 1;
  if (places === 0) return "old_string is not in the file";
  if (places > 1) return `old_string stands ${places} times in the file`;
  return FILE.replace(old_string, () => new_string) === EXPECTED ? null : "the edited file is not what was asked for";
};
