import assert from "node:assert/strict";
import { proxyFor, readProxySettings } from "./route.ts";

function through(variables: Record<string, string>, url: string): string | null {
  return proxyFor(new URL(url), readProxySettings((name) => variables[name]));
}

Deno.test("each scheme has its proxy, and ALL_PROXY stands in for both", () => {
  const variables = { HTTP_PROXY: "http://a:1", HTTPS_PROXY: "http://b:2" };
  assert.equal(through(variables, "http://x/"), "http://a:1");
  assert.equal(through(variables, "https://x/"), "http://b:2");
  assert.equal(through({ ALL_PROXY: "socks5h://c:3" }, "https://x/"), "socks5h://c:3");
  assert.equal(through({}, "https://x/"), null);
});

Deno.test("lower-case names win, a missing scheme is http, and nonsense is no proxy", () => {
  assert.equal(through({ http_proxy: "low:1", HTTP_PROXY: "http://up:1" }, "http://x/"), "http://low:1");
  assert.equal(through({ http_proxy: "http://[" }, "http://x/"), null);
});

const exceptions: [string, string, boolean][] = [
  ["*", "http://x.test/", true],
  ["x.test", "http://x.test/", true],
  ["x.test", "http://a.x.test/", true],
  [".x.test", "http://a.x.test/", true],
  ["*.x.test", "http://a.x.test/", true],
  ["x.test", "http://ax.test/", false],
  ["X.TEST", "http://x.test/", true],
  ["x.test:81", "http://x.test/", false],
  ["x.test:80", "http://x.test/", true],
  ["10.0.0.0/8", "http://10.1.2.3/", true],
  ["10.0.0.0/8", "http://11.1.2.3/", false],
  ["10.0.0.0/8", "http://10.evil.test/", false],
  ["0.0.1", "http://10.0.0.1/", false],
  ["10.0.0.1", "http://10.0.0.1/", true],
  ["fd00::1", "http://[fd00::1]/", true],
  ["[fd00::1]:80", "http://[fd00::1]/", true],
  ["", "http://x.test/", false],
  ["other, x.test", "http://x.test/", true],
];
for (const [entry, url, direct] of exceptions) {
  Deno.test(`NO_PROXY "${entry}" ${direct ? "spares" : "does not spare"} ${url}`, () => {
    assert.equal(through({ HTTP_PROXY: "http://a:1", NO_PROXY: entry }, url), direct ? null : "http://a:1");
  });
}
