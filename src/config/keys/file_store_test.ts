import assert from "node:assert/strict";
import { AgentcliError } from "../../errors.ts";
import type { Home } from "../../platform/home.ts";
import { openFileStore } from "./file_store.ts";
import { readStoredText, storedText } from "./store.ts";

/** A home in memory; `files` are its content. */
function memoryHome(): Home & { files: Map<string, string> } {
  const files = new Map<string, string>();
  return {
    files,
    path: "/home",
    file: (name) => `/home/${name}`,
    status: () => Promise.resolve(null),
    read: (name) => Promise.resolve(files.get(name) ?? null),
    write: (name, text) => Promise.resolve(void files.set(name, text)),
    remove: (name) => Promise.resolve(void files.delete(name)),
    locked: (_name, work) => work(),
  };
}

const KEY = "sk-CANARY-0123456789";
const stored = { origin: "http://localhost:1919", key: KEY };

async function unusable(work: Promise<unknown>): Promise<AgentcliError> {
  const error = await work.then(() => null, (reason) => reason);
  assert.ok(error instanceof AgentcliError);
  assert.equal(error.code, "key_store_unusable");
  assert.ok(!`${error.message} ${error.hint}`.includes("CANARY"));
  return error;
}

Deno.test("a key comes back as it was, and is nowhere in the files", async () => {
  const home = memoryHome();
  const store = openFileStore(home);
  assert.equal(await store.read("p"), null);
  await store.write("p", stored);
  await store.write("q", { ...stored, key: "other" });
  assert.deepEqual(await store.read("p"), stored);
  assert.equal((await store.read("q"))?.key, "other");
  const all = [...home.files.values()].join("\n");
  for (const form of [KEY, btoa(KEY), KEY.slice(0, 12)]) assert.ok(!all.includes(form));
});

Deno.test("the same key is never stored as the same text", async () => {
  const home = memoryHome();
  await openFileStore(home).write("p", stored);
  await openFileStore(home).write("q", stored);
  const { entries } = JSON.parse(home.files.get("credentials.json") ?? "");
  assert.notEqual(entries.p.data, entries.q.data);
  assert.notEqual(entries.p.nonce, entries.q.nonce);
});

Deno.test("an entry that was moved to another provider or another origin does not open", async () => {
  const home = memoryHome();
  await openFileStore(home).write("p", stored);
  const file = JSON.parse(home.files.get("credentials.json") ?? "");
  file.entries.q = file.entries.p;
  file.entries.r = { ...file.entries.p, origin: "http://evil.test" };
  file.entries.p.origin = "http://evil.test";
  home.files.set("credentials.json", JSON.stringify(file));
  for (const name of ["p", "q", "r"]) await unusable(openFileStore(home).read(name));
});

Deno.test("a file that cannot be read is refused and left as it was", async () => {
  for (const text of ["", "{", "[]", "null", `{"version":2,"entries":{}}`, `{"version":1,"entries":{"p":{}}}`]) {
    const home = memoryHome();
    home.files.set("credentials.json", text);
    const store = openFileStore(home);
    await unusable(store.read("p"));
    await unusable(store.write("p", stored));
    await unusable(store.remove("p"));
    assert.equal(home.files.get("credentials.json"), text);
  }
});

Deno.test("without its key file nothing opens, and nothing is written that would hide the loss", async () => {
  const home = memoryHome();
  const store = openFileStore(home);
  await store.write("p", stored);
  const before = home.files.get("credentials.json");
  for (const text of [undefined, "", "AAAA", "not base64 !"]) {
    if (text === undefined) home.files.delete("credentials.key");
    else home.files.set("credentials.key", text);
    await unusable(store.read("p"));
    await unusable(store.write("q", stored));
  }
  assert.equal(home.files.get("credentials.json"), before);
});

Deno.test("removing returns whether there was a key, and creates no file", async () => {
  const home = memoryHome();
  const store = openFileStore(home);
  assert.equal(await store.remove("p"), false);
  assert.equal(home.files.size, 0);
  await store.write("p", stored);
  assert.equal(await store.remove("p"), true);
  assert.equal(await store.remove("p"), false);
  assert.equal(await store.read("p"), null);
});

Deno.test("names of object properties are names of providers like others", async () => {
  const home = memoryHome();
  const store = openFileStore(home);
  await store.write("__proto__", stored);
  assert.equal(await store.read("constructor"), null);
  assert.deepEqual(await openFileStore(home).read("__proto__"), stored);
});

Deno.test("the text for a keyring is one word of ASCII, and other texts are not read", () => {
  const text = storedText(stored);
  assert.match(text, /^[A-Za-z0-9+/=]+$/);
  assert.deepEqual(readStoredText(`${text}\n`), stored);
  for (const other of ["", "x", btoa("{}"), btoa("null"), btoa(`{"origin":1,"key":"k"}`), KEY]) {
    assert.equal(readStoredText(other), null);
  }
});
