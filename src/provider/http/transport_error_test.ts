import assert from "node:assert/strict";
import { redirectFailure, transportFailure } from "./transport_error.ts";

const url = new URL("http://models.test:8080/v1/chat/completions");
const attempt = {
  provider: "p",
  url: url.href,
  modelsUrl: "http://models.test:8080/v1/models",
  host: "127.0.0.1:8080",
};

for (
  const [location, told] of [
    ["https://models.test:8080/v1/chat/completions", "a redirect to https;"],
    ["http://models.test:8081/CANARY", "a redirect to another port;"],
    ["/CANARY", "a redirect to another path;"],
    ["http://CANARY.test/", "a redirect to another host;"],
    ["http://u:CANARY@models.test:8080/x", "a redirect to another path;"],
    ["file:///CANARY", "a redirect;"],
    ["http://", "a redirect;"],
  ] as const
) {
  Deno.test(`a redirect to ${location} is reported without a word that the server chose`, () => {
    const failure = redirectFailure("p", { status: 307, headers: new Map([["location", location]]), url });
    assert(failure.message.includes(told), failure.message);
    assert.doesNotMatch(`${failure.message}${failure.hint}`, /canary/i);
  });
}

Deno.test("a connection that a server closed without a word over TLS is lost, which is tried again", () => {
  const error = new TypeError("error sending request", {
    cause: new Error("client error (SendRequest): peer closed connection without sending TLS close_notify"),
  });
  assert.equal(transportFailure(error, attempt).code, "connection_lost");
});

Deno.test("a missing permission names the address that is connected to, whatever name was configured", () => {
  const failure = transportFailure(new Deno.errors.NotCapable("no"), { ...attempt, url: "http://localhost:8080/v1" });
  assert.match(failure.hint ?? "", /--allow-net=127\.0\.0\.1:8080/);
});

Deno.test("no network is looked for where the server is on this machine", () => {
  const error = new TypeError("error", {
    cause: new Error("client error (Connect): Network is unreachable (os error 101)"),
  });
  assert.match(transportFailure(error, attempt).hint ?? "", /VPN/);
  const here = { ...attempt, modelsUrl: "http://localhost:8080/v1/models" };
  assert.match(transportFailure(error, here).hint ?? "", /loopback interface/);
});
