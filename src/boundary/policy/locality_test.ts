import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import { isLocal, parseLocalEndpoint } from "./locality.ts";

Deno.test("the three loopback names are local, in every spelling that new URL turns into them", () => {
  const hosts = ["localhost", "127.0.0.1", "[::1]", "LOCALHOST", "127.1", "2130706433", "0x7f.1", "１２７.0.0.1"];
  for (const host of [...hosts, "[0:0:0:0:0:0:0:1]"]) {
    assert.equal(isLocal(`http://${host}:11434/v1`, []), true, host);
    assert.equal(isLocal(`https://${host}/v1`, []), true, host);
  }
});

Deno.test("names and addresses that only look like loopback are not local", () => {
  const hosts =
    ("localhost.evil.test 127.0.0.1.nip.io localhost@evil.test evil.test#@127.0.0.1 evil.test\\@127.0.0.1 " +
      "127.0.0.1%2eevil.test xn--lcalhost-54a 0.0.0.0 [::] [::ffff:127.0.0.1] 127.0.0.2 localhost. x.localhost " +
      "ip6-localhost host.docker.internal 192.168.0.7 169.254.169.254 user@localhost :p@127.0.0.1").split(" ");
  for (const host of hosts) assert.equal(isLocal(`http://${host}/v1`, []), false, host);
});

Deno.test("other schemes and text that is no URL are not local", () => {
  for (
    const url of ["unix:/x", "file:///x", "data:,x", "ws://localhost/", "ftp://localhost/", "localhost:80", "", "::"]
  ) {
    assert.equal(isLocal(url, ["localhost"]), false, url);
  }
});

Deno.test("an opted-in host is local at any port, host:port at that port only", () => {
  assert.equal(isLocal("http://Studio.lan:8000/v1", ["studio.LAN"]), true);
  assert.equal(isLocal("http://studio.lan:8000/v1", ["studio.lan:8000"]), true);
  assert.equal(isLocal("http://studio.lan:8001/v1", ["studio.lan:8000"]), false);
  assert.equal(isLocal("https://studio.lan/v1", ["studio.lan:443"]), true);
  assert.equal(isLocal("http://studio.lan/v1", ["studio.lan:443"]), false);
  assert.equal(isLocal("http://[fd00::5]:8000/v1", ["[FD00:0::5]:8000"]), true);
  assert.equal(isLocal("http://127.0.0.2:9/v1", ["127.0.0.2"]), true);
  for (const host of ["sub.studio.lan", "studio.lan.evil.test", "studio.lan.", "xstudio.lan"]) {
    assert.equal(isLocal(`http://${host}/`, ["studio.lan"]), false, host);
  }
});

Deno.test("values of local-endpoints that are no host have no effect", () => {
  const values =
    "* *.lan 10.0.0.0/8 http://h h: h:0 h:99999 h:65536 h:080 h. .h a..b fd00::5 [fd00::5 0x7f.2 127.2 a@b h/x h?"
      .split(" ");
  for (const value of [...values, "", " h", "h h", "ünder.test"]) {
    assert.equal(parseLocalEndpoint(value), null, value);
  }
});

Deno.test("no text makes the check throw, and none but the named hosts passes it", () => {
  const piece = fc.constantFrom(
    "http://",
    "https://",
    "localhost",
    "127.0.0.1",
    "[::1]",
    "@",
    ":",
    "/",
    ".",
    "#",
    "\\",
    "1",
  );
  const text = fc.array(fc.oneof(piece, fc.string({ maxLength: 3 })), { maxLength: 8 }).map((parts) => parts.join(""));
  fc.assert(fc.property(text, (url) => {
    if (!isLocal(url, [])) return;
    const parsed = new URL(url);
    assert.ok(["localhost", "127.0.0.1", "[::1]"].includes(parsed.hostname));
    assert.equal(parsed.username + parsed.password, "");
  }));
});
