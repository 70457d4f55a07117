/**
 * The server of the bench, a process of its own: what it costs must not show in what is measured. The model id is the
 * scenario. Prints its port as the first line and ends when standard input does. Its argument is the project's folder.
 *
 * - `short`: a short text · `stream-<n>`: n tokens, one an event, as fast as they are taken
 * - `rounds-<n>`: n calls that read `note-<i>.txt` one after another, then a text · `grep`: two calls of Grep, then a
 *   text
 *
 * A request without tools is answered shortly, whatever the model: some clients ask for a title like that.
 * `GET /log` gives what was recorded since the last `POST /clear`.
 */

import { type Answer, eventsOf, wholeAnswer } from "./mock_events.ts";
import { type Asked, askedIn, callThatReads, type Interface } from "./mock_request.ts";

/** A chat request as the mock recorded it; times are milliseconds since 1970, with a fraction. */
export interface MockRecord {
  arrived: number;
  /** When the last byte of the answer was handed over; 0 before. */
  answered: number;
  body: string;
  /** Whether it offered tools: a turn does, requests beside it do not. */
  tools: boolean;
}

/** The text every final answer ends in. */
export const END_MARK = "END-OF-ANSWER";

const encoder = new TextEncoder();
const BLOCK = 64 * 1024;
const SHORT = 8;
const WORDS = "the of code file run turn stream token reads writes path model local host test value line name".split(
  " ",
);

function now(): number {
  return performance.timeOrigin + performance.now();
}

function piecesOf(count: number): string[] {
  return Array.from({ length: count }, (_, at) => {
    const word = at === count - 1 ? END_MARK : WORDS[(at * 7 + (at >> 4)) % WORDS.length];
    return at % 16 === 15 ? `${word}.\n` : `${word} `;
  });
}

/** Events in pieces of {@link BLOCK} bytes and more. */
function blocksOf(events: Iterable<string>): Uint8Array<ArrayBuffer>[] {
  const blocks: Uint8Array<ArrayBuffer>[] = [];
  let pending = "";
  for (const event of events) {
    pending += event;
    if (pending.length < BLOCK) continue;
    blocks.push(encoder.encode(pending));
    pending = "";
  }
  return [...blocks, encoder.encode(pending)];
}

function answerTo(asked: Asked, { project, bytes }: { project: string; bytes: number }): Answer {
  const { model, tools, results } = asked;
  // A usual four bytes a token of the request, so that nothing looks cut off.
  const prompt = Math.ceil(bytes / 4);
  const rounds = Number(model.match(/^rounds-(\d+)$/)?.[1] ?? 0);
  const call = tools.length > 0 && results < rounds
    ? callThatReads(`${project}/note-${results + 1}.txt`, tools)
    : model === "grep" && results < 2
    ? { name: "Grep", input: { pattern: "needle[0-9]+" } }
    : null;
  if (call !== null) return { said: { call }, round: results, prompt, tokens: 20 };
  const count = tools.length === 0 ? SHORT : Number(model.match(/^stream-(\d+)$/)?.[1] ?? SHORT);
  return { said: { pieces: piecesOf(count) }, round: results, prompt, tokens: count };
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

function serve(project: string): void {
  // Long answers are made once: they take longer to make than to send.
  const prepared = new Map<string, Uint8Array<ArrayBuffer>[]>();
  const log: MockRecord[] = [];
  const blocksFor = (answer: Answer, spoken: Interface) => {
    const { begin, end } = eventsOf(answer, spoken);
    if ("call" in answer.said) return blocksOf([...begin, end]);
    const key = `${spoken} ${answer.tokens}`;
    const known = prepared.get(key) ?? blocksOf(begin);
    prepared.set(key, known);
    return [...known, encoder.encode(end)];
  };
  const answer = async (request: Request): Promise<Response> => {
    const arrived = now();
    const { pathname } = new URL(request.url);
    if (pathname === "/log") return Response.json(log);
    if (pathname === "/clear") return Response.json(log.splice(0).length);
    if (request.method === "GET" && pathname === "/v1/models") {
      return Response.json({ object: "list", data: [{ id: "short", object: "model" }] });
    }
    const spoken = pathname === "/v1/chat/completions" ? "chat" : pathname === "/v1/responses" ? "responses" : null;
    if (spoken === null || request.method !== "POST") return new Response("no such path", { status: 404 });
    const body = await request.text();
    const asked = askedIn(body);
    const record: MockRecord = { arrived, answered: 0, body, tools: asked.tools.length > 0 };
    log.push(record);
    const said = answerTo(asked, { project, bytes: body.length });
    if (asked.stream) return streamed(blocksFor(said, spoken), () => record.answered = now());
    record.answered = now();
    return Response.json(wholeAnswer(said));
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, answer);
  console.log(server.addr.port);
}

if (import.meta.main) {
  serve(Deno.args[0] ?? Deno.cwd());
  for await (const _ of Deno.stdin.readable) { /* Only its end matters. */ }
  Deno.exit(0);
}
