/** Replies of real servers, byte for byte, against a reading of them that is as plain as can be. */
import assert from "node:assert/strict";
import { listenHttp } from "../../../tests/helpers/fake_http.ts";
import { manualClock } from "../../../tests/helpers/manual_clock.ts";
import { chat } from "./chat.ts";
import { ProviderFailure } from "../failure.ts";
import { HttpClient } from "../http/client.ts";
import type { Endpoint } from "../types.ts";

const folder = new URL("../../../tests/fixtures/traces/", import.meta.url);

interface Trace {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

function traces(): Trace[] {
  const found: Trace[] = [];
  for (const server of Deno.readDirSync(folder)) {
    if (!server.isDirectory) continue;
    for (const file of Deno.readDirSync(new URL(`${server.name}/`, folder))) {
      // Lists of models are read elsewhere.
      if (/models/.test(file.name)) continue;
      const url = new URL(`${server.name}/${file.name}`, folder);
      found.push({ name: `${server.name}/${file.name}`, bytes: Deno.readFileSync(url) });
    }
  }
  return found.sort((a, b) => a.name < b.name ? -1 : 1);
}

interface Plain {
  status: number;
  text: string;
  reasoning: string;
  calls: { id: string; name: string; arguments: string }[];
  finish: string | null;
  usage: [number, number] | null;
  error: string | null;
}

// deno-lint-ignore no-explicit-any -- recorded JSON of any shape
type Json = any;

function plainReading(bytes: Uint8Array): Plain {
  // One character a byte; `latin1` of TextDecoder is another encoding.
  const latin = Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const split = latin.indexOf("\r\n\r\n");
  const head = latin.slice(0, split);
  let body = latin.slice(split + 4);
  if (/transfer-encoding: chunked/i.test(head)) body = unchunked(body);
  const text = new TextDecoder().decode(Uint8Array.from(body, (character) => character.charCodeAt(0)));
  const plain: Plain = {
    status: Number(head.slice(9, 12)),
    text: "",
    reasoning: "",
    calls: [],
    finish: null,
    usage: null,
    error: null,
  };
  const values: Json[] = /event-stream/.test(head)
    ? text.split("\n").filter((line) => line.startsWith("data: {")).map((line) => JSON.parse(line.slice(6)))
    : /json/.test(head) && text !== ""
    ? [JSON.parse(text)]
    : [];
  for (const value of values) addPlain(plain, value);
  const [block, thought] = /^<think>\n([^]*?)\n<\/think>\n\n/.exec(plain.text) ?? ["", ""];
  plain.text = plain.text.slice(block.length);
  plain.reasoning += thought;
  return plain;
}

function addPlain(plain: Plain, value: Json): void {
  if (value.error) plain.error = value.error.message ?? value.error;
  if (value.usage) plain.usage = [value.usage.prompt_tokens, value.usage.completion_tokens];
  const { timings } = value;
  if (timings && plain.usage === null) plain.usage = [timings.cache_n + timings.prompt_n, timings.predicted_n];
  const choice = value.choices?.[0];
  if (choice === undefined) return;
  const part = choice.delta ?? choice.message ?? {};
  plain.text += part.content ?? "";
  plain.reasoning += part.reasoning_content ?? "";
  for (const [place, call] of (part.tool_calls ?? []).entries()) {
    const target = plain.calls[call.index ?? place] ??= { id: call.id, name: call.function.name, arguments: "" };
    target.arguments += call.function.arguments ?? "";
  }
  plain.finish = choice.finish_reason ?? plain.finish;
}

function unchunked(body: string): string {
  let rest = body;
  let text = "";
  for (;;) {
    const end = rest.indexOf("\r\n");
    const size = parseInt(rest.slice(0, end), 16);
    if (end < 0 || !(size > 0)) return text;
    text += rest.slice(end + 2, end + 2 + size);
    rest = rest.slice(end + 4 + size);
  }
}

async function ask(bytes: Uint8Array<ArrayBuffer>) {
  const server = listenHttp("127.0.0.1", async (_request, reply) => {
    await reply.raw(bytes);
    reply.cut();
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
    timeout: { connect: 10, firstByte: 20, idle: 20 },
    local: true,
  };
  let shown = "";
  try {
    const reply = await chat(client, { endpoint, request: { model: "m", messages: [], tools: [] } }, {
      signal: new AbortController().signal,
      clock,
      onDelta: (delta) => {
        if (delta.kind === "text") shown += delta.text;
      },
    });
    return { reply, shown, failure: null };
  } catch (failure) {
    assert(failure instanceof ProviderFailure, String(failure));
    return { reply: null, shown, failure };
  } finally {
    client.close();
    await server.close();
  }
}

for (const { name, bytes } of traces()) {
  Deno.test(`${name} gives what a plain reading gives`, async () => {
    const plain = plainReading(bytes);
    const { reply, shown, failure } = await ask(bytes);
    if (plain.status >= 400 || plain.error !== null) {
      assert(failure !== null, "it must fail");
      assert(failure.facts.status === plain.status);
      return;
    }
    if (plain.finish === null) {
      assert(failure !== null, "it must fail");
      assert.equal(failure.code, "connection_lost");
      assert.equal(failure.partial?.text ?? "", plain.text);
      return;
    }
    assert(reply !== null, failure?.message);
    assert.equal(reply.text, plain.text);
    assert.equal(shown, plain.text);
    assert.equal(reply.reasoning, plain.reasoning);
    assert.equal(reply.finish, plain.calls.length > 0 && plain.finish === "stop" ? "tool_calls" : plain.finish);
    assert.deepEqual(
      reply.calls.map((call) => [call.id, call.name, call.raw]),
      plain.calls.map((call) => [call.id, call.name, call.arguments]),
    );
    for (const call of reply.calls) {
      if (plain.finish === "length") assert.equal(call.input, null);
      else assert.deepEqual(call.input, JSON.parse(call.raw));
    }
    assert.deepEqual(reply.usage && [reply.usage.promptTokens, reply.usage.completionTokens], plain.usage);
  });
}
