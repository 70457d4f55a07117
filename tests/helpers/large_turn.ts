/** A turn that reads more than any window holds: its task, the files, and the steps of the model. */
import assert from "node:assert/strict";
import { runInProcess } from "./in_process.ts";
import { configure, runProgram, type TemporaryHome, temporaryHome } from "./program.ts";
import { type ModelStep, type Shown, startWindowServer, type WindowOptions } from "./window_server.ts";

const TASK = "Find out which of the files names the heron; the word is spelled h-e-r-o-n.";
const TODOS = ["Read all the source files", "Look at the bundle", "Say where the heron is"];

const read = (path: string, more: Record<string, unknown> = {}) => ({
  name: "Read",
  input: { file_path: path, ...more },
});
const bash = (command: string) => ({ name: "Bash", input: { command } });
const lastOf = ({ messages }: Shown) => messages.at(-1)?.content ?? "";

/**
 * What a model does that looks at everything: large files, long lines, several at once, and commands that print much.
 */
const STEPS: readonly ModelStep[] = [
  ({ tools }) =>
    tools.includes("TodoWrite")
      ? [{ name: "TodoWrite", input: { todos: TODOS.map((content) => ({ content, status: "pending" })) } }]
      : null,
  () => [read("a.ts")],
  (shown) => {
    const offset = /go on with offset (\d+)/.exec(lastOf(shown))?.[1];
    assert.ok(offset !== undefined, `a page tells the next offset: ${lastOf(shown).slice(-300)}`);
    return [read("a.ts", { offset: Number(offset) })];
  },
  () => [read("bundle.min.js")],
  () => [bash("seq 1 60000")],
  () => [read("b.ts"), read("c.ts"), read("d.ts"), read("e.ts")],
  () => [{ name: "Grep", input: { pattern: "value" } }],
  () => [read("numbers.csv")],
  () => [bash("head -c 300000 /dev/zero | tr '\\0' x")],
  () => [read("e.ts", { limit: 2000 })],
  () => "None of them does.",
];

async function writeFiles(home: TemporaryHome): Promise<void> {
  for (const name of ["a", "b", "c", "d", "e"]) {
    const lines = Array.from(
      { length: 3000 },
      (_, at) => `export const ${name}Value${at} = compute("${name}", ${at});`,
    );
    await home.write(`${name}.ts`, lines.join("\n"));
  }
  await home.write("bundle.min.js", 'function a(b){return b?{c:"d",e:[1,2,3]}:null};'.repeat(8000));
  const row = (at: number) => Array.from({ length: 20 }, (_, column) => at * 7919 + column * 104_729).join(",");
  await home.write("numbers.csv", Array.from({ length: 2000 }, (_, at) => row(at)).join("\n"));
}

/** Runs the turn against a server with this window, and asserts that it ends well with what the user asked in sight. */
export async function runLargeTurn(options: Omit<WindowOptions, "steps"> & { deadlineMs?: number }): Promise<void> {
  const { dialect, deadlineMs } = options;
  await using home = await temporaryHome();
  await writeFiles(home);
  await using server = startWindowServer({ ...options, steps: STEPS });
  await configure(home, { loc: { baseUrl: server.baseUrl } });
  const words = ["run", TASK, "--permission-mode", "bypassPermissions"];
  const done = deadlineMs === undefined
    ? await runInProcess(words, { home })
    : await runProgram(words, { home, deadlineMs });
  const counts = `${server.answered.length} answered, ${server.summaries} summaries, ${server.refused} refused, ` +
    `${server.cut} cut`;
  assert.equal(done.code, 0, `${counts}\n${done.stderr.slice(-3000)}`);
  assert.equal(done.stdout, "None of them does.\n", counts);
  assert.ok(server.chats().length <= STEPS.length * 3, counts);
  assert.ok(server.refused <= 3 && server.cut <= (dialect === "silent_untold" ? 3 : 0), counts);
  for (const shown of dialect === "silent_untold" ? server.answered.slice(-1) : server.answered) {
    const told = shown.messages.map(({ content }) => content).join("\n");
    assert.ok(told.includes(TASK), `the task is there: ${counts}`);
    if (shown !== server.answered[0] && shown.tools.includes("TodoWrite")) {
      const calls = JSON.stringify(shown.messages);
      for (const todo of TODOS) assert.ok(calls.includes(todo), `the todo list is there: ${counts}`);
    }
  }
}
