import assert from "node:assert/strict";
import { manualClock } from "./helpers/manual_clock.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { type TemporaryHome, temporaryHome } from "./helpers/program.ts";
import { answer, CONTEXT, OTHER_SESSION, SESSION, transcriptOptions, userItem } from "./helpers/transcripts.ts";
import { openHome } from "../src/platform/home.ts";
import type { SessionItem } from "../src/session/item.ts";
import { openTranscript } from "../src/session/open_transcript.ts";
import type { Transcript, TranscriptOptions } from "../src/session/transcript.ts";

async function start(home: TemporaryHome, items: SessionItem[], more: Partial<TranscriptOptions>): Promise<Transcript> {
  const opened = await openHome({ env: () => home.agentcliHome, os: "linux" });
  const transcript = await openTranscript(
    opened,
    transcriptOptions({
      projectRoot: home.project,
      cwd: home.project,
      context: CONTEXT,
      clock: manualClock(),
      ...more,
    }),
  );
  await transcript.record(items);
  return transcript;
}

async function store(
  home: TemporaryHome,
  items: SessionItem[],
  more: Partial<TranscriptOptions> = {},
): Promise<string> {
  const transcript = await start(home, items, more);
  await transcript.close();
  return transcript.file;
}

Deno.test("sessions list shows this project's sessions, and all with --all", async () => {
  await using home = await temporaryHome();
  await store(home, [userItem("Fix \x1b[31mthe\nbug"), answer("Done")]);
  await store(home, [userItem("Other")], { sessionId: OTHER_SESSION, projectRoot: `${home.root}/deleted` });
  const short = SESSION.slice(0, 8);
  const listed = await runInProcess(["sessions", "list"], { home });
  assert.equal(listed.code, 0, listed.stderr);
  assert.match(
    listed.stdout,
    new RegExp(`^${short} +(?:just now|\\d+[mhd] ago) +1 +fake +Fix \\\\x1b\\[31mthe bug\n$`, "m"),
  );
  assert.ok(!listed.stdout.includes(OTHER_SESSION) && !listed.stdout.includes("\x1b"));
  const all = await runInProcess(["sessions", "list", "--all"], { home });
  assert.match(all.stdout, new RegExp(`${OTHER_SESSION.slice(0, 8)}.*deleted \\(gone\\)`));
  const json = JSON.parse((await runInProcess(["sessions", "list", "--json"], { home })).stdout);
  assert.deepEqual(json.sessions.map((session: { id: string }) => session.id), [SESSION]);
});

Deno.test("sessions list has room for the words in 80 columns, and a label where one is not open", async () => {
  await using home = await temporaryHome();
  const words = "Explain how the pump is started";
  await store(home, [userItem(words)], { model: "/srv/models/Qwen3-4B.gguf" });
  const list = async () => (await runInProcess(["sessions", "list"], { home })).stdout;
  const open = await list();
  assert.match(open, new RegExp(` Qwen3-4B +${words}\n$`));
  assert.doesNotMatch(open, /LABEL|open/);
  assert.ok(open.split("\n").every((line) => line.length <= 80), open);
  await store(home, [{ ...userItem("CANARY"), label: "no-cloud" }], { sessionId: OTHER_SESSION });
  assert.match(await list(), /MODEL +LABEL +NAME[^]* no-cloud +/);
});

Deno.test("sessions list without any says so and creates nothing", async () => {
  await using home = await temporaryHome();
  const listed = await runInProcess(["sessions", "list"], { home });
  assert.equal(listed.code, 0);
  assert.equal(listed.stdout, "");
  assert.match(listed.stderr, /no sessions in this project/);
  await assert.rejects(Deno.stat(home.agentcliHome), Deno.errors.NotFound);
});

Deno.test("sessions show and export take the beginning of an id, and never hold protected content", async () => {
  await using home = await temporaryHome();
  await store(home, [userItem("Question"), answer("Answer"), { ...answer("CANARY"), label: "no-cloud" }]);
  const shown = await runInProcess(["sessions", "show", "1111"], { home });
  assert.equal(shown.code, 0, shown.stderr);
  assert.match(shown.stdout, /## User\n\nQuestion\n\n## Assistant\n\nAnswer\n/);
  assert.match(shown.stdout, /redacted/);
  const exported = await runInProcess(["sessions", "export", "latest", "--format", "json"], { home });
  assert.equal(JSON.parse(exported.stdout).items.length, 3);
  assert.ok(!`${shown.stdout}${exported.stdout}`.includes("CANARY"));
});

Deno.test("sessions export writes a file for the owner alone, and replaces one only with --yes", async () => {
  await using home = await temporaryHome();
  await store(home, [userItem("Question")]);
  const args = ["sessions", "export", SESSION, "--output", "out.md"];
  assert.equal((await runInProcess(args, { home })).code, 0);
  assert.match(await home.read("out.md"), /Question/);
  assert.equal(((await Deno.stat(`${home.project}/out.md`)).mode ?? 0) & 0o777, 0o600);
  const again = await runInProcess(args, { home });
  assert.equal(again.code, 2);
  assert.match(again.stderr, /already exists/);
  assert.equal((await runInProcess([...args, "--yes"], { home })).code, 0);
  assert.equal((await runInProcess(["sessions", "export", SESSION, "--output", "out.html"], { home })).code, 0);
  assert.match(await home.read("out.html"), /^<!doctype html>/, "the ending decides the format");
  const html = await runInProcess(["sessions", "export", SESSION, "--html"], { home });
  assert.equal(html.stdout, await home.read("out.html"));
  const both = await runInProcess(["sessions", "export", SESSION, "--html", "--format", "json"], { home });
  assert.equal(both.code, 2);
  const nowhere = await runInProcess(["sessions", "export", SESSION, "--output", "no/out.md"], { home });
  assert.match(nowhere.stderr, /cannot write .*out\.md: that file or directory does not exist/);
  const directory = await runInProcess(["sessions", "export", SESSION, "--output", "d/"], { home });
  assert.equal(directory.code, 2);
  assert.match(directory.stderr, /d\/ is a directory\n.*name a file in it/);
});

Deno.test("an unknown session is exit 3 with what is near", async () => {
  await using home = await temporaryHome();
  await store(home, [userItem("Question")]);
  const unknown = await runInProcess(["sessions", "show", SESSION.replace("1111", "1112")], { home });
  assert.equal(unknown.code, 3);
  assert.match(unknown.stderr, new RegExp(`did you mean ${SESSION}`));
  await runInProcess(["sessions", "rename", SESSION, "Port of the pump"], { home });
  const named = await runInProcess(["sessions", "show", "port of"], { home });
  assert.match(named.stderr, /did you mean Port of the pump\?/);
});

Deno.test("sessions delete asks first; with --yes the session is gone; one in use stays", async () => {
  await using home = await temporaryHome();
  const writing = await start(home, [userItem("Question")], {});
  const unasked = await runInProcess(["sessions", "delete", SESSION], { home });
  assert.equal(unasked.code, 2);
  assert.match(unasked.stderr, /--yes/);
  const inUse = await runInProcess(["sessions", "delete", SESSION, "--yes"], { home });
  assert.equal(inUse.code, 3);
  assert.match(inUse.stderr, /in use by another process/);
  await writing.close();
  const deleted = await runInProcess(["sessions", "delete", SESSION, "--yes", "--json"], { home });
  assert.deepEqual(JSON.parse(deleted.stdout), { id: SESSION, change: "deleted" });
  await assert.rejects(Deno.stat(writing.file), Deno.errors.NotFound);
});

Deno.test("sessions prune deletes what is older, and only that", async () => {
  await using home = await temporaryHome();
  const old = await store(home, [userItem("Old")]);
  await store(home, [userItem("New")], { sessionId: OTHER_SESSION });
  const monthAgo = new Date(Date.now() - 31 * 24 * 60 * 60 * 1000);
  await Deno.utime(old, monthAgo, monthAgo);
  assert.equal((await runInProcess(["sessions", "prune"], { home })).code, 2);
  assert.equal((await runInProcess(["sessions", "prune", "--older-than", "30"], { home })).code, 2);
  const pruned = await runInProcess(["sessions", "prune", "--older-than", "30", "--yes", "--json"], { home });
  assert.deepEqual(JSON.parse(pruned.stdout), { deleted: [SESSION] });
  const none = await runInProcess(["sessions", "prune", "--older-than", "30"], { home });
  assert.deepEqual([none.code, none.stdout], [0, ""]);
  assert.equal(none.stderr, "no session is older than 30 days\n");
  const left = JSON.parse((await runInProcess(["sessions", "list", "--json"], { home })).stdout);
  assert.deepEqual(left.sessions.map((session: { id: string }) => session.id), [OTHER_SESSION]);
});
