import assert from "node:assert/strict";
import { headEnd, NoHttp, readHead, requestHead } from "./headers.ts";

const bytes = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0));

Deno.test("a request names its host, its length, and that its connection ends with it", () => {
  const url = new URL("http://127.0.0.1:8080/v1/chat?x=1");
  assert.equal(
    requestHead({ method: "POST", url, headers: { authorization: "Bearer k" } }, 3),
    "POST /v1/chat?x=1 HTTP/1.1\r\nhost: 127.0.0.1:8080\r\naccept: */*\r\nauthorization: Bearer k\r\n" +
      "connection: close\r\ncontent-length: 3\r\n\r\n",
  );
  assert.doesNotMatch(requestHead({ method: "GET", url, headers: {} }, null), /content-length/);
});

Deno.test("a configured header replaces what is sent by default, but never how the message is carried", () => {
  const url = new URL("http://127.0.0.1/");
  const carriage = {
    connection: "keep-alive",
    "Content-Length": "99",
    "transfer-encoding": "chunked",
    expect: "100-continue",
  };
  const head = requestHead({ method: "POST", url, headers: { accept: "x/y", host: "a.test", ...carriage } }, 2);
  assert.equal(
    head,
    "POST / HTTP/1.1\r\nhost: a.test\r\naccept: x/y\r\nconnection: close\r\ncontent-length: 2\r\n\r\n",
  );
});

Deno.test("the end of a head is found with either line end, and not before it is there", () => {
  assert.equal(headEnd(bytes("HTTP/1.1 200 OK\r\na: b\r\n\r\nbody")), 25);
  assert.equal(headEnd(bytes("HTTP/1.1 200 OK\na: b\n\nbody")), 22);
  for (const part of ["", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\na: b\r\n\r"]) {
    assert.equal(headEnd(bytes(part)), -1);
  }
});

Deno.test("a head gives status, headers, and the length of the body", () => {
  const lengthOf = (head: string) => readHead(bytes(`${head}\r\n\r\n`)).length;
  assert.deepEqual(lengthOf("HTTP/1.1 200 OK\r\nContent-Length: 12"), { kind: "bytes", count: 12 });
  assert.deepEqual(lengthOf("HTTP/1.1 200 OK\r\ncontent-length: 12, 12"), { kind: "bytes", count: 12 });
  assert.deepEqual(lengthOf("HTTP/1.1 200\r\ntransfer-encoding: Chunked\r\ncontent-length: 12"), { kind: "chunked" });
  assert.deepEqual(lengthOf("HTTP/1.0 200 OK"), { kind: "rest" });
  assert.deepEqual(lengthOf("HTTP/1.1 204 No Content\r\ncontent-length: 12"), { kind: "bytes", count: 0 });
  const head = readHead(bytes("HTTP/1.1 503 Busy\r\nRetry-After:  7 \r\nx-name: \xe9\r\n\r\n"));
  assert.deepEqual([head.status, head.headers.get("retry-after"), head.headers.get("x-name")], [503, "7", "\xe9"]);
});

Deno.test("headers are read as the runtime reads them: names in lower case, what stands twice as one list", () => {
  const lines = [
    "X-Name:a",
    "VIA: 1.1 a",
    "x-empty:",
    "a!#$%&'*+.^_`|~-9: \t b: c \t",
    "via: 1.1 b",
    "x-latin: \xe9\t\xff",
  ];
  const expected = new Headers(lines.map((line): [string, string] => [
    line.slice(0, line.indexOf(":")),
    line.slice(line.indexOf(":") + 1),
  ]));
  const { headers } = readHead(bytes(`HTTP/1.1 200 OK\r\n${lines.join("\r\n")}\r\n\r\n`));
  assert.deepEqual(Object.fromEntries(headers), Object.fromEntries(expected));
  assert.equal(headers.get("via"), "1.1 a, 1.1 b");
});

for (
  const [what, head] of [
    ["another protocol", "220 mail.test ESMTP"],
    ["a later version", "HTTP/2 200"],
    ["no status", "HTTP/1.1 OK"],
    ["a line that is no header", "HTTP/1.1 200 OK\r\nCANARY"],
    ["a name with a space", "HTTP/1.1 200 OK\r\nCANARY x: 1"],
    ["a value with a zero byte", "HTTP/1.1 200 OK\r\na: CANARY\0"],
    ["a value with a carriage return in it", "HTTP/1.1 200 OK\r\na: CANARY\rb: c"],
    ["a line that continues on the next", "HTTP/1.1 200 OK\r\na: b\r\n CANARY: c"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2"],
    ["a negative length", "HTTP/1.1 200 OK\r\ncontent-length: -1"],
    ["a length beyond counting", "HTTP/1.1 200 OK\r\ncontent-length: 99999999999999999999"],
    ["an unknown coding", "HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked"],
  ] as const
) {
  Deno.test(`${what} is no head, and is not repeated`, () => {
    assert.throws(() => readHead(bytes(`${head}\r\n\r\n`)), (error) => {
      assert(error instanceof NoHttp);
      assert.doesNotMatch(`${error.stack}`, /CANARY/);
      return true;
    });
  });
}
