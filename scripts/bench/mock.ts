/**
 * The server of the bench, a process of its own: what it costs must not show in what is measured. The model id is the
 * scenario. Prints its port as the first line and ends when standard input does.
 *
 * - `short`: a short text · `stream-<n>`: n tokens, one an event, as fast as they are taken
 * - `rounds-<n>`: n calls of Read one after another (`note-<i>.txt`), then a text · `grep`: one call of Grep, then a text
 *
 * `GET /log` gives what was recorded since the last `POST /clear`.
 */

/** A chat request as the mock recorded it; times are milliseconds since 1970, with a fraction. */
export interface MockRecord {
  arrived: number;
  /** When the last byte of the answer was handed over; 0 before. */
  answered: number;
  body: string;
}

/** The text every final answer ends in. */
export const END_MARK = "END-OF-ANSWER";

const encoder = new TextEncoder();
const BLOCK = 64 * 1024;
const WORDS = "the of code file run turn stream token reads writes path model local host test value line name".split(
  " ",
);

function now(): number {
  return performance.timeOrigin + performance.now();
}

function event(delta: Record<string, unknown>, finish: string | null = null): string {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1700000000, model: "bench", choices };
  return `data: ${JSON.stringify(chunk)}\n\n`;
}

/** What a server counts: a usual four bytes a token of the request, so that nothing looks cut off. */
function tail(finish: string, count: { prompt: number; tokens: number }): string {
  const { prompt, tokens } = count;
  const usage = { prompt_tokens: prompt, completion_tokens: tokens, total_tokens: prompt + tokens };
  return `${event({}, finish)}data: ${JSON.stringify({ choices: [], usage })}\n\ndata: [DONE]\n\n`;
}

function textBlocks(count: number): Uint8Array<ArrayBuffer>[] {
  const blocks: Uint8Array<ArrayBuffer>[] = [];
  let pending = event({ role: "assistant", content: "" });
  for (let at = 0; at < count; at++) {
    const word = at === count - 1 ? END_MARK : WORDS[(at * 7 + (at >> 4)) % WORDS.length];
    pending += event({ content: at % 16 === 15 ? `${word}.\n` : `${word} ` });
    if (pending.length < BLOCK) continue;
    blocks.push(encoder.encode(pending));
    pending = "";
  }
  return [...blocks, encoder.encode(pending)];
}

function callBlocks(name: string, input: Record<string, unknown>, round: number): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify(input);
  const half = text.length >> 1;
  const piece = (more: Record<string, unknown>) => event({ tool_calls: [{ index: 0, ...more }] });
  return encoder.encode(
    piece({ id: `call_${round}`, type: "function", function: { name, arguments: "" } }) +
      piece({ function: { arguments: text.slice(0, half) } }) +
      piece({ function: { arguments: text.slice(half) } }),
  );
}

interface Body {
  model: string;
  messages: { role: string }[];
}

function blocksFor(text: string, prepared: Map<string, Uint8Array<ArrayBuffer>[]>): Uint8Array<ArrayBuffer>[] {
  const { model, messages }: Body = JSON.parse(text);
  const prompt = Math.ceil(text.length / 4);
  const done = messages.filter(({ role }) => role === "tool").length;
  const rounds = Number(model.match(/^rounds-(\d+)$/)?.[1] ?? 0);
  const call = done < rounds
    ? callBlocks("Read", { file_path: `note-${done + 1}.txt` }, done)
    : model === "grep" && done === 0
    ? callBlocks("Grep", { pattern: "needle[0-9]+" }, done)
    : null;
  if (call !== null) return [call, encoder.encode(tail("tool_calls", { prompt, tokens: 20 }))];
  const count = Number(model.match(/^stream-(\d+)$/)?.[1] ?? 8);
  const key = String(count);
  const known = prepared.get(key) ?? textBlocks(count);
  prepared.set(key, known);
  return [...known, encoder.encode(tail("stop", { prompt, tokens: count }))];
}

function streamed(blocks: readonly Uint8Array<ArrayBuffer>[], ended: () => void): Response {
  let next = 0;
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const block = blocks[next++];
      if (block !== undefined) controller.enqueue(block);
      if (next < blocks.length) return;
      controller.close();
      ended();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

function serve(): void {
  const prepared = new Map<string, Uint8Array<ArrayBuffer>[]>();
  const log: MockRecord[] = [];
  const answer = async (request: Request): Promise<Response> => {
    const arrived = now();
    const { pathname } = new URL(request.url);
    if (pathname === "/log") return Response.json(log);
    if (pathname === "/clear") return Response.json(log.splice(0).length);
    if (request.method === "GET" && pathname === "/v1/models") {
      return Response.json({ object: "list", data: [{ id: "short", object: "model" }] });
    }
    if (pathname !== "/v1/chat/completions") return new Response("no such path", { status: 404 });
    const body = await request.text();
    const record: MockRecord = { arrived, answered: 0, body };
    log.push(record);
    return streamed(blocksFor(body, prepared), () => record.answered = now());
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  console.log(server.addr.port);
}

if (import.meta.main) {
  serve();
  for await (const _ of Deno.stdin.readable) { /* Only its end matters. */ }
  Deno.exit(0);
}
