import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { buildWords, type Command, commandsOf, fill, usedValues, type Values } from "./engine.ts";
import { engineEnvironment, findInstalled } from "./installed.ts";
import { lastLines, LogTail } from "./running.ts";
import { ownEngine } from "./request.ts";
import { shownCommand, withoutKeys } from "./quote.ts";
import { engines } from "./table.ts";
import { toolParserOf } from "../provider/backends/backends.ts";

const VALUES: Values = { host: "127.0.0.1", url_host: "127.0.0.1", port: "8080" };

Deno.test("a value is put in as it is, whatever it holds", () => {
  fc.assert(fc.property(fc.string(), (model) => {
    const values = { ...VALUES, model };
    assert.equal(fill("{model}", values), model);
    assert.equal(fill("-{port}={model}-", values), `-8080=${model}-`);
    const engine = ownEngine("own", { command: ["x", "a {model}", "{host}"] });
    const command = engine.running.kind === "child" ? engine.running.commands[0] : undefined;
    const built = buildWords(command as Command, { values, help: null, own: [] });
    assert.deepEqual(built.words, [`a ${model}`, "127.0.0.1"]);
  }));
  assert.equal(fill("{model}", VALUES), null);
  assert.equal(fill("{other} {}", VALUES), "{other} {}");
});

Deno.test("options that the user gives win, those that need another go with it", () => {
  const command: Command = {
    programs: ["x"],
    words: [],
    options: [
      { flag: "--parser", value: "{tool_parser}", valueInHelp: true },
      { flag: "--auto", needs: "tool_parser", with: "--parser" },
      { flag: "--port", value: "{port}", required: true },
    ],
    help: [],
  };
  const words = (help: string | null, own: string[] = []) =>
    buildWords(command, { values: { ...VALUES, tool_parser: "hermes" }, help, own }).words;
  assert.deepEqual(words("--parser {hermes,mistral} --auto"), ["--parser", "hermes", "--auto", "--port", "8080"]);
  assert.deepEqual(words("--parser {hermes2} --auto"), ["--port", "8080"]);
  assert.deepEqual(words("--parser-x hermes --auto"), ["--port", "8080"]);
  assert.deepEqual(words(null), ["--port", "8080"]);
  assert.deepEqual(words("--parser hermes --auto", ["--parser=mine"]), ["--port", "8080", "--parser=mine"]);
});

Deno.test("no engine of the table can put a key into argv, and each is told where to listen", () => {
  for (const engine of engines()) {
    const commands = engine.running.kind === "child" ? engine.running.commands : engine.running.start;
    const texts = commands.flatMap(({ words, options }) => [...words, ...options.map(({ value }) => value ?? "")]);
    assert.ok(!texts.some((text) => text.includes("{api_key}")), engine.id);
    const used = usedValues(engine);
    assert.ok((used.has("host") || used.has("url_host")) && used.has("port"), engine.id);
  }
});

Deno.test(
  "what is shown for sh is read back by sh as the same words",
  { ignore: Deno.build.os === "windows" },
  async () => {
    const words = ["plain", "", "a b", "it's", '"$HOME"', "`x`", "$(y)", "a\nb", "*", "~", "-n", ";", "\\", "é"];
    const text = shownCommand(
      { argv: ["printf", "%s\\0", ...words], variables: [{ name: "A", value: "x y" }] },
      "linux",
    );
    const { stdout } = await new Deno.Command("/bin/sh", { args: ["-c", text] }).output();
    assert.deepEqual(new TextDecoder().decode(stdout).split("\0").slice(0, -1), words);
  },
);

Deno.test("for PowerShell every word is quoted, and the variables come first", () => {
  const variables = [{ name: "A", value: "it's" }, { name: "KEY", variable: "MINE" }];
  assert.equal(
    shownCommand({ argv: ["x.exe", "a’b", "$y"], variables }, "windows"),
    "$env:A = 'it''s'; $env:KEY = $env:MINE; & 'x.exe' 'a’’b' '$y'",
  );
});

Deno.test("keys among the engine's own words are hidden, counts of tokens are not", () => {
  assert.deepEqual(
    withoutKeys(["x", "--api-key", "s1", "--hf-token=s2", "--max-tokens", "5", "--api-key", "--next"]),
    ["x", "--api-key", "<hidden>", "--hf-token=<hidden>", "--max-tokens", "5", "--api-key", "--next"],
  );
});

Deno.test("an engine gets no keys of ours, and the hub's only to fetch with", () => {
  const inherited = { PATH: "/bin", HF_TOKEN: "t", OPENAI_API_KEY: "k", ODD: "secret", CUDA_VISIBLE_DEVICES: "0" };
  const get = (download: boolean) => engineEnvironment(inherited, { set: { A: "1" }, secret: ["odd"], download });
  assert.deepEqual(get(false), { PATH: "/bin", CUDA_VISIBLE_DEVICES: "0", A: "1" });
  assert.deepEqual(get(true), { PATH: "/bin", HF_TOKEN: "t", CUDA_VISIBLE_DEVICES: "0", A: "1" });
});

Deno.test("the log is cut into lines however it arrives, and the last twenty are kept", () => {
  fc.assert(fc.property(fc.array(fc.nat(7)), (cuts) => {
    const text = "é one\r\ntwo\rthree\n\n\u001b[31mfour\u001b[0m";
    const bytes = new TextEncoder().encode(text);
    const lines: string[] = [];
    const tail = new LogTail((line) => lines.push(line));
    let at = 0;
    for (const cut of [...cuts, bytes.length]) {
      tail.add(bytes.slice(at, at + cut), "stderr");
      at += cut;
    }
    assert.deepEqual(tail.last(), ["é one", "two", "three", "four"]);
    assert.deepEqual(lines, ["é one", "two", "three", "four"]);
  }));
  const many = Array.from({ length: 50 }, (_, index) => `line ${index}`);
  assert.deepEqual(lastLines(many.join("\n")), many.slice(-20));
});

Deno.test("the parser of tool calls follows the model's own name, not its owner's", () => {
  const names = [
    "Qwen/Qwen3-Coder-30B",
    "Qwen/Qwen3-8B",
    "meta-llama/Llama-3.1-8B",
    "mistralai/Devstral-Small",
    "zai-org/GLM-4.5-Air",
  ];
  assert.deepEqual(names.map(toolParserOf), ["qwen3_coder", "hermes", "llama3_json", "mistral", "glm45"]);
  assert.equal(toolParserOf("mistralai/Other"), undefined);
  assert.equal(toolParserOf("/models/gpt-oss-20b/"), "openai");
});

Deno.test("an optional flag is left out without a word, and only of a version that is known not to have it", () => {
  const command = {
    programs: ["p"],
    words: ["serve"],
    options: [{ flag: "--no-log", optional: true as const }],
    help: [],
  };
  const values = { host: "127.0.0.1", url_host: "127.0.0.1", port: "1" };
  for (const help of ["--no-log  log nothing", null]) {
    assert.deepEqual(buildWords(command, { values, help, own: [] }).words, ["serve", "--no-log"]);
  }
  assert.deepEqual(buildWords(command, { values, help: "--other", own: [] }), { words: ["serve"], leftOut: [] });
});

Deno.test("vLLM is started so that it logs no prompt, unless its help shows that it needs no option for that", {
  ignore: Deno.build.os === "windows",
}, async () => {
  const ways: [all: string | null, few: string | null, isPassed: boolean][] = [
    [null, null, true],
    [null, "--config-group GROUP  (all options: --help=all)", true],
    ["--host H --port P --disable-log-requests", null, true],
    ["--host H --port P --enable-log-requests", null, false],
  ];
  const vllm = engines().find(({ servers }) => servers.includes("vllm"));
  const path = await Deno.makeTempDir();
  const answer = (text: string | null) => text === null ? "exit 2" : `echo '${text}'`;
  for (const [all, few, isPassed] of ways) {
    const text = `#!/bin/sh\nif test "$2" = --help=all; then ${answer(all)}; else ${answer(few)}; fi\n`;
    await Deno.writeTextFile(`${path}/vllm`, text, { mode: 0o755 });
    const io = { env: () => undefined, os: "linux" } as const;
    const search = { path, io, env: {}, cwd: path, signal: new AbortController().signal };
    const found = await findInstalled(vllm === undefined ? [] : commandsOf(vllm), search);
    assert.ok(found !== null);
    const { words, leftOut } = buildWords(found.command, { values: VALUES, help: found.help, own: [] });
    assert.equal(words.includes("--disable-log-requests"), isPassed, text);
    assert.ok(!leftOut.some(({ flag }) => flag === "--disable-log-requests"));
  }
  await Deno.remove(path, { recursive: true });
});
