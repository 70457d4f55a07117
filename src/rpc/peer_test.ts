import assert from "node:assert/strict";
import * as property from "../../tests/property.ts";
import { RPC_CODES, RpcError } from "./message.ts";
import { RpcClosed, type RpcHandlers, type RpcOptions, RpcPeer } from "./peer.ts";

/** A pipe of bytes in memory. */
function pipe() {
  const chunks: (Uint8Array | null)[] = [];
  let changed = Promise.withResolvers<void>();
  const push = (chunk: Uint8Array | null) => {
    chunks.push(chunk);
    changed.resolve();
  };
  return {
    write: (text: string) => Promise.resolve(push(new TextEncoder().encode(text))),
    end: () => push(null),
    async read(): Promise<Uint8Array | null> {
      while (chunks.length === 0) {
        await changed.promise;
        changed = Promise.withResolvers();
      }
      return chunks.shift() ?? null;
    },
  };
}

const CANCEL = { method: "$/cancel_request", isAnswered: true };
const NOTHING: RpcHandlers = {
  request: (method) => Promise.reject(new RpcError(RPC_CODES.methodNotFound, `unknown method: ${method}`)),
  notification: () => {},
};

/** A peer, and the lines that a test writes to it and reads from it. */
function wire(handlers: Partial<RpcHandlers>, options: Partial<RpcOptions> = {}) {
  const [input, output] = [pipe(), pipe()];
  const peer = new RpcPeer(
    { read: input.read, write: output.write },
    { ...NOTHING, ...handlers },
    { cancel: CANCEL, broken: { isAnswered: true, hear: () => {} }, ...options },
  );
  const running = peer.run();
  const decoder = new TextDecoder();
  return {
    peer,
    running,
    raw: input.write,
    send: (message: Record<string, unknown>) => input.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n"),
    end: input.end,
    async next(): Promise<Record<string, unknown>> {
      return JSON.parse(decoder.decode(await output.read() ?? undefined));
    },
  };
}

/** Two peers that talk to each other. */
function pair(left: Partial<RpcHandlers>, right: Partial<RpcHandlers>) {
  const [there, back] = [pipe(), pipe()];
  const options = { cancel: CANCEL };
  const one = new RpcPeer({ read: back.read, write: there.write }, { ...NOTHING, ...left }, options);
  const two = new RpcPeer({ read: there.read, write: back.write }, { ...NOTHING, ...right }, options);
  const done = Promise.all([one.run(), two.run()]);
  return {
    one,
    two,
    async end() {
      there.end();
      back.end();
      await done;
    },
  };
}

Deno.test("both sides ask and answer at the same time", async () => {
  const { one, two, end } = pair(
    { request: (method, { by }) => Promise.resolve({ method, by }) },
    { request: async (method, params) => ({ asked: await two.request("back", params), method }) },
  );
  const answers = await Promise.all([1, 2, 3].map((by) => one.request("there", { by })));
  assert.deepEqual(answers, [1, 2, 3].map((by) => ({ asked: { method: "back", by }, method: "there" })));
  await end();
});

Deno.test("what comes after the answer is written after it", async () => {
  const { peer, send, next, end, running } = wire({
    async request(_method, _params, { afterAnswer }) {
      afterAnswer(() => peer.notify("after", {}));
      await peer.notify("before", {});
      return { ok: true };
    },
  });
  await send({ id: 7, method: "new" });
  assert.equal((await next()).method, "before");
  assert.deepEqual(await next(), { jsonrpc: "2.0", id: 7, result: { ok: true } });
  assert.equal((await next()).method, "after");
  end();
  await running;
});

Deno.test("a request that is canceled ends with -32800, or without an answer where the protocol wants none", async () => {
  const forever: Partial<RpcHandlers> = {
    request: (method, _params, { signal }) =>
      method === "quick" ? Promise.resolve({}) : new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
      }),
  };
  const told = wire(forever);
  await told.send({ id: "a", method: "slow" });
  await told.send({ method: CANCEL.method, params: { requestId: "a" } });
  assert.deepEqual((await told.next()).error, { code: -32800, message: "the request was cancelled" });
  const silent = wire(forever, { cancel: { method: "notifications/cancelled", isAnswered: false } });
  await silent.send({ id: "a", method: "slow" });
  await silent.send({ method: "notifications/cancelled", params: { requestId: "a" } });
  await silent.send({ id: "b", method: "quick" });
  assert.equal((await silent.next()).id, "b");
  for (const { end, running } of [told, silent]) {
    end();
    await running;
  }
});

Deno.test("a request of ours that is given up is canceled, and a late answer to it means nothing", async () => {
  const { peer, next, send, end, running } = wire({});
  const stopping = new AbortController();
  const asked = peer.request("slow", {}, stopping.signal);
  const { id } = await next();
  stopping.abort(new Error("enough"));
  await assert.rejects(asked, /enough/);
  assert.deepEqual(await next(), { jsonrpc: "2.0", method: CANCEL.method, params: { requestId: id } });
  await send({ id, result: {} });
  const again = peer.request("slow", {});
  const { id: second } = await next();
  assert.notEqual(second, id);
  await send({ id: second, error: { code: -32002, message: "not there", data: { uri: "x" } } });
  await assert.rejects(again, (error) => error instanceof RpcError && error.code === -32002);
  end();
  await running;
});

Deno.test("the end of the input aborts handlers, rejects what was asked, and waits for what was begun", async () => {
  let ended = false;
  const { peer, send, next, end, running } = wire({
    async request(_method, _params, { signal }) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      ended = true;
      return { last: true };
    },
  });
  const asked = assert.rejects(peer.request("never", {}), RpcClosed);
  await next();
  await send({ id: 1, method: "slow" });
  end();
  await running;
  assert.ok(ended);
  assert.deepEqual(await next(), { jsonrpc: "2.0", id: 1, result: { last: true } });
  await asked;
  await assert.rejects(peer.request("never", {}), RpcClosed);
});

Deno.test("a failed write ends the run with it", async () => {
  const input = pipe();
  const failing = new RpcPeer(
    { read: input.read, write: () => Promise.reject(new Error("closed")) },
    { ...NOTHING, request: () => Promise.resolve({}) },
    { cancel: CANCEL },
  );
  const running = assert.rejects(failing.run(), /closed/);
  await input.write('{"jsonrpc":"2.0","id":1,"method":"x"}\n');
  await running;
});

Deno.test("lines that are no messages are answered with what is wrong, and the next one is read", async () => {
  const { raw, send, next, end, running } = wire({ request: () => Promise.resolve({}) }, { lineLimit: 200 });
  const cases: readonly (readonly [line: string, code: number, id: unknown])[] = [
    ["{", -32700, null],
    ["5", -32600, null],
    ['[{"jsonrpc":"2.0","id":1,"method":"x"}]', -32600, null],
    ['{"id":1,"method":"x"}', -32600, 1],
    ['{"jsonrpc":"2.0","id":1}', -32600, 1],
    ['{"jsonrpc":"2.0","id":{},"method":"x"}', -32600, null],
    ['{"jsonrpc":"2.0","id":"p","method":"x","params":[1]}', -32602, "p"],
    ["x".repeat(500), -32600, null],
  ];
  for (const [line, code, id] of cases) {
    await raw(`${line}\n\n`);
    const answer = await next();
    assert.deepEqual([(answer.error as { code: number }).code, answer.id], [code, id], line.slice(0, 60));
  }
  await send({ id: 9, method: "x" });
  assert.deepEqual(await next(), { jsonrpc: "2.0", id: 9, result: {} });
  end();
  await running;
});

Deno.test("an id that is open is not taken twice, and no more requests are open than may be", async () => {
  const gate = Promise.withResolvers<void>();
  const { send, next, end, running } = wire({ request: () => gate.promise }, { requestLimit: 2 });
  await send({ id: 1, method: "x" });
  await send({ id: 1, method: "x" });
  assert.match(JSON.stringify(await next()), /a request with this id is open/);
  await send({ id: 2, method: "x" });
  await send({ id: 3, method: "x" });
  assert.match(JSON.stringify(await next()), /"id":3.*too many requests are open/);
  gate.resolve();
  assert.deepEqual([(await next()).id, (await next()).id], [1, 2]);
  end();
  await running;
});

Deno.test("a bug in a handler is answered without its words and reported here", async () => {
  const heard: unknown[] = [];
  const { send, next, end, running } = wire(
    { request: () => Promise.reject(new Error("secret")) },
    { failed: (error) => void heard.push(error) },
  );
  await send({ id: 1, method: "x" });
  assert.deepEqual((await next()).error, { code: -32603, message: "internal error" });
  assert.equal(heard.length, 1);
  end();
  await running;
});

Deno.test("no message ends the run", async () => {
  await property.assert(
    property.asyncProperty(property.array(property.oneof(property.jsonValue(), property.string())), async (values) => {
      const { raw, end, running } = wire({});
      for (const value of values) await raw(JSON.stringify(value) + "\n");
      end();
      await running;
    }),
    { numRuns: 50 },
  );
});
