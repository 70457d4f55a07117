/**
 * A scripted remote model on 127.0.0.2 for clients with models of their own: Anthropic's messages, and OpenAI's
 * responses.
 */

/** A call that the model makes, or the text that ends the turn. */
export type RemoteStep = { tool: string; input: unknown; server?: string } | { text: string };

/** The model, and every request that it got. */
export interface RemoteModel extends AsyncDisposable {
  address: string;
  /** Bodies, in order. */
  requests: string[];
  /** What each call gave, as the last request tells it. */
  results(): string[];
}

/** Starts it. The steps are for requests with tools; others, such as one for a title, get a short text. */
export function startRemoteModel(steps: readonly RemoteStep[]): RemoteModel {
  const requests: string[] = [];
  let next = 0;
  const server = Deno.serve({ hostname: "127.0.0.2", port: 0, onListen: () => {} }, async (request) => {
    const { pathname } = new URL(request.url);
    const body = await request.text();
    if (request.method !== "POST" || !/\/(?:messages|responses)$/.test(pathname)) {
      return Response.json({ data: [], models: [], input_tokens: 1 });
    }
    requests.push(body);
    const { model, tools = [] } = JSON.parse(body);
    const step: RemoteStep = tools.length < 2 ? { text: "ok" } : steps[next++] ?? { text: "done" };
    const id = `call_${requests.length}`;
    const events = pathname.endsWith("/messages") ? messageEvents(step, { id, model }) : responseEvents(step, { id });
    const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    return new Response(text, { headers: { "content-type": "text/event-stream" } });
  });
  const { port } = server.addr;
  return {
    address: `http://127.0.0.2:${port}`,
    requests,
    results: () => resultsIn(JSON.parse(requests.at(-1) ?? "{}")),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

type Event = { type: string } & Record<string, unknown>;

function messageEvents(step: RemoteStep, { id, model }: { id: string; model: string }): Event[] {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const message = { id, type: "message", role: "assistant", model, content: [], stop_reason: null, usage };
  const [block, delta, reason] = "text" in step
    ? [{ type: "text", text: "" }, { type: "text_delta", text: step.text }, "end_turn"]
    : [
      {
        type: "tool_use",
        id,
        name: step.server === undefined ? step.tool : `mcp__${step.server}__${step.tool}`,
        input: {},
      },
      { type: "input_json_delta", partial_json: JSON.stringify(step.input) },
      "tool_use",
    ];
  return [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: block },
    { type: "content_block_delta", index: 0, delta },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage },
    { type: "message_stop" },
  ];
}

function responseEvents(step: RemoteStep, { id }: { id: string }): Event[] {
  const item = "text" in step
    ? { type: "message", id, role: "assistant", content: [{ type: "output_text", text: step.text }] }
    : {
      ...{ type: "function_call", id: `f_${id}`, call_id: id, name: step.tool, arguments: JSON.stringify(step.input) },
      ...step.server === undefined ? {} : { namespace: `mcp__${step.server}` },
    };
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  return [
    { type: "response.created", response: { id } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: { id, usage } },
  ];
}

function resultsIn({ messages = [], input = [] }: Record<string, unknown[]>): string[] {
  const parts = messages.flatMap((message) => (message as { content: unknown[] }).content) as Record<string, unknown>[];
  const given = (content: unknown) => typeof content === "string" ? content : JSON.stringify(content);
  const ofMessages = parts.filter(({ type }) => type === "tool_result").map(({ content }) => given(content));
  const items = input as Record<string, unknown>[];
  return [
    ...ofMessages,
    ...items.filter(({ type }) => type === "function_call_output").map(({ output }) => given(output)),
  ];
}
