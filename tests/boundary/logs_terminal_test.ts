/** Threat 122: what comes from outside steers no terminal. A real one is made by `script`. */
import assert from "node:assert/strict";
import { always, ask, refuse, say, startFakeServer, type Step, want } from "../helpers/fake_server.ts";
import { runInProcess } from "../helpers/in_process.ts";
import {
  configure,
  type Finished,
  programCommand,
  startCommand,
  type TemporaryHome,
  temporaryHome,
} from "../helpers/program.ts";

const ESC = "\x1b";
/** What an attacker would send; each begins with bytes that must never arrive. */
const SEQUENCES: Record<string, string> = {
  "clipboard (OSC 52)": `${ESC}]52;c;ZWNobyBoaQ==\x07`,
  "title (OSC 0)": `${ESC}]0;owned\x07`,
  "hyperlink (OSC 8)": `${ESC}]8;;http://127.0.0.2/${ESC}\\here${ESC}]8;;${ESC}\\`,
  "cursor report": `${ESC}[6n`,
  "title report": `${ESC}[21t`,
  "device control": `${ESC}P+q544e${ESC}\\`,
  "one-byte CSI": "\u009b31m",
  "one-byte OSC": "\u009d0;owned\u009c",
  "screen": `${ESC}[2J${ESC}[H`,
  "full reset": `${ESC}c`,
  "overwriting": "safe text\rEVIL",
  "erasing": "safe\b\b\b\bevil",
  "direction": "user\u202etxt.exe",
  "unterminated": `${ESC}]0;never ends`,
};

const script = await findScript();

async function findScript(): Promise<string | null> {
  try {
    return (await Deno.stat("/usr/bin/script")).isFile && Deno.build.os === "linux" ? "/usr/bin/script" : null;
  } catch {
    return null;
  }
}

const quoted = (word: string) => `'${word.replaceAll("'", `'\\''`)}'`;

type OnTerminal = (home: TemporaryHome, args: readonly string[]) => Promise<Finished>;

/** Runs the program on a terminal of its own; `stdout` is what that terminal got. */
const onTerminal: OnTerminal = async (home, args) => {
  const line = [...programCommand(), ...args].map(quoted).join(" ");
  await using program = startCommand([script ?? "", "-qec", line, "/dev/null"], { home, env: { TERM: "xterm" } });
  return await program.finished;
};

/** The same for streams that only say that they are a terminal. */
const asOnTerminal: OnTerminal = async (home, args) => {
  const done = await runInProcess(args, { home, env: { TERM: "xterm" }, terminal: true });
  return { ...done, stdout: done.stdout + done.stderr };
};

// deno-lint-ignore no-control-regex -- what the program itself sends
const OWN = /\x1b\[[0-9;]*[mK]|\x1b\[\?25[lh]|\r\n|\r\x1b\[K/g;
// deno-lint-ignore no-control-regex -- looking for control characters is the purpose
const FOREIGN = /[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e]|\r(?!\n)/;

/** The attack arrived in some form, and not as it is. */
function assertHarmless(shown: string, sequence: string, what: string): void {
  assert.ok(!shown.includes(sequence), `${what}: the sequence arrived`);
  // Colors of our own are fine; anything else that starts with these is not.
  const foreign = shown.replace(OWN, "").match(FOREIGN);
  assert.equal(foreign, null, `${what}: ${JSON.stringify(foreign?.[0])} in ${JSON.stringify(shown.slice(0, 2000))}`);
}

/** Lets every part of a turn, an error and the lists bring the sequence. */
async function assertNothingArrives(sequence: string, run: OnTerminal): Promise<void> {
  await using home = await temporaryHome();
  const text = `begin ${sequence} end`;
  await home.write("notes.txt", text);
  const name = sequence.replaceAll("/", "_");
  await home.write(`file ${name}.txt`, "content");
  const steps: Step[] = [
    ask(
      want("list", { path: "." }),
      want("read", { path: "notes.txt" }),
      want("shell", { command: `printf %s ${quoted(text)}` }),
    ),
    say(text, { reasoning: text }),
  ];
  await using server = startFakeServer({ script: steps, models: ["fake", `m${sequence}`] });
  await using failing = startFakeServer({ script: [always(refuse(400, text))] });
  await configure(home, {
    loc: { baseUrl: server.baseUrl, models: ["fake", `m${sequence}`] },
    bad: { baseUrl: failing.baseUrl },
  });
  const turn = await run(home, ["run", "go", "--model", "loc:fake", "--allowed-tools", "Bash"]);
  assert.equal(turn.code, 0, turn.stdout);
  assert.match(turn.stdout, /begin/, "control: the text was shown");
  assertHarmless(turn.stdout, sequence, "run");
  const failed = await run(home, ["run", "go", "--model", "bad", "--verbose"]);
  assert.notEqual(failed.code, 0);
  assertHarmless(failed.stdout, sequence, "error");
  for (const args of [["providers", "list"], ["providers", "validate"], ["run", "go", "--model", `loc:${sequence}x`]]) {
    const done = await run(home, args);
    assertHarmless(done.stdout, sequence, args.join(" "));
  }
}

for (const [name, sequence] of Object.entries(SEQUENCES)) {
  Deno.test(`a terminal gets no ${name} from model text, tool output, file names, model ids, or errors`, async () => {
    await assertNothingArrives(sequence, asOnTerminal);
  });
}

Deno.test("a real terminal gets none of them together", { ignore: script === null }, async () => {
  await assertNothingArrives(Object.values(SEQUENCES).join(" "), onTerminal);
});

Deno.test({
  name: "JSON on a terminal carries control characters as \\u escapes only",
  ignore: script === null,
  async fn() {
    await using home = await temporaryHome();
    const sequence = Object.values(SEQUENCES).join(" ");
    await using server = startFakeServer({ script: [always(say(sequence))] });
    await configure(home, { loc: { baseUrl: server.baseUrl, models: ["fake", `m${sequence}`] } });
    for (
      const args of [["providers", "list", "--json"], ["run", "go", "--model", "loc:fake", "--output-format", "json"], [
        "run",
        "go",
        "--model",
        "loc:fake",
        "--output-format",
        "stream-json",
        "--include-partial-messages",
      ]]
    ) {
      const done = await onTerminal(home, args);
      assert.equal(done.code, 0, done.stdout);
      assertHarmless(done.stdout, sequence, args.join(" "));
      assert.match(done.stdout, /\\u001b\]52/);
    }
  },
});
