/** Deny rules of the user as a black box: no link and no other tool leads around them. */
import assert from "node:assert/strict";
import { startFakeServer } from "./helpers/fake_server.ts";
import { ask, say } from "./helpers/fake_steps.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, temporaryHome } from "./helpers/program.ts";

/** The results of the calls of one reply, in order. */
async function resultsOf(
  calls: { name: string; input: Record<string, unknown> }[],
  given: { options: string[]; files: Record<string, string>; links?: Record<string, string> },
): Promise<{ results: string[]; read(name: string): Promise<string | null> }> {
  const home = await temporaryHome();
  await using stack = new AsyncDisposableStack();
  stack.use(home);
  for (const [name, text] of Object.entries(given.files)) await home.write(name, text);
  for (const [name, target] of Object.entries(given.links ?? {})) {
    await Deno.symlink(target, `${home.project}/${name}`);
  }
  await using server = startFakeServer({
    script: [ask(...calls), say("Done.")],
  });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "go", ...given.options], { home });
  const messages: { role: string; content: string }[] = server.chats()[1]?.json.messages ?? [];
  assert.ok(messages.length > 0, done.stderr);
  const results = messages.filter((message) => message.role === "tool").map((message) => message.content);
  const texts = new Map<string, string | null>();
  for (const name of Object.keys(given.files)) {
    texts.set(name, await Deno.readTextFile(`${home.project}/${name}`).catch(() => null));
  }
  return { results, read: (name) => Promise.resolve(texts.get(name) ?? null) };
}

Deno.test("a deny rule for a directory holds when it is reached through a link", async () => {
  const { results, read } = await resultsOf([
    { name: "Read", input: { file_path: "link/1.sql" } },
    { name: "Edit", input: { file_path: "link/1.sql", old_string: "one", new_string: "two" } },
    { name: "Write", input: { file_path: "link/2.sql", content: "two" } },
  ], {
    options: ["--permission-mode", "bypassPermissions", "--disallowed-tools", "Write(migrations/**)"],
    files: { "migrations/1.sql": "one\n" },
    links: { link: "migrations" },
  });
  assert.match(results[0] ?? "", /one/);
  for (const refused of results.slice(1)) assert.match(refused, /Write\(migrations\/\*\*\) denies/);
  assert.equal(await read("migrations/1.sql"), "one\n");
});

Deno.test("what Read may not show, neither Grep nor a link shows", async () => {
  const { results } = await resultsOf([
    { name: "Read", input: { file_path: "link" } },
    { name: "Grep", input: { pattern: "CANARY" } },
    { name: "Grep", input: { pattern: "CANARY", path: "keys/k" } },
    { name: "Glob", input: { pattern: "**" } },
  ], {
    options: ["--disallowed-tools", "Read(keys/**)"],
    files: { "keys/k": "CANARY-secret\n", "open.txt": "CANARY-open\n" },
    links: { link: "keys/k" },
  });
  assert.equal(results.join("\n").includes("CANARY-secret"), false);
  assert.match(results[0] ?? "", /Read\(keys\/\*\*\) denies/);
  assert.match(results[1] ?? "", /open\.txt:1:CANARY-open\n\[1 file not searched: a deny rule covers reading\]/);
  assert.match(results[2] ?? "", /Read\(keys\/\*\*\) denies/);
  assert.match(results[3] ?? "", /keys\/k/);
});

Deno.test("a file that a rule denies reading is not attached", async () => {
  await using home = await temporaryHome();
  await home.write("keys/k", "CANARY\n");
  await using server = startFakeServer({ script: [say("Hm.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const done = await runInProcess(["run", "go", "--file", "keys/k", "--disallowed-tools", "Read(keys)"], { home });
  assert.equal(done.code, 6, done.stderr);
  assert.match(done.stderr, /cannot attach keys\/k: the rule Read\(keys\) denies reading it/);
  assert.equal(server.chats().length, 0);
});
