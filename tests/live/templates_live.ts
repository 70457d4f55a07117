/**
 * A session of nine requests through every chat template of llama.cpp's own source: a real llama-server renders each
 * request (`/apply-template`) and refuses what it refuses; only what the model says is scripted.
 */
import assert from "node:assert/strict";
import { type RecordedRequest, say, startFakeServer, type Step } from "../helpers/fake_server.ts";
import { configure, runProgram, temporaryHome } from "../helpers/program.ts";
import { configureLlama, type LlamaServer, MODEL, required, startLlama } from "./llama_server.ts";

// deno-lint-ignore no-explicit-any -- bodies of requests, as they came
type Body = any;

/** A call of the scripted model. */
type Call = [name: string, input: Record<string, unknown>];

/** What the model says, one reply a request. */
interface Said {
  text?: string;
  calls?: Call[];
  /** In the history once this was said and answered; the last of its words that templates have no reason to change. */
  mark: string;
}

const read = (name: string): Call => ["Read", { file_path: name }];
const ODD = 'She said "now",\n\ttwice: 5 < 6 && 7 > 6 — à plus canary-said\n';

const SESSION: readonly { prompt: string; replies: readonly Said[] }[] = [
  {
    prompt: "Please look at file-one.txt first.",
    replies: [
      { calls: [read("file-one.txt")], mark: "content-one" },
      { text: "Now the other two.", calls: [read("file-two.txt"), read("file-three.txt")], mark: "content-three" },
      {
        calls: [["TodoWrite", {
          todos: [
            { content: "todo-canary", status: "in_progress", activeForm: "Doing todo-canary" },
            { content: "later", status: "pending", activeForm: "Doing later" },
          ],
        }]],
        mark: "todo-canary",
      },
      { text: "answer-one", mark: "answer-one" },
    ],
  },
  {
    prompt: "Write what she said.",
    replies: [
      { calls: [["Write", { file_path: "said.txt", content: ODD }]], mark: "canary-said" },
      { calls: [read("no-such-file.txt")], mark: "no-such-file.txt" },
      {
        calls: [read("said.txt"), ["Glob", { pattern: "*-one.txt" }], ["Grep", { pattern: "canary-grep" }]],
        mark: "canary-grep",
      },
      { text: "answer-two", mark: "answer-two" },
    ],
  },
  { prompt: "Thanks, that is all.", replies: [{ text: "answer-three", mark: "answer-three" }] },
];
const REPLIES = SESSION.flatMap(({ replies }) => replies);
const TOOLS = ["Read", "Write", "Edit", "Glob", "Grep", "Bash", "TodoWrite"];

/** A request as the real server rendered it. */
interface Rendered {
  body: Body;
  prompt: string;
  /** Replies that its history holds. */
  said: number;
}

/** Replies that the history of a request holds. */
function saidBefore(body: Body): number {
  const history = JSON.stringify(body.messages.slice(1));
  const next = REPLIES.findIndex(({ mark }) => !history.includes(mark));
  return next < 0 ? REPLIES.length : next;
}

function stepOf({ text = "", calls = [] }: Said, body: Body): Step {
  if (calls.length === 0) return say(text);
  if (body.tools !== undefined) {
    return { kind: "message", text, calls: calls.map(([name, input]) => ({ name, input })) };
  }
  const written = calls.map(([name, input]) =>
    `<tool_call>\n${JSON.stringify({ name, arguments: input })}\n</tool_call>`
  );
  return say([text, ...written].filter((part) => part !== "").join("\n"));
}

/** A server that speaks for the scripted model and has every request rendered by the real one. */
async function startScripted(llama: LlamaServer) {
  const rendered: Rendered[] = [];
  const refusals: string[] = [];
  const answer = async ({ json: body }: RecordedRequest): Promise<Step> => {
    const response = await fetch(`${llama.origin}/apply-template`, { method: "POST", body: JSON.stringify(body) });
    const text = await response.text();
    if (response.status !== 200) {
      refusals.push(text);
      return { kind: "status", status: response.status, body: text, headers: { "content-type": "application/json" } };
    }
    const said = saidBefore(body);
    rendered.push({ body, prompt: JSON.parse(text).prompt, said });
    const reply = REPLIES[said];
    return reply === undefined ? say("nothing is left to say") : stepOf(reply, body);
  };
  const passedOn = async (path: string): Promise<Step> => ({
    kind: "status",
    status: 200,
    body: await (await llama.get(path)).text(),
  });
  const server = startFakeServer({
    name: "llama.cpp",
    script: (request) => ({ kind: "later", step: answer(request) }),
    routes: { "/props": await passedOn("/props"), "/v1/models": await passedOn("/v1/models") },
  });
  return Object.assign(server, { rendered, refusals });
}

/** The shape of a request, by what it says. */
function shapeOf({ body }: Rendered): "native" | "single" | "text" {
  if (body.tools === undefined) return "text";
  const together = body.messages.some((message: Body) => (message.tool_calls?.length ?? 0) > 1);
  return together ? "native" : "single";
}

/** Templates that are known not to take calls as such, by the models they are of; the others take them. */
const KNOWN: readonly [RegExp, "single" | "text"][] = [
  [/^meta-llama-Llama-3\.[123]|^openai-gpt-oss/, "single"],
  [/^google-gemma-2|^microsoft-Phi-3\.5|^deepseek-ai-DeepSeek-R1-Distill|command-r-plus|rwkv/, "text"],
];

/** A template that shows a list among the arguments of a call as nothing. */
const SHOWS_NO_LISTS = /^openbmb-MiniCPM5/;
/** What the list of {@link SESSION} holds. */
const LIST_MARK = "todo-canary";

/** What a request does not show of the tools and of what was said and done before it. */
function missingIn({ prompt, said }: Rendered): string[] {
  const answers = SESSION.slice(1).flatMap(({ prompt: words, replies }) => {
    const first = REPLIES.indexOf(replies[0] as Said);
    return said >= first ? [words] : [];
  });
  const marks = REPLIES.slice(0, said).map(({ mark }) => mark);
  return [...TOOLS, ...answers, ...marks].filter((words) => !prompt.includes(words));
}

/** Each request begins with the bytes of the one before in the same shape. */
function assertStablePrefix(rendered: readonly Rendered[]): void {
  const start = ({ body }: Rendered) => JSON.stringify({ tools: body.tools, messages: body.messages }).slice(0, -2);
  rendered.forEach((request, at) => {
    const before = rendered[at - 1];
    if (before !== undefined) assert.ok(start(request).startsWith(start(before)), `request ${at}`);
  });
}

/** File names of templates; none where there is no such folder, which the last test tells. */
function templatesIn(path: string): string[] {
  try {
    return [...Deno.readDirSync(path)].map(({ name }) => name).filter((name) => name.endsWith(".jinja")).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

const folder = `${required("AGENTCLI_LLAMA_SERVER").replace(/[^/]*$/, "")}templates`;
const templates = templatesIn(folder);
const shapes = new Map<string, string>();

for (const template of templates) {
  Deno.test(`a session of nine requests goes through ${template}`, async () => {
    await using llama = await startLlama({ template: `${folder}/${template}`, contextWindow: 32_768 });
    await using server = await startScripted(llama);
    await using home = await temporaryHome();
    for (const name of ["one", "two", "three"]) await home.write(`file-${name}.txt`, `content-${name}\n`);
    await configure(home, { llama: { baseUrl: server.baseUrl, models: [{ id: MODEL, context_window: 32_768 }] } });
    const stdin = SESSION.map(({ prompt }) => `${prompt}\n`).join("");
    const done = await runProgram(["chat", "--permission-mode", "acceptEdits"], { home, stdin });
    assert.equal(done.code, 0, done.stderr);
    for (const { mark } of REPLIES.filter(({ calls }) => calls === undefined)) assert.ok(done.stdout.includes(mark));
    // What was asked without the tools was asked again, and is not counted.
    const taken = server.rendered.filter(({ said }, at) => server.rendered[at + 1]?.said !== said);
    assert.deepEqual(taken.map(({ said }) => said), REPLIES.map((_, at) => at));
    assert.ok(server.rendered.length - taken.length + server.refusals.length <= 1, "one request more at most");
    for (const request of taken) {
      const missing = missingIn(request).filter((mark) => mark !== LIST_MARK || !SHOWS_NO_LISTS.test(template));
      assert.deepEqual(missing, [], `request ${request.said}`);
    }
    assertStablePrefix(taken);
    const shape = shapeOf(taken.at(-1) as Rendered);
    const known = KNOWN.find(([names]) => names.test(template));
    if (known !== undefined) assert.equal(shape, known[1]);
    shapes.set(template, shape);

    // The next session begins with what was learnt.
    const before = server.rendered.length + server.refusals.length;
    const next = await runProgram(["run", SESSION[0]?.prompt ?? ""], { home });
    assert.ok(next.stdout.endsWith("answer-one\n"), next.stderr);
    assert.equal(server.rendered.length + server.refusals.length - before, 4);
    assert.equal(shapeOf(server.rendered.at(-1) as Rendered), shape);
    assertStablePrefix(server.rendered.slice(-4));
  });
}

Deno.test("the real server names itself and its template early enough: what it would drop is sent again as text", async () => {
  await using llama = await startLlama({ template: `${folder}/google-gemma-2-2b-it.jinja` });
  await using home = await temporaryHome();
  await configureLlama(home, llama, { model: { max_tokens: 16 } });
  for (const isFirst of [true, false]) {
    const done = await runProgram(["run", "Say hello.", "--max-turns", "1"], { home });
    assert.equal(/leaves tools out; sent again with the tools described in the prompt/.test(done.stderr), isFirst);
    // Without the tools it is about 400.
    assert.match(done.stderr, /^[1-9][\d.]*k in\b/m);
  }
});

Deno.test("most templates of the source take calls as such, and there are as many as there were", () => {
  assert.ok(
    templates.length >= 70,
    `${templates.length} templates in ${folder}: scripts/llama/build_server.sh puts them beside the server`,
  );
  const native = [...shapes.values()].filter((shape) => shape === "native").length;
  assert.ok(native >= shapes.size * 0.7, `${native} of ${shapes.size}`);
});
