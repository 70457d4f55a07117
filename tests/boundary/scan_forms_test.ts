/** Forms in which a copy of protected content hides from a look at the plain text. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { assertArrived, openStage } from "./harness.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const units = (text: string) => [...text].map((letter) => letter.charCodeAt(0));

const FORMS: Record<string, (text: string) => string> = {
  "another case": (text) => text.toUpperCase(),
  "base64 for URLs": (text) => btoa(`?>${text}`).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, ""),
  hex: (text) => units(text).map((unit) => unit.toString(16)).join(""),
  percent: (text) => units(text).map((unit) => `%${unit.toString(16)}`).join(""),
  "JSON escapes": (text) => units(text).map((unit) => `\\u00${unit.toString(16)}`).join(""),
  reversed: (text) => [...text].reverse().join(""),
  "base64 of UTF-16": (text) => btoa(units(text).map((unit) => `${String.fromCharCode(unit)}\0`).join("")),
};

for (const [name, formOf] of Object.entries(FORMS)) {
  Deno.test(`content in ${name} is stopped before a remote provider`, linux, async () => {
    await using stage = await openStage();
    const form = formOf(stage.canary("env"));
    await stage.write("copy.txt", `it is ${form} today\n`);
    const script = [ask(want("read", { path: "copy.txt" })), say("Done.")];
    const remote = await stage.play("rem", { script });
    assert.equal(remote.done.code, 6, remote.done.stderr);
    assert.match(remote.done.stderr, /line 1 of \.env/);
    assert.ok(!remote.sent.includes(JSON.stringify(form).slice(1, -1)));
    const local = await stage.play("loc", { script });
    assert.equal(local.done.code, 0, local.done.stderr);
    assertArrived(local, JSON.stringify(form).slice(1, -1));
  });
}
