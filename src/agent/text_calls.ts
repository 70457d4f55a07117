/** Tool calls in the text of a response: recovered when it is complete, asked for again where they cannot be read. */
import { AgentcliError } from "../errors.ts";
import type { UnparsedCall } from "../provider/text_calls/recover.ts";
import type { ChatResponse, ToolSchema } from "../provider/types.ts";
import type { Session } from "./session.ts";
import type { ContinuePrompt } from "./turn_options.ts";

/** Every form of a written call has one of these. */
const COULD_BE_CALL = /[<[{(]/;

/**
 * The response with the calls found in its text, or null when there are none. Only where the response has no structured
 * calls and was not cut (specification, wire reference §8). Calls that end the reasoning count where there is no text.
 */
export async function recoverTextCalls(
  response: ChatResponse,
  tools: readonly ToolSchema[],
): Promise<{ response: ChatResponse; family: string } | null> {
  if (response.calls.length > 0 || response.finish === "length" || tools.length === 0) return null;
  // The model begins its call and forgets to close its reasoning first.
  const isThought = response.text.trim() === "";
  const text = isThought ? response.reasoning : response.text;
  if (!COULD_BE_CALL.test(text)) return null;
  // Loaded after the response: the way to the first request stays short.
  const { recoverMended, recoverThought } = await import("../provider/text_calls/recover.ts");
  const found = isThought ? recoverThought(text, tools) : await recoverMended(text, tools);
  if (found === null) return null;
  const said = isThought ? { reasoning: found.rest } : { text: found.rest };
  const calls = found.calls.map(({ name, input }) => ({ id: "", name, input, raw: JSON.stringify(input) }));
  return { response: { ...response, ...said, calls, finish: "tool_calls" }, family: found.family };
}

/** Every form of a written call has one of these and the name of a tool. */
const COULD_BE_UNREAD = /[<[{(:`]/;

/** How a line begins that opens a call, up to the name of its tool. What follows is in no form that is known. */
const OPENERS = [
  String.raw`<[|｜]?[\w:|｜]{0,24}(?:tool|func|call|invoke|action)[\w:|｜]{0,24}>\s*["'${"`"}]?`,
  String.raw`\[(?:TOOL|tool)_\w{1,16}\]\s*["'${"`"}]?`,
  String.raw`\**Action:\**\s*["'${"`"}]?`,
  String.raw`(?:tool|function)[_ ]call:\s*["'${"`"}]?`,
  String.raw`\{\s*"(?:name|tool|function|tool_name)"\s*:\s*"`,
  String.raw`${"```"}(?:tool|function)\w*\s*\n\s*`,
  "<",
];

/** The call that an answer holds, most likely, and that could not be read; null when it holds none. */
export async function unparsedTextCall(text: string, tools: readonly ToolSchema[]): Promise<UnparsedCall | null> {
  if (tools.length === 0 || !COULD_BE_UNREAD.test(text)) return null;
  const { unparsedCall } = await import("../provider/text_calls/recover.ts");
  return unparsedCall(text, tools) ?? openedCall(text, tools);
}

/** The call that a line outside of code opens with the name of a tool; it may be meant as words: asked about once. */
function openedCall(text: string, tools: readonly ToolSchema[]): UnparsedCall | null {
  // A block of code is an example, unless it says that it is a call.
  const words = text.replace(/^```(?!tool|function)[^\n]*\n[^]*?(?:^```|$(?![^]))/gm, "");
  const names = tools.map((tool) => RegExp.escape(tool.function.name)).join("|");
  const opener = new RegExp(`^[ \\t]*(${OPENERS.join("|")})(${names})(?![\\w-])`, "m").exec(words);
  if (opener === null) return null;
  const [found, mark = "", name = ""] = opener;
  // A closed object was already read, and is no call.
  const object = found + words.slice(opener.index + found.length);
  if (mark.startsWith("{") && object.split("{").length <= object.split("}").length) return null;
  return { name, ends: false };
}

/** Returns the prompt to send a call again that could not be read. */
export async function askAgain(session: Session, unread: UnparsedCall): Promise<ContinuePrompt> {
  const tool = unread.name ?? "a tool";
  const form = JSON.stringify({ name: unread.name ?? "tool name", arguments: { "argument name": "value" } });
  const way = await wayToRead(session);
  return {
    text:
      `Your last reply seems to call ${tool}, but the call cannot be read and was not run. If you meant it, end your ` +
      `reply with it, in exactly this form, not in a code block:\n<tool_call>\n${form}\n</tool_call>\n` +
      "If you did not, give your answer again without it.",
    notice:
      `the response has a call of ${tool} that cannot be read; asked the model to send it again (to avoid it: ${way})`,
  };
}

/** The end of a turn whose answer is a call that cannot be read, again. */
export async function unreadable(session: Session): Promise<AgentcliError> {
  const { entry } = session.model;
  return new AgentcliError("invalid_reply", `${entry.id} writes its tool calls in a form that cannot be read`, {
    hint: await wayToRead(session),
  });
}

/** How to make the server, or the model, give calls that can be read. */
async function wayToRead({ context, model, server }: Session): Promise<string> {
  if (context.toolProtocol !== "native") return "try another model, or a larger quantization of this one";
  const { toolParserAdvice } = await import("../provider/backends/backends.ts");
  return toolParserAdvice(await server.recognize(), model.entry.id) ??
    "start the server with the option that parses tool calls, or set tool_calls: text for the model in providers.yaml";
}
