/** Requests for replies to a server that does as told, without the program around. */
import assert from "node:assert/strict";
import { chat } from "../../src/provider/chat/chat.ts";
import { createChatCache } from "../../src/provider/chat/request_body.ts";
import { ProviderFailure } from "../../src/provider/failure.ts";
import { HttpClient } from "../../src/provider/http/client.ts";
import type { ChatDelta, ChatRequest, ChatResponse, Endpoint, RetryNotice } from "../../src/provider/types.ts";
import { listenHttp, type Reply, type WireRequest } from "./fake_http.ts";
import { manualClock } from "./manual_clock.ts";

/** How one request is answered. */
export type Answer = (reply: Reply, body: Record<string, unknown>) => Promise<void>;

/** A server that gives these answers in order, the last one again and again, and a client for it. */
export function conversation(...answers: Answer[]) {
  const bodies: Record<string, unknown>[] = [];
  const server = listenHttp("127.0.0.1", async (request: WireRequest, reply) => {
    const body = JSON.parse(new TextDecoder().decode(request.body));
    const answer = answers[Math.min(bodies.length, answers.length - 1)];
    bodies.push(body);
    await answer?.(reply, body);
  });
  const clock = manualClock();
  clock.skipBelow(10_000);
  const client = new HttpClient({ env: () => undefined, clock });
  const endpoint: Endpoint = {
    provider: "p",
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    keySource: "none",
    headers: {},
    caCerts: [],
    timeout: { connect: 10, firstByte: 600, idle: 300 },
    local: true,
  };
  const cache = createChatCache();
  const deltas: ChatDelta[] = [];
  const notices: RetryNotice[] = [];
  const controller = new AbortController();
  return {
    bodies,
    deltas,
    notices,
    clock,
    controller,
    client,
    endpoint,
    ask(more: Partial<ChatRequest> = {}, onDelta?: (delta: ChatDelta) => void | Promise<void>): Promise<ChatResponse> {
      const request: ChatRequest = { model: "m", messages: [{ role: "user", content: "hi" }], tools: [], ...more };
      return chat(client, { endpoint, request }, {
        signal: controller.signal,
        cache,
        clock,
        onDelta: (delta) => {
          deltas.push(delta);
          return onDelta?.(delta);
        },
        onRetry: (notice) => void notices.push(notice),
      });
    },
    async failure(more: Partial<ChatRequest> = {}): Promise<ProviderFailure> {
      try {
        await this.ask(more);
      } catch (error) {
        assert(error instanceof ProviderFailure, String(error));
        return error;
      }
      assert.fail("it did not fail");
    },
    async [Symbol.asyncDispose]() {
      client.close();
      await server.close();
    },
  };
}

export const EVENTS = { "content-type": "text/event-stream" };
export const JSON_TYPE = { "content-type": "application/json" };

/** One chunk of a stream. */
export function event(delta: unknown, finish: string | null = null): string {
  return `data: ${JSON.stringify({ model: "real", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

/** Says `Hello`. */
export const answers: Answer = async (reply) => {
  await reply.head(200, EVENTS);
  await reply.chunk(event({ content: "Hello" }));
  await reply.chunk(event({}, "stop") + "data: [DONE]\n\n");
  await reply.end();
};

/** An error of the server. */
export function refuses(status: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (reply) => reply.whole(status, { ...JSON_TYPE, ...headers }, JSON.stringify(body));
}
