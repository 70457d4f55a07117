import assert from "node:assert/strict";
import { conversation } from "../../tests/helpers/conversations.ts";
import * as fc from "../../tests/property.ts";
import {
  answer,
  CONTEXT,
  OTHER_SESSION,
  placeOf,
  readCall,
  SESSION,
  transcriptFile,
  transcriptHome,
  transcriptOptions,
  userItem,
} from "../../tests/helpers/transcripts.ts";
import { AgentcliError } from "../errors.ts";
import type { SessionItem } from "./item.ts";
import { loadTranscript } from "./load.ts";
import { openTranscript, resumeTranscript } from "./open_transcript.ts";
import { transcriptName } from "./paths.ts";

Deno.test("what was recorded is loaded as it was, whatever the texts hold", async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async (items) => {
      await using place = await transcriptHome();
      const transcript = await openTranscript(place.home, transcriptOptions({ context: CONTEXT }));
      for (const at of items.keys()) await transcript.record(items.slice(0, at + 1));
      await transcript.close();
      if (items.length === 0) return;
      const stored = await loadTranscript(place.home, placeOf());
      assert.deepEqual(stored.items, items);
      assert.deepEqual(stored.context, CONTEXT);
      assert.deepEqual(stored.problems, []);
      assert.equal(stored.label, "open");
    }),
    { numRuns: 60 },
  );
});

Deno.test("a file torn at any byte gives the whole lines before it, and continues from there", async () => {
  await using place = await transcriptHome();
  const items = [userItem("one \u2028 äöü"), ...readCall("call00001", "text"), answer("two"), userItem("three")];
  const transcript = await openTranscript(place.home, transcriptOptions({ context: CONTEXT }));
  const ends: number[] = [];
  for (const at of items.keys()) {
    await transcript.record(items.slice(0, at + 1));
    ends.push((await Deno.stat(transcript.file)).size);
  }
  await transcript.close();
  const bytes = await Deno.readFile(transcriptFile(place));
  for (let length = 0; length <= bytes.length; length++) {
    // Far from the ends of lines one place is like the next.
    if (length % 4 !== 0 && !ends.some((end) => Math.abs(end - length) < 30)) continue;
    await Deno.writeFile(transcriptFile(place), bytes.subarray(0, length));
    const stored = await loadTranscript(place.home, placeOf());
    const acknowledged = ends.filter((end) => end <= length).length;
    const read = stored.end.named.map(({ item }) => item);
    // A line that lacks nothing but its line feed is whole.
    assert.ok(read.length >= acknowledged && read.length <= acknowledged + 1, `at ${length}`);
    assert.deepEqual(read, items.slice(0, read.length));
    assert.deepEqual(stored.problems.filter((text) => !text.includes("first line")), [], `at ${length}`);
  }
  await Deno.writeFile(transcriptFile(place), bytes.subarray(0, bytes.length - 5));
  const { stored, transcript: resumed } = await resumeTranscript(place.home, {
    ...transcriptOptions(),
    ...placeOf(),
  });
  await resumed.record([...stored.items, userItem("four")]);
  await resumed.close();
  const after = await loadTranscript(place.home, placeOf());
  assert.deepEqual(after.items, [...items.slice(0, 4), userItem("four")]);
  assert.deepEqual(after.problems, []);
});

Deno.test("a damaged line in the middle is reported, and its call or result completed", async () => {
  await using place = await transcriptHome();
  const items = [userItem("one"), ...readCall("call00001", "text"), answer("two")];
  const transcript = await openTranscript(place.home, transcriptOptions());
  await transcript.record(items);
  await transcript.close();
  const lines = (await Deno.readTextFile(transcriptFile(place))).split("\n");
  const at = lines.findIndex((line) => line.includes("tool_result"));
  lines[at] = lines[at]?.slice(0, 40) ?? "";
  await Deno.writeTextFile(transcriptFile(place), lines.join("\n"));
  const stored = await loadTranscript(place.home, placeOf());
  assert.match(stored.problems[0] ?? "", new RegExp(`line ${at + 1} cannot be read`));
  assert.deepEqual(stored.items.map((item) => item.kind), ["user", "assistant", "tool_result", "assistant"]);
});

Deno.test("a call that ran when the process was killed has a result after resuming, the same every time", async () => {
  await using place = await transcriptHome();
  const [call] = readCall("call00001", "");
  const transcript = await openTranscript(place.home, transcriptOptions());
  await transcript.record([userItem("one"), call as SessionItem]);
  await transcript.close();
  const resume = async () => {
    const resumed = await resumeTranscript(place.home, { ...transcriptOptions(), ...placeOf() });
    await resumed.transcript.close();
    return resumed.stored.items;
  };
  const first = await resume();
  assert.equal(first.at(-1)?.kind, "tool_result");
  assert.deepEqual(await resume(), first);
});

Deno.test("a prompt keeps when it was said, and one of an earlier version its number, by which files go back", async () => {
  await using place = await transcriptHome();
  const transcript = await openTranscript(place.home, transcriptOptions());
  await transcript.record([{ ...userItem("one"), said: 5 }, answer("two"), { ...userItem("three"), said: 9 }]);
  await transcript.close();
  const said = async () =>
    (await loadTranscript(place.home, placeOf())).items.flatMap((item) => item.kind === "user" ? [item.said] : []);
  assert.deepEqual(await said(), [5, 9]);
  const file = place.home.file(transcriptName(placeOf().slug, placeOf().id));
  await Deno.writeTextFile(file, (await Deno.readTextFile(file)).replace(/,"said":\d+/g, ""));
  assert.deepEqual(await said(), [1, 2]);
});

Deno.test("shortened and summarized items are loaded as they were sent last, and places count on", async () => {
  await using place = await transcriptHome();
  const transcript = await openTranscript(place.home, transcriptOptions({ context: CONTEXT }));
  const items = [userItem("one"), ...readCall("call00001", "long"), answer("two"), userItem("three")];
  await transcript.record(items);
  const [first, call, result, ...rest] = items;
  const shortened = [first, call, { ...result, content: "short" }, ...rest] as SessionItem[];
  await transcript.record(shortened);
  const summary: SessionItem = { kind: "user", origin: "summary", text: "What was said", label: "open" };
  const compacted = [summary, ...shortened.slice(3)];
  await transcript.record(compacted);
  await transcript.record([...compacted, answer("four")]);
  await transcript.close();
  const stored = await loadTranscript(place.home, placeOf());
  assert.deepEqual(stored.items.slice(0, 3), compacted);
  assert.equal(stored.items.length, 4);
  assert.equal(stored.removed, 2);
  assert.equal(stored.turns, 2);
});

Deno.test("every message names the one before it, also after a summary took the place of all and after resuming", async () => {
  await using place = await transcriptHome();
  const transcript = await openTranscript(place.home, transcriptOptions());
  await transcript.record([userItem("one"), answer("two")]);
  const summary: SessionItem = { kind: "user", origin: "summary", text: "What was said", label: "open" };
  await transcript.record([summary]);
  await transcript.record([summary, answer("three")]);
  await transcript.close();
  const resumed = await resumeTranscript(place.home, { ...transcriptOptions(), ...placeOf() });
  await resumed.transcript.record([...resumed.stored.items, userItem("four")]);
  await resumed.transcript.close();
  const lines = (await Deno.readTextFile(transcript.file)).trim().split("\n").map((line) => JSON.parse(line));
  const messages = lines.filter((line) => line.type === "user" || line.type === "assistant");
  assert.deepEqual(messages.map((line) => line.parentUuid), [null, ...messages.slice(0, -1).map((line) => line.uuid)]);
  assert.equal(messages.length, 4);
});

Deno.test("a second writer of one session is refused until the first has ended", async () => {
  await using place = await transcriptHome();
  const first = await openTranscript(place.home, transcriptOptions());
  await first.record([userItem("one")]);
  const again = () => resumeTranscript(place.home, { ...transcriptOptions(), ...placeOf() });
  await assert.rejects(again, (error) => error instanceof AgentcliError && error.code === "session_in_use");
  await first.close();
  const { transcript } = await again();
  await transcript.close();
  assert.deepEqual([...Deno.readDirSync(`${place.home.path}/projects/${placeOf().slug}`)].map(({ name }) => name), [
    `${SESSION}.jsonl`,
  ]);
});

Deno.test("an id that is taken is refused, and one that is no UUID", async () => {
  await using place = await transcriptHome();
  const first = await openTranscript(place.home, transcriptOptions());
  await first.record([userItem("one")]);
  await first.close();
  for (const sessionId of [SESSION, SESSION.toUpperCase(), "../../x"]) {
    await assert.rejects(
      openTranscript(place.home, transcriptOptions({ sessionId })),
      (error) => error instanceof AgentcliError && error.code === "usage",
    );
  }
});

Deno.test("a session in which nothing was said leaves no file", async () => {
  await using place = await transcriptHome();
  const transcript = await openTranscript(place.home, transcriptOptions({ context: CONTEXT }));
  await transcript.note({ outcome: "nothing" });
  await transcript.close();
  await assert.rejects(Deno.stat(transcript.file), Deno.errors.NotFound);
});

Deno.test("protected items are placeholders: no content, no digest, no length, not even in counts", async () => {
  await using place = await transcriptHome();
  const secret = "CANARY-0123456789";
  const usage = { promptTokens: 471_108_154, completionTokens: 815_471_108, cachedTokens: 0 };
  const source = { path: "secrets/key.pem", rule: "secrets/**" };
  const items: SessionItem[] = [
    userItem("look"),
    ...readCall("call00001", secret).map((item) =>
      item.kind === "tool_result" ? { ...item, label: "no-cloud" as const, source } : item
    ),
    {
      kind: "assistant",
      id: "msg_1",
      text: secret,
      reasoning: secret,
      calls: [{ id: "call00002", name: secret, input: { secret } }, { id: "call00003", name: "Read", input: {} }],
      label: "no-cloud",
    },
    { kind: "tool_result", callId: "call00002", name: secret, content: secret, isError: true, label: "no-cloud" },
    // Without a label it is protected as well.
    { kind: "tool_result", callId: "call00003", name: "Read", content: secret, isError: false } as SessionItem,
  ];
  const transcript = await openTranscript(place.home, transcriptOptions({ context: CONTEXT }));
  await transcript.record(items.slice(0, 1));
  for (const at of items.keys()) await transcript.record(items.slice(0, at + 1), { usage });
  await transcript.close();
  const text = await Deno.readTextFile(transcript.file);
  assert.ok(!text.includes("CANARY"), "content");
  const redacted = text.split("\n").filter((line) => line.includes('"label":"no-cloud"'));
  assert.equal(redacted.length, 4);
  assert.ok(!redacted.join("").includes("471108154") && !redacted.join("").includes("815471108"), "counts");
  const stored = await loadTranscript(place.home, placeOf());
  assert.equal(stored.label, "no-cloud");
  assert.equal(stored.redacted, 4);
  const [, , result, response] = stored.items;
  assert.deepEqual(result, {
    kind: "tool_result",
    callId: "call00001",
    name: "Read",
    content: "[redacted: secrets/key.pem is protected (secrets/**) and not stored]",
    isError: false,
    label: "no-cloud",
    source,
  });
  assert.ok(response?.kind === "assistant");
  assert.deepEqual(response.calls.map(({ name }) => name), ["Redacted", "Read"]);
});

Deno.test("a protected system message is not stored", async () => {
  await using place = await transcriptHome();
  const context = { ...CONTEXT, system: { text: "CANARY", label: "no-cloud" as const } };
  const transcript = await openTranscript(place.home, transcriptOptions({ context }));
  await transcript.record([userItem("one")]);
  await transcript.close();
  assert.ok(!(await Deno.readTextFile(transcript.file)).includes("CANARY"));
  assert.equal((await loadTranscript(place.home, placeOf())).context, null);
});

Deno.test("a label that was removed or altered makes the item protected", async () => {
  await using place = await transcriptHome();
  const transcript = await openTranscript(place.home, transcriptOptions());
  await transcript.record([userItem("one"), answer("two"), userItem("three")]);
  await transcript.close();
  const lines = (await Deno.readTextFile(transcript.file)).split("\n");
  lines[1] = lines[1]?.replace('"label":"open",', "") ?? "";
  lines[2] = lines[2]?.replace('"label":"open"', '"label":"Open"') ?? "";
  await Deno.writeTextFile(transcript.file, lines.join("\n"));
  const stored = await loadTranscript(place.home, placeOf());
  assert.deepEqual(stored.items.map((item) => item.label), ["no-cloud", "no-cloud", "open"]);
  assert.equal(stored.label, "no-cloud");
});

Deno.test("times never go backwards, also when the clock does", async () => {
  await using place = await transcriptHome();
  let now = 2_000_000_000_000;
  const transcript = await openTranscript(place.home, transcriptOptions({ clock: { now: () => now } }));
  const items = [userItem("one"), answer("two")];
  await transcript.record(items.slice(0, 1));
  now -= 86_400_000;
  await transcript.record(items);
  await transcript.close();
  const resumed = await resumeTranscript(place.home, { ...transcriptOptions(), ...placeOf(), clock: { now: () => 0 } });
  await resumed.transcript.record([...resumed.stored.items, userItem("three")]);
  await resumed.transcript.close();
  const times = (await Deno.readTextFile(transcript.file)).trim().split("\n").map((line) => JSON.parse(line).timestamp);
  assert.deepEqual(times, [...times].sort());
});

Deno.test("files are for the owner alone, and a looser one is tightened", async () => {
  await using place = await transcriptHome();
  const transcript = await openTranscript(place.home, transcriptOptions());
  await transcript.record([userItem("one")]);
  await transcript.close();
  const mode = async () => ((await Deno.stat(transcript.file)).mode ?? 0) & 0o777;
  assert.equal(await mode(), 0o600);
  await Deno.chmod(transcript.file, 0o644);
  const resumed = await resumeTranscript(place.home, { ...transcriptOptions(), ...placeOf() });
  await resumed.transcript.record([...resumed.stored.items, userItem("two")]);
  await resumed.transcript.close();
  assert.equal(await mode(), 0o600);
});

Deno.test("a transcript that is removed while it is written is reported once, and the session continues", async () => {
  await using place = await transcriptHome();
  const options = transcriptOptions();
  const transcript = await openTranscript(place.home, options);
  const items = [userItem("one"), answer("two"), userItem("three")];
  await transcript.record(items.slice(0, 1));
  await Deno.remove(transcript.file);
  await transcript.record(items.slice(0, 2));
  await transcript.record(items);
  assert.deepEqual(options.troubles, ["the session is no longer stored: its file was removed"]);
  await transcript.close();
});

Deno.test("a record waits until a problem is reported, since the process may end right after it", async () => {
  await using place = await transcriptHome();
  let isTold = false;
  const onTrouble = async () => {
    await Deno.stat(place.home.path);
    isTold = true;
  };
  const transcript = await openTranscript(place.home, transcriptOptions({ onTrouble }));
  await transcript.record([userItem("one")]);
  await Deno.remove(transcript.file);
  await transcript.record([userItem("two")]);
  assert(isTold);
  await transcript.close();
});

Deno.test("a line of 20 MB is written and read", async () => {
  await using place = await transcriptHome();
  const transcript = await openTranscript(place.home, transcriptOptions({ sessionId: OTHER_SESSION }));
  await transcript.record([userItem("x".repeat(20 * 1024 * 1024))]);
  await transcript.close();
  const stored = await loadTranscript(place.home, placeOf(OTHER_SESSION));
  assert.equal(stored.items[0]?.kind === "user" && stored.items[0].text.length, 20 * 1024 * 1024);
});
