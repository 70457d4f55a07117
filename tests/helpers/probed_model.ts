/** A scripted model that can do what `providers probe` asks for, and ways to take single abilities from it. */
import { ask, type PlannedCall, refuse, say, type Script, type Step } from "./fake_server.ts";

/** What the model and its server can do; everything unless told otherwise. */
export interface Abilities {
  /** Tokens, of four bytes each. */
  window?: number;
  /** What becomes of a prompt that is longer. */
  overflow?: "drop the start" | "refuse";
  /** How calls are made when tools are declared. */
  tools?: "native" | "refused" | "as text" | "in words";
  /** Whether calls are made when the prompt says how. */
  protocol?: boolean;
  schema?: "kept" | "ignored" | "refused";
  /** Whether replies hold reasoning, and what the server wants of it. */
  reasoning?: "none" | "seen" | "wanted back";
  /** Whether a marker is repeated at all. */
  repeats?: boolean;
}

// deno-lint-ignore no-explicit-any -- a body as the server got it
type Body = any;

/** The calls that each prompt of the battery asks for. */
const CALLS: readonly { prompt: RegExp; calls: { name: string; input: Record<string, unknown> }[] }[] = [
  {
    prompt: /Paris and in Oslo/,
    calls: [{ name: "get_weather", input: { city: "Paris" } }, { name: "get_weather", input: { city: "Oslo" } }],
  },
  { prompt: /weather in Paris/, calls: [{ name: "get_weather", input: { city: "Paris, France" } }] },
  {
    prompt: /Create an event/,
    calls: [{
      name: "create_event",
      input: { title: "Review", place: { city: "Oslo", room: 12 }, guests: [{ name: "Ada" }, { name: "Grace" }] },
    }],
  },
  {
    prompt: /shapes\.py/,
    calls: [{
      name: "Edit",
      input: {
        file_path: "shapes.py",
        old_string: "(width + height)\n    return total",
        new_string: "(width + height)\n    return round(total)",
      },
    }],
  },
];

/** The calls for a prompt, or none. */
export function callsFor(prompt: string): PlannedCall[] {
  return CALLS.find((entry) => entry.prompt.test(prompt))?.calls ?? [];
}

function asText(calls: readonly PlannedCall[]): string {
  return calls.map((call) => {
    const { name, input } = call as { name: string; input: unknown };
    return `<tool_call>\n${JSON.stringify({ name, arguments: input })}\n</tool_call>`;
  }).join("\n");
}

function replyTo(body: Body, abilities: Abilities): Step {
  const { window = 32_768, overflow = "refuse", tools = "native", protocol = true, schema = "kept" } = abilities;
  const last = body.messages.at(-1);
  const whole = body.messages.map((message: Body) => message.content).join("\n");
  const tokens = Math.ceil(whole.length / 4);
  if (tokens > window && overflow === "refuse") {
    return refuse(
      400,
      `This model's maximum context length is ${window} tokens. However, your messages resulted in ${tokens} tokens.`,
    );
  }
  const kept = whole.slice(-window * 4);
  const usage = { prompt: Math.min(tokens, window), completion: 8 };
  if (body.tools !== undefined && tools === "refused") return refuse(400, `${body.model} does not support tools`);
  if (/<tool_response>/.test(last.content) || last.role === "tool") return afterResult(body, abilities);
  const marker = /code word of this text is (\S+)\. Remember/.exec(kept)?.[1];
  if (/Which code word/.test(kept)) {
    return say(marker !== undefined && abilities.repeats !== false ? `It is ${marker}.` : "I see none.", { usage });
  }
  if (body.response_format !== undefined && schema === "refused") {
    return refuse(400, "response_format is not supported");
  }
  if (/capital of Norway/.test(whole)) {
    return say(schema === "kept" ? '{"capital":"Oslo","letters":4}' : "Oslo, with four letters.");
  }
  const calls = callsFor(last.content);
  if (calls.length > 0) {
    if (body.tools !== undefined && tools === "native") return ask(...calls);
    if (body.tools !== undefined && tools === "as text") return say(asText(calls));
    if (body.tools === undefined && protocol) return say(asText(calls));
    return say("The weather there is fine, I think.");
  }
  if (/Count from/.test(whole)) return say(Array.from({ length: 60 }, (_, index) => `${index + 1}, `).join(""));
  return say("Yes, of course, here it is.", { usage });
}

function afterResult(body: Body, { reasoning }: Abilities): Step {
  const assistant = body.messages.find((message: Body) => message.role === "assistant");
  if (reasoning === "wanted back" && assistant?.tool_calls !== undefined && !assistant.reasoning_content) {
    return refuse(400, "The reasoning_content in the thinking mode must be passed back to the API.");
  }
  return say("It is -37 degrees in Paris.");
}

/** The model as a script of the fake server. `change` may answer a request otherwise; null leaves it. */
export function probedModel(abilities: Abilities = {}, change: (body: Body) => Step | null = () => null): Script {
  return (request) => {
    const step = change(request.json) ?? replyTo(request.json, abilities);
    const thinks = (abilities.reasoning ?? "none") !== "none" && step.kind === "message";
    return thinks ? { ...step, reasoning: "Let me think." } : step;
  };
}
