/** What a session that read protected content shows of its calls: the answer is for the user, all else may be kept. */
import assert from "node:assert/strict";
import { ask, say, type Step, want } from "../helpers/fake_server.ts";
import { assertArrived, assertSealed, openStage, type Stage } from "./harness.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const ALL = ["--permission-mode", "bypassPermissions"];

/** Reads the file of the canary, then quotes it in calls that work, fail, and are denied. */
function quoting(canary: string, path: string): Step[] {
  return [
    ask(want("read", { path })),
    ask(
      want("grep", { pattern: canary }),
      want("read", { path: `no-such-${canary}.txt` }),
      want("write", { path: `out-${canary.slice(0, 14)}.txt`, content: canary }),
      want("shell", { command: `echo ${canary}; false` }),
    ),
    say("Done."),
  ];
}

const FORMATS: Record<string, string[]> = {
  text: [],
  verbose: ["--verbose"],
  json: ["--output-format", "json"],
  "stream-json": ["--output-format", "stream-json"],
  partial: ["--output-format", "stream-json", "--include-partial-messages"],
};

async function shown(stage: Stage, path: string, args: readonly string[]) {
  const played = await stage.play("loc", { script: quoting(stage.canary("env"), path), args });
  // The model may put what it knows on a command line: a shell sees it there, and so does whoever looks at processes.
  assertSealed({ ...played, leaks: { ...played.leaks, processes: [] } }, args.join(" "));
  assertArrived(played, stage.canary("env"));
  return { played, text: played.done.stdout + played.done.stderr };
}

for (const [name, args] of Object.entries(FORMATS)) {
  Deno.test(
    `${name} output shows the names of a protected session's calls, and not what they hold`,
    linux,
    async () => {
      await using stage = await openStage();
      for (const mode of [["--allowed-tools", "Read,Grep"], ALL]) {
        const { played, text } = await shown(stage, ".env", [...mode, ...args]);
        assert.deepEqual(played.leaks.output, [], text);
        assert.ok(!text.includes(stage.canary("env").slice(0, 14)), text);
        assert.match(text, /Done\./);
        if (name !== "json") assert.match(text, /Grep[\s\S]*Write[\s\S]*Bash/);
      }
    },
  );

  Deno.test(`control: ${name} output of an open session shows them`, linux, async () => {
    await using stage = await openStage({ marker: null });
    const played = await stage.play("loc", {
      script: quoting(stage.canary("env"), ".env"),
      args: ["--allowed-tools", "Read,Grep", ...args],
    });
    assert.notDeepEqual(played.leaks.output, []);
  });
}

Deno.test("the pieces of a protected call are JSON that says so", linux, async () => {
  await using stage = await openStage();
  const { played } = await shown(stage, ".env", [...ALL, ...FORMATS.partial ?? []]);
  const lines = played.done.stdout.trimEnd().split("\n").map((line) => JSON.parse(line));
  const pieces = new Map<string, string>();
  let message = 0;
  for (const { type, event } of lines) {
    if (type !== "stream_event") continue;
    if (event.type === "message_start") message++;
    const piece = event.delta?.partial_json;
    const key = `${message} ${event.index}`;
    if (typeof piece === "string") pieces.set(key, (pieces.get(key) ?? "") + piece);
  }
  const inputs = [...pieces.values()].map((text) => JSON.parse(text));
  assert.equal(inputs.length, 5);
  assert.equal(inputs.filter((input) => "redacted" in input).length, 4, "the call before the read is shown");
  const calls = lines.filter(({ type }) => type === "assistant").flatMap(({ message }) => message.content)
    .filter((block) => block.type === "tool_use");
  assert.deepEqual(calls.map(({ input }) => "redacted" in input), [false, true, true, true, true]);
});

/** Arguments as they arrive: what is parsed of them is only a part of what is shown of their pieces. */
const RAW: Record<string, (canary: string) => string> = {
  "no JSON": (canary) => `{"file_path": ${canary} [[`,
  "cut off": (canary) => `{"file_path": "${canary}`,
  "followed by words": (canary) => `{"file_path":"pub.txt"} ${canary}`,
  "one name twice": (canary) => `{"file_path":"${canary}","file_path":"pub.txt"}`,
};

for (const [way, input] of Object.entries(RAW)) {
  Deno.test(`pieces of a call are judged as they arrived: ${way}`, linux, async () => {
    await using stage = await openStage();
    const shown = async (word: string) => {
      const script = [ask({ name: "Read", input: input(word) }), say("Done.")];
      return (await stage.play("loc", { script, args: FORMATS.partial! })).done.stdout;
    };
    const canary = stage.canary("env");
    const told = await shown(canary);
    assert.match(told, /partial_json":"[^}]*redacted/);
    assert.ok(!told.includes(canary), told);
    assert.ok((await shown("public-word-4711")).includes("public-word-4711"), "control: other words are shown");
  });
}

Deno.test(
  "pieces of a call wait for the label of their response: a model can quote what no label saw it read",
  linux,
  async () => {
    for (const marker of [undefined, null]) {
      await using stage = await openStage(marker === null ? { marker } : {});
      const canary = stage.canary("env");
      const played = await stage.play("loc", {
        script: [ask(want("shell", { command: `echo ${canary}` })), say("Done.")],
        args: [...ALL, ...FORMATS.partial!],
      });
      assertArrived(played, canary);
      assert.match(played.done.stdout, /"input_json_delta"/);
      assert.equal(played.done.stdout.includes(canary), marker === null, played.done.stdout);
    }
  },
);
