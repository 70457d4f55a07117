import assert from "node:assert/strict";
import {
  answer,
  CONTEXT,
  OTHER_SESSION,
  placeOf,
  PROJECT_ROOT,
  SESSION,
  transcriptFile,
  transcriptHome,
  transcriptOptions,
  userItem,
} from "../../tests/helpers/transcripts.ts";
import type { ToolHome } from "../../tests/helpers/tool_home.ts";
import { AgentcliError } from "../errors.ts";
import { sessionHtml, sessionMarkdown, sessionValue } from "./export.ts";
import { deleteSession, forkSession, openTranscript } from "./open_transcript.ts";
import { itemsBeforeProtected, type SessionItem } from "./item.ts";
import { findSession, listSessions } from "./list.ts";
import { loadTranscript } from "./load.ts";
import { projectSlug } from "./paths.ts";
import type { TranscriptOptions } from "./transcript.ts";

const HERE = { projectRoot: PROJECT_ROOT };

async function store(place: ToolHome, items: SessionItem[], more: Partial<TranscriptOptions> = {}): Promise<string> {
  const transcript = await openTranscript(place.home, transcriptOptions({ context: CONTEXT, ...more }));
  await transcript.record(items);
  await transcript.close();
  return transcript.file;
}

Deno.test("a list shows first words, turns, model and label, last written first", async () => {
  await using place = await transcriptHome();
  const first = await store(place, [userItem("one"), answer("two"), userItem("three")]);
  await Deno.utime(first, new Date(1000), new Date(1000));
  await store(place, [userItem("x".repeat(20 * 1024 * 1024)), { ...answer("two"), label: "no-cloud" }], {
    sessionId: OTHER_SESSION,
  });
  const listed = await listSessions(place.home, HERE);
  assert.deepEqual(listed.map(({ id, turns, model, label }) => ({ id, turns, model, label })), [
    { id: OTHER_SESSION, turns: 1, model: "fake", label: "no-cloud" },
    { id: SESSION, turns: 2, model: "fake", label: "open" },
  ]);
  assert.equal(listed[0]?.firstPrompt, "x".repeat(200));
  assert.equal(listed[1]?.firstPrompt, "one");
  assert.equal(listed[1]?.updated, 1000);
});

Deno.test("the first words are what the person typed, without what was attached to them", async () => {
  await using place = await transcriptHome();
  const attached = "what is in @a.ts\n\nFile a.ts:\n1\tconst a = 1;";
  await store(place, [userItem(attached), answer("One.")]);
  await store(place, [userItem("fix it\n\n[Plan mode: change nothing.]"), answer("Done.")], {
    sessionId: OTHER_SESSION,
  });
  const listed = await listSessions(place.home, HERE);
  assert.deepEqual(listed.map(({ firstPrompt }) => firstPrompt).toSorted(), ["fix it", "what is in @a.ts"]);
});

Deno.test("the first words before an image are listed without reading the image", async () => {
  const data = "QUJD".repeat(100_000);
  const picture = { mediaType: "image/png", data, width: 8, height: 8, name: "a.png" } as const;
  for (const text of ['what is "this\\" \u2028 here?\n', ""]) {
    await using place = await transcriptHome();
    const file = await store(place, [{ ...userItem(text), images: [picture] }]);
    // Read as a whole, the line is damaged, and the session has no items.
    const bytes = await Deno.readFile(file);
    bytes[200_000] = 0xff;
    await Deno.writeFile(file, bytes);
    const [listed] = await listSessions(place.home, HERE);
    assert.deepEqual([listed?.firstPrompt, listed?.turns, listed?.label], [text, 1, "open"]);
  }
});

Deno.test("two projects whose paths share a directory do not see each other's sessions", async () => {
  await using place = await transcriptHome();
  const twin = PROJECT_ROOT.replaceAll(" ", "-");
  assert.equal(projectSlug(twin), projectSlug(PROJECT_ROOT));
  await store(place, [userItem("one")]);
  await store(place, [userItem("two")], { sessionId: OTHER_SESSION, projectRoot: twin });
  assert.deepEqual((await listSessions(place.home, HERE)).map(({ id }) => id), [SESSION]);
  assert.deepEqual((await listSessions(place.home, { projectRoot: twin })).map(({ id }) => id), [OTHER_SESSION]);
  assert.equal((await listSessions(place.home, "all")).length, 2);
  assert.equal((await findSession(place.home, "latest", HERE)).id, SESSION);
});

Deno.test("a slug has letters, digits and dashes only, and long paths differ still", () => {
  assert.equal(projectSlug("/home/ä b/x.y"), "-home---b-x-y");
  const [one, other] = ["a", "b"].map((end) => projectSlug(`/${"x".repeat(300)}${end}`));
  assert.notEqual(one, other);
  assert.ok((one ?? "").length < 220);
});

Deno.test("a session is found by a beginning that is its alone", async () => {
  await using place = await transcriptHome();
  await store(place, [userItem("one")]);
  await store(place, [userItem("two")], { sessionId: OTHER_SESSION });
  assert.equal((await findSession(place.home, "11111", HERE)).id, SESSION);
  assert.equal((await findSession(place.home, SESSION.toUpperCase(), HERE)).id, SESSION);
  const refused = async (id: string, hint: RegExp, scope: Parameters<typeof findSession>[2] = HERE) => {
    await assert.rejects(findSession(place.home, id, scope), (error) => {
      assert.ok(error instanceof AgentcliError && error.code === "unknown_session");
      assert.match(error.hint ?? "", hint);
      return true;
    });
  };
  await refused("1111", /give more of the id: 1111/);
  await refused(SESSION.replace("1111", "1121"), /did you mean 11111111/);
  await refused("../../providers", /agentcli sessions list/);
  await refused(SESSION, /it belongs to \/work of a user\/project/, { projectRoot: "/elsewhere" });
  await refused("latest", /--all/, { projectRoot: "/elsewhere" });
});

Deno.test("other files in the directory of a project are passed over", async () => {
  await using place = await transcriptHome();
  const file = await store(place, [userItem("one")]);
  await Deno.writeTextFile(file.replace(SESSION, "notes"), "{}\n");
  await Deno.writeTextFile(transcriptFile(place, OTHER_SESSION), "not json\n");
  await Deno.mkdir(file.replace(SESSION, "22222222-2222-4333-8444-555555555555"));
  assert.deepEqual((await listSessions(place.home, HERE)).map(({ id }) => id), [SESSION]);
});

Deno.test("a fork holds the same items under its own id, and leaves the other alone", async () => {
  await using place = await transcriptHome();
  const file = await store(place, [userItem("one"), answer("two")]);
  const before = await Deno.readTextFile(file);
  const source = await loadTranscript(place.home, placeOf());
  const transcript = await forkSession(place.home, source, transcriptOptions({ sessionId: OTHER_SESSION }));
  const { items } = source;
  await transcript.record([...items, userItem("three")]);
  await transcript.close();
  const fork = await loadTranscript(place.home, placeOf(OTHER_SESSION));
  assert.deepEqual(fork.items, [...items, userItem("three")]);
  assert.deepEqual(fork.context, CONTEXT);
  assert.equal(fork.meta?.forkedFrom, SESSION);
  assert.equal(await Deno.readTextFile(file), before);
});

Deno.test("a fork from before protected content was met is open", async () => {
  await using place = await transcriptHome();
  await store(place, [userItem("one"), answer("two"), userItem("three"), { ...answer("four"), label: "no-cloud" }]);
  const source = await loadTranscript(place.home, placeOf());
  const count = itemsBeforeProtected(source.items);
  assert.equal(count, 2);
  const options = transcriptOptions({ sessionId: OTHER_SESSION });
  const transcript = await forkSession(place.home, { ...source, items: source.items.slice(0, count) }, options);
  await transcript.close();
  assert.equal((await loadTranscript(place.home, placeOf(OTHER_SESSION))).label, "open");
});

Deno.test("a deleted session is gone with what was kept for it; one in use is not deleted", async () => {
  await using place = await transcriptHome();
  const transcript = await openTranscript(place.home, transcriptOptions());
  await transcript.record([userItem("one")]);
  await Deno.mkdir(place.home.file(`undo/${SESSION}`), { recursive: true });
  await assert.rejects(
    deleteSession(place.home, placeOf()),
    (error) => error instanceof AgentcliError && error.code === "session_in_use",
  );
  await transcript.close();
  await deleteSession(place.home, placeOf());
  assert.deepEqual(await listSessions(place.home, "all"), []);
  assert.deepEqual([...Deno.readDirSync(place.home.file("undo"))], []);
});

Deno.test("an export holds the placeholders, and fences that its texts cannot close", async () => {
  await using place = await transcriptHome();
  await store(place, [
    userItem("one"),
    { ...answer(""), calls: [{ id: "call00001", name: "Read", input: { a: "````" } }] },
    { kind: "tool_result", callId: "call00001", name: "Read", content: "```\n````\n", isError: false, label: "open" },
    { ...answer("CANARY"), label: "no-cloud" },
  ]);
  const stored = await loadTranscript(place.home, placeOf());
  const markdown = sessionMarkdown(stored);
  assert.match(markdown, /\n`````\n```\n````\n`````\n/);
  assert.match(markdown, /Redacted: 1 items/);
  assert.ok(!`${markdown}${JSON.stringify(sessionValue(stored))}`.includes("CANARY"));
});

Deno.test("a document is the whole conversation: what a summary replaced, not what was undone", async () => {
  await using place = await transcriptHome();
  const transcript = await openTranscript(place.home, transcriptOptions());
  const read = { kind: "tool_result", callId: "call00001", name: "Read", isError: false, label: "open" } as const;
  const result: SessionItem = { ...read, content: "long result" };
  const call = { ...answer(""), calls: [{ id: "call00001", name: "Read", input: {} }] };
  const items: SessionItem[] = [userItem("one"), call, result, answer("first"), userItem("two"), answer("second")];
  await transcript.record(items);
  const shortened = items.map((item) => item === result ? { ...read, content: "short" } : item);
  await transcript.record(shortened);
  const summary: SessionItem = { kind: "user", origin: "summary", text: "what was said", label: "open" };
  await transcript.record([summary, ...shortened.slice(4)]);
  const gone: SessionItem[] = [userItem("gone"), answer("gone too")];
  await transcript.record([summary, ...shortened.slice(4), ...gone]);
  await transcript.record([summary, ...shortened.slice(4)]);
  const texts = async () =>
    (await loadTranscript(place.home, placeOf())).whole.map((item) =>
      item.kind === "tool_result" ? item.content : item.text
    );
  const whole = ["one", "", "long result", "first", "two", "second", "what was said"];
  assert.deepEqual(await texts(), whole);
  await transcript.record([summary, ...shortened.slice(4), ...gone]);
  assert.deepEqual(await texts(), [...whole, "gone", "gone too"], "brought back");
  await transcript.record([]);
  await transcript.close();
  assert.ok((await texts()).every((text) => !text.startsWith("gone")));
});

Deno.test("a page runs and loads nothing, whatever the texts hold", async () => {
  await using place = await transcriptHome();
  const attack = '</pre><script src="http://x/"></script><img src=x onerror=a()>\u202e';
  await store(place, [userItem(attack), { ...answer(attack), reasoning: attack, calls: [] }]);
  const page = sessionHtml(await loadTranscript(place.home, placeOf()));
  assert.doesNotMatch(page, /<script|<img|\u202e/);
  assert.match(page, /&lt;script src=&quot;http:\/\/x\/&quot;&gt;/);
  assert.match(page, /default-src 'none'/);
});
