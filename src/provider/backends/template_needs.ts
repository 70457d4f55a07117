/**
 * What the chat template of a llama-server's model needs to be spared. The server tries its template when it starts, and
 * tells in `chat_template_caps` of `/props` what came out; tools that a template knows nothing of it drops without a word.
 */
import { AgentcliError } from "../../errors.ts";
import { fetchJson, fieldsOf } from "../http/fetch_json.ts";
import type { HttpClient } from "../http/client.ts";
import type { ToolCallFallback } from "./model_metadata.ts";
import type { Endpoint } from "../types.ts";

/** For everything, in milliseconds: a reply is waiting to be shown. */
const SEARCH_MS = 1500;
/** Bytes of an answer: it holds the template itself. */
const ANSWER_LIMIT = 1024 * 1024;

/** How calls have to be sent to the model; `native`: as such. */
export type TemplateNeeds = ToolCallFallback | "native";

/** What a capability that is false asks for; the first row that holds decides. */
const NEEDS: readonly { capability: string; toolCalls: ToolCallFallback }[] = [
  { capability: "supports_tools", toolCalls: "text" },
  { capability: "supports_tool_calls", toolCalls: "text" },
  { capability: "supports_parallel_tool_calls", toolCalls: "single" },
];

/**
 * How calls have to be sent to the model, by its template; null when the server does not tell, or not within a second and
 * a half. Makes no server load a model. Only the signal's reason is thrown.
 */
export async function findTemplateNeeds(
  client: HttpClient,
  endpoint: Endpoint,
  { model, signal }: { model: string; signal: AbortSignal },
): Promise<TemplateNeeds | null> {
  const limits = { limitBytes: ANSWER_LIMIT, timeoutMs: SEARCH_MS, signal };
  const props = async (query: string) => {
    const answer = await fetchJson(client, endpoint, { path: `/props${query}`, atOrigin: true, ...limits });
    return fieldsOf(answer.status === 200 ? answer.json : null);
  };
  try {
    let fields = await props("");
    // A router has no template of its own.
    if (fields["role"] === "router") fields = await props(`?model=${encodeURIComponent(model)}&autoload=false`);
    const capabilities = fieldsOf(fields["chat_template_caps"]);
    const lacking = NEEDS.find(({ capability }) => capabilities[capability] === false);
    if (lacking !== undefined) return lacking.toolCalls;
    return NEEDS.every(({ capability }) => capabilities[capability] === true) ? "native" : null;
  } catch (error) {
    if (signal.aborted || !(error instanceof AgentcliError)) throw error;
    return null;
  }
}
