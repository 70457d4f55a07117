import assert from "node:assert/strict";
import { type TemporaryHome, temporaryHome } from "../../../tests/helpers/home.ts";
import { denoIo } from "../../platform/deno_io.ts";
import { openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import type { Discovered } from "../../provider/backends/discovery.ts";
import { mergeFound, offerDefault } from "./run.ts";

const met = (port: number, runtime: string, models: string[]): Discovered => ({
  runtime,
  host: "localhost",
  port,
  baseUrl: `http://localhost:${port}/v1`,
  local: true,
  state: "serving",
  detail: "",
  server: runtime === "runtime_a" ? { server: "ollama", label: "Ollama", gateway: false } : null,
  models: models.map((id) => ({ id, contextWindow: null })),
});

/** A person who types these lines, each when it is asked for. */
function person(lines: string[]): Io & { seen(): string } {
  let seen = "";
  let asked = Promise.withResolvers<void>();
  const write = (text: string) => {
    seen += text;
    if (/: $/.test(text)) asked.resolve();
    return Promise.resolve();
  };
  const output = { isTerminal: true, columns: () => 80, write };
  const waiting = lines.values();
  return {
    ...denoIo(),
    stdin: {
      isTerminal: true,
      setRaw() {},
      read: async () => {
        await asked.promise;
        asked = Promise.withResolvers<void>();
        const line = waiting.next();
        return line.done ? null : new TextEncoder().encode(`${line.value}\n`);
      },
    },
    stdout: output,
    stderr: output,
    seen: () => seen,
  };
}

/** Returns the outcome of the answers with two servers found, and the lines of the file that name the default. */
async function offered(home: TemporaryHome, answers: string[], found = FOUND) {
  const opened = await openHome({ env: () => home.agentcliHome, os: "linux" });
  const { plan, configuration } = await mergeFound(opened, found, { env: () => undefined });
  const io = person(answers);
  const chosen = await offerDefault(configuration, { found, plan, home: opened, io });
  const text = await Deno.readTextFile(`${home.agentcliHome}/providers.yaml`);
  return { chosen, seen: io.seen(), lines: text.split("\n").filter((line) => line.startsWith("default_")) };
}

const FOUND = [met(11434, "runtime_a", ["qwen3:8b", "same"]), met(8000, "runtime_c", ["same", "7"])];

for (
  const [answer, chosen] of [
    ["1", "runtime_a:qwen3:8b"],
    ["3", "runtime_c:same"],
    ["runtime_c:same", "runtime_c:same"],
    ["qwen3:8b", "runtime_a:qwen3:8b"],
    // A model may be called like a number.
    ["7", "runtime_c:7"],
  ] as const
) {
  Deno.test(`the answer ${answer} makes ${chosen} the default`, async () => {
    await using home = await temporaryHome();
    const result = await offered(home, [answer]);
    assert.equal(result.chosen, chosen);
    const [provider, ...model] = chosen.split(":");
    const value = model.join(":");
    assert.deepEqual(result.lines, [
      `default_provider: ${provider}`,
      `default_model: ${/^\d+$/.test(value) ? `"${value}"` : value}`,
    ]);
    assert.match(
      result.seen,
      / 1 {2}Ollama {2}runtime_a:qwen3:8b\n {3}2 {2}Ollama {2}runtime_a:same\n {3}3 {2}runtime_c:same\n/,
    );
    assert.match(result.seen, new RegExp(`default model: ${chosen}\n`));
    // Who has one is not asked again.
    const again = await offered(home, ["2"]);
    assert.deepEqual([again.chosen, again.seen], [null, ""]);
  });
}

for (const answers of [[""], [], ["same", "9", "x\u001b[31m"]]) {
  Deno.test(`the answers ${JSON.stringify(answers)} choose nothing`, async () => {
    await using home = await temporaryHome();
    const { chosen, lines, seen } = await offered(home, answers);
    assert.deepEqual([chosen, lines], [null, []]);
    assert.equal(seen.split("is not in the list").length - 1, answers.filter((one) => one !== "").length);
    assert.equal(seen.includes("\u001b"), false);
  });
}

Deno.test("nobody is asked where no model was met", async () => {
  await using home = await temporaryHome();
  const { seen } = await offered(home, ["1"], [met(11434, "runtime_a", [])]);
  assert.equal(seen, "");
});

Deno.test("of many models the first are listed, and each can be named", async () => {
  await using home = await temporaryHome();
  const many = Array.from({ length: 30 }, (_, at) => `m${at}`);
  const { chosen, seen } = await offered(home, ["25", "m25"], [met(11434, "runtime_a", many)]);
  assert.match(seen, /20 {2}Ollama {2}runtime_a:m19\n {6}and 10 more, by name\n/);
  assert.match(seen, /25 is not in the list/);
  assert.equal(chosen, "runtime_a:m25");
});
