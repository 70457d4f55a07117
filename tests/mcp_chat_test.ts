/** MCP servers in the chat: /mcp, prompts as commands, resources by name, and forms. */
import assert from "node:assert/strict";
import { elicitInChat } from "../src/cli/chat/questions/asked.ts";
import type { ChatView } from "../src/cli/chat/begin.ts";
import { readForm } from "../src/mcp/elicit.ts";
import { ask, say, startFakeServer } from "./helpers/fake_server.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { planServer, type ServerPlan } from "./helpers/mcp.ts";
import { configure, temporaryHome } from "./helpers/program.ts";
import { HAS_TMUX, openTerminal } from "./helpers/terminal.ts";

const PLAN: ServerPlan = {
  era: "legacy",
  tools: [{ name: "say", inputSchema: {} }],
  prompts: [{
    name: "greet",
    description: "Greet somebody.",
    arguments: [{ name: "who", required: true }, { name: "how" }],
    messages: [{ role: "user", content: { type: "text", text: "Say {how} hello to {who}." } }],
  }],
  resources: [{ uri: "note://1", name: "First note", text: "the pump runs at 7" }],
};

/** Types lines into a chat with one server; gives what was printed and what the model was told last. */
async function chat(lines: readonly string[], plan: ServerPlan = PLAN, more: Record<string, unknown> = {}) {
  await using home = await temporaryHome();
  const server = await planServer(`${home.root}/servers`, "fake", plan);
  await using model = startFakeServer({ script: () => say("Done.") });
  await configure(home, { loc: { baseUrl: model.baseUrl, models: [{ id: "fake", context_window: 32_768 }] } }, {
    default_provider: "loc",
    mcp_servers: { hub: { ...server.entry, ...more } },
  });
  const done = await runInProcess(["chat"], { home, stdin: lines.map((line) => `${line}\n`).join("") });
  return { done, told: model.chats().map(({ json }) => json.messages.at(-1).content as string) };
}

Deno.test("/mcp lists servers, tools with their tokens, prompts and resources", async () => {
  const { done } = await chat(["/mcp"]);
  const text = done.stdout + done.stderr;
  assert.match(text, /hub {2}local-only, running, 1 tool, \d+ tokens/);
  assert.match(text, /direct +\d+ {2}say/);
  assert.match(text, /\/hub:greet +Greet somebody\./);
  assert.match(text, /@hub:note:\/\/1 +First note/);
});

Deno.test({ name: "/mcp on a narrow terminal breaks its rows after their indent", ignore: !HAS_TMUX, fn: narrow });

async function narrow(): Promise<void> {
  await using home = await temporaryHome();
  const description = "Greets somebody whose name is known, in a way that depends on the time of the day.";
  const server = await planServer(`${home.root}/servers`, "fake", {
    ...PLAN,
    prompts: [{ name: "greet", description, messages: [] }],
  });
  await using model = startFakeServer({ script: () => say("Done.") });
  await configure(home, { loc: { baseUrl: model.baseUrl } }, { mcp_servers: { hub: server.entry } });
  await using terminal = await openTerminal(["chat", "/mcp"], { home, columns: 40 });
  const shown = await terminal.shows(/found\s+by McpFind/);
  const rows = shown.slice(shown.indexOf("  hub  ")).split("\n");
  const end = rows.findIndex((row) => row.includes("McpFind"));
  assert.deepEqual(rows.slice(0, end + 1).filter((row) => !row.startsWith("  ")), [], shown);
  assert.match(shown, /^ {2}\/hub:greet\n {4}Greets somebody whose name is\n {4}known, in a way/m);
}

Deno.test("a prompt of a server is a command, by name or in one text, and says what is missing", async () => {
  const { done, told } = await chat([
    '/hub:greet who=Ann how="a kind"',
    "/hub:greet Bob",
    "/hub:greet",
    "/hub:none x",
  ]);
  assert.deepEqual(told, ["Say a kind hello to Ann.", "Say  hello to Bob."]);
  assert.match(done.stderr + done.stdout, /\/hub:greet needs who/);
  assert.match(done.stderr + done.stdout, /the MCP server hub has no prompt "none"/);
});

Deno.test({
  name: "the prompts and resources of a server are in the menus of the input line",
  ignore: !HAS_TMUX,
  async fn() {
    await using home = await temporaryHome();
    const server = await planServer(`${home.root}/servers`, "fake", PLAN);
    await using model = startFakeServer({ script: () => say("Done.") });
    await configure(home, { loc: { baseUrl: model.baseUrl } }, { mcp_servers: { hub: server.entry } });
    await using terminal = await openTerminal(["chat", "/mcp"], { home });
    await terminal.shows(/found\s+by McpFind/);
    await terminal.type("/hub");
    await terminal.shows(/> \/hub\n[^]*\/hub:greet +Greet somebody\./);
    await terminal.press("C-u");
    await terminal.type("see @hub:n");
    await terminal.shows(/> see @hub:n\n[^]*@hub:note:\/\/1 +First note/);
    await terminal.press("Tab");
    await terminal.shows(/> see @hub:note:\/\/1\n/);
  },
});

Deno.test("@server:uri puts a resource beside the words, and one that is not there is reported", async () => {
  const { done, told } = await chat(["What does @hub:note://1 say?", "And @hub:note://2?"]);
  assert.equal(told[0], "What does @hub:note://1 say?\n\nResource hub:note://1:\nthe pump runs at 7");
  assert.equal(told[1], "And @hub:note://2?");
  assert.match(done.stderr + done.stdout, /@hub:note:\/\/2 is not attached: .*no such resource/);
});

const FORM = {
  mode: "form",
  message: "Which one?",
  requestedSchema: {
    type: "object",
    properties: {
      city: { type: "string", title: "City" },
      size: { type: "string", enum: ["s", "m"], enumNames: ["small", "medium"] },
      count: { type: "integer", default: 3 },
      sure: { type: "boolean" },
    },
    required: ["city"],
  },
};

/** A view that is answered from a list. */
function answering(answers: readonly (string | number | null)[]) {
  const left = [...answers];
  const asked: string[] = [];
  const take = (title: string) => {
    asked.push(title);
    return Promise.resolve(left.shift() ?? null);
  };
  const view = {
    print: () => {},
    pick: ({ title }: { title: string }) => take(title),
    ask: take,
  } as unknown as ChatView;
  return { view, asked };
}

async function answered(answers: readonly (string | number | null)[]) {
  const form = readForm("hub", FORM);
  assert.ok(!("problem" in form));
  const { view, asked } = answering(answers);
  return { answer: await elicitInChat(view)(form, new AbortController().signal), asked };
}

Deno.test("a person fills in a form field by field, and can decline or give up", async () => {
  const filled = await answered([0, "Ulm", 1, "", 0]);
  assert.deepEqual(filled.answer, { action: "accept", content: { city: "Ulm", size: "m", count: 3, sure: true } });
  assert.deepEqual(filled.asked, ["Fill in the form of hub?", "City", "size", "count [3]", "sure"]);
  assert.deepEqual((await answered([1])).answer, { action: "decline" });
  assert.deepEqual((await answered([null])).answer, { action: "cancel" });
  assert.deepEqual((await answered([0, null])).answer, { action: "cancel" });
});

Deno.test("a form that asks for a key or a password is refused, whatever it calls it", () => {
  for (const name of ["password", "apiKey", "access_token", "your_PIN", "passPhrase"]) {
    const form = readForm("hub", { message: "x", requestedSchema: { properties: { [name]: { type: "string" } } } });
    assert.ok("problem" in form, name);
  }
  const told = readForm("hub", {
    message: "Enter your API key",
    requestedSchema: { properties: { value: { type: "string" } } },
  });
  assert.ok("problem" in told);
  const harmless = readForm("hub", {
    message: "Which?",
    requestedSchema: { properties: { keyboard: { type: "string" } } },
  });
  assert.ok(!("problem" in harmless));
});

for (const era of ["modern", "legacy"] as const) {
  Deno.test(`without a terminal a form is declined, and a state that is too large ends the call (${era})`, async () => {
    await using home = await temporaryHome();
    const server = await planServer(`${home.root}/servers`, "fake", {
      era,
      tools: [
        { name: "form", does: "elicit", form: FORM, inputSchema: {} },
        { name: "bomb", does: "elicit", form: FORM, state: "x".repeat(300_000), inputSchema: {} },
      ],
    });
    const call = (name: string) => ask({ name: `mcp__hub__${name}`, input: {} });
    await using model = startFakeServer({ script: [call("form"), call("bomb"), say("Done.")] });
    await configure(home, { loc: { baseUrl: model.baseUrl } }, {
      default_provider: "loc",
      mcp_servers: { hub: server.entry },
    });
    const done = await runInProcess(["run", "go", "--permission-mode", "bypassPermissions"], { home });
    assert.equal(done.code, 0, done.stderr);
    const results: string[] = model.chats().at(-1)?.json.messages
      .filter(({ role }: { role: string }) => role === "tool").map(({ content }: { content: string }) => content);
    if (era === "modern") {
      assert.equal(results[0], '[{"action":"decline"},true]');
      assert.match(results[1]!, /state of more than 256 KiB/);
    } else assert.ok(results.every((text) => !text.includes("accept")), results.join());
  });
}
