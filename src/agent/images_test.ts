import assert from "node:assert/strict";
import { AgentcliError } from "../errors.ts";
import * as fc from "../../tests/property.ts";
import {
  historyProblems,
  isCompaction,
  replyOf,
  runPrompt,
  testSession,
  testTool,
  turnOptions,
  words,
  wordsAt,
} from "../../tests/helpers/agent_session.ts";
import { dataUrl, pngFile } from "../../tests/helpers/images.ts";
import { ProviderFailure } from "../provider/failure.ts";
import { imageTokens, type ShownImage } from "../provider/chat/content.ts";
import { asTextMessages } from "../provider/text_calls/prompt.ts";
import type { Chat, ChatRequest, WireMessage } from "../provider/types.ts";
import { imagesOf, type SessionItem, type UserItem } from "../session/item.ts";
import type { Tool } from "../tools/tool.ts";
import { createContextState } from "./context/context_state.ts";
import { buildMessages } from "./messages.ts";
import { UNKNOWN_SERVER } from "./server.ts";
import { USUAL_RATIO } from "./context/tokens.ts";

const picture = pngFile({ width: 600, height: 600 });
const URL = dataUrl("image/png", picture);

function image(name: string): ShownImage {
  return { mediaType: "image/png", data: picture.toBase64(), width: 600, height: 600, name };
}

function prompt(text: string, ...names: string[]): UserItem {
  return { ...words(text), images: names.map(image) };
}

/** Shows the image of its path. */
const look: Tool = {
  ...testTool("Look", () => ""),
  run: ({ path }) =>
    Promise.resolve({ content: `${path} follows.`, images: [image(path)], isError: false, label: "open" }),
};

function picturesIn(messages: readonly WireMessage[]): number {
  return messages.flatMap(({ content }) => typeof content === "string" ? [] : content)
    .filter((part) => part.type === "image_url").length;
}

function calls(...paths: string[]) {
  return replyOf({ calls: paths.map((path) => ({ name: "Look", input: { path } })) });
}

/** A refusal as the client reports it. */
function refusal(kind: "no_images" | "bad_image" | "request"): ProviderFailure {
  return new ProviderFailure("provider_error", `loc: ${kind}`, { kind, status: 500, hint: "look" });
}

/** Sessions with images in prompts and results, as they are before a request. */
const sessions: fc.Arbitrary<SessionItem[]> = fc.array(
  fc.record({
    pictures: fc.nat(2),
    rounds: fc.array(fc.array(fc.nat(2), { minLength: 1, maxLength: 3 }), { maxLength: 3 }),
  }),
  { minLength: 1, maxLength: 4 },
).map((turns) =>
  turns.flatMap(({ pictures, rounds }, turn): SessionItem[] => [
    pictures === 0 ? words("go") : prompt("go", ...Array.from({ length: pictures }, (_, at) => `${turn}-${at}`)),
    ...rounds.flatMap((results, round): SessionItem[] => [
      {
        kind: "assistant",
        id: `${turn}-${round}`,
        text: "",
        reasoning: "",
        calls: results.map((_, at) => ({ id: `c${turn}-${round}-${at}`, name: "Look", input: {} })),
        label: "open",
      },
      ...results.map((shown, at): SessionItem => ({
        kind: "tool_result",
        callId: `c${turn}-${round}-${at}`,
        name: "Look",
        content: "x",
        images: Array.from({ length: shown }, () => image("r")),
        isError: false,
        label: "open",
      })),
    ]),
  ])
);

Deno.test("wherever images stand, the history is legal, shows each once, and begins with what was sent before", () => {
  fc.assert(fc.property(sessions, (items) => {
    const messages = buildMessages("S", items, { keepReasoning: false });
    assert.deepEqual(historyProblems(messages), []);
    const count = items.reduce((sum, item) => sum + imagesOf(item).length, 0);
    assert.equal(picturesIn(messages), count);
    const response: SessionItem = { kind: "assistant", id: "z", text: "ok", reasoning: "", calls: [], label: "open" };
    const longer = buildMessages("S", [...items, response, words("more")], { keepReasoning: false });
    assert.deepEqual(longer.slice(0, messages.length), messages);
    const described = asTextMessages(messages);
    assert.equal(picturesIn(described), count);
    assert.ok(described.every(({ role }, at) => at === 0 || role === (at % 2 === 1 ? "user" : "assistant")));
  }));
});

Deno.test("images of results follow the last result of their round, in a message of the user", async () => {
  const session = testSession(32_768, { tools: [look], entry: { images: true } });
  const seen: ChatRequest[] = [];
  const model: Chat = (request) => {
    seen.push(request);
    return Promise.resolve(seen.length === 1 ? calls("a.png", "b.png") : replyOf({ text: "ok" }));
  };
  const result = await runPrompt(session, words("look"), turnOptions(model));
  assert.equal(result.answer, "ok");
  assert.deepEqual(seen[1]?.messages.slice(-4).map(({ role }) => role), ["tool", "tool", "assistant", "user"]);
  const shown = { type: "image_url", image_url: { url: URL } };
  assert.deepEqual(seen[1]?.messages.at(-1)?.content, [
    { type: "text", text: "Image a.png\nImage b.png" },
    shown,
    shown,
  ]);
});

Deno.test("a message that shows images is the same object in every request, so that its bytes are written once", () => {
  const { history } = createContextState("native", { keepReasoning: false, vision: null });
  const items: SessionItem[] = [
    prompt("look", "p.png"),
    {
      kind: "assistant",
      id: "1",
      text: "",
      reasoning: "",
      calls: [{ id: "c1", name: "Look", input: {} }],
      label: "open",
    },
    {
      kind: "tool_result",
      callId: "c1",
      name: "Look",
      content: "x",
      images: [image("a")],
      isError: false,
      label: "open",
    },
  ];
  const [first, second] = [buildMessages("S", items, history), buildMessages("S", items, history)];
  for (const at of [1, 5]) {
    assert.equal(picturesIn(first.slice(at, at + 1)), 1);
    assert.equal(first[at], second[at]);
  }
});

Deno.test("an image counts as its tokens, however many bytes it has", () => {
  const { sizeOf } = createContextState("native", { keepReasoning: false, vision: null });
  const size = sizeOf(prompt("what is this?", "a.png"));
  assert.equal(size - sizeOf(words("what is this?")), imageTokens({ width: 600, height: 600 }) * USUAL_RATIO);
});

async function refusalOf(turn: Promise<unknown>): Promise<AgentcliError> {
  const error = await turn.then(() => null, (reason) => reason);
  assert.ok(error instanceof AgentcliError);
  return error;
}

Deno.test("a prompt with images is refused before anything is sent when the model is known not to see", async () => {
  for (const told of ["configuration", "server"] as const) {
    const session = testSession(32_768, {
      entry: told === "configuration" ? { images: false } : {},
      server: { ...UNKNOWN_SERVER, supportsImages: () => Promise.resolve(told !== "server") },
    });
    const model: Chat = () => Promise.reject(new Error("asked"));
    const error = await refusalOf(runPrompt(session, prompt("look", "a.png"), turnOptions(model)));
    assert.equal(error.code, "usage", told);
    assert.match(error.message, /m of loc does not support image input/);
    assert.match(error.hint ?? "", /images: true/);
    assert.deepEqual(session.items, []);
  }
});

Deno.test("a prompt shows at most twenty images", async () => {
  const session = testSession(32_768, { entry: { images: true } });
  const names = Array.from({ length: 21 }, (_, at) => `${at}.png`);
  const model: Chat = () => Promise.reject(new Error("asked"));
  const error = await refusalOf(runPrompt(session, prompt("look", ...names), turnOptions(model)));
  assert.match(error.message, /21 images are more than the 20/);
});

Deno.test("a server that refuses the images of a prompt is asked once, and the session continues without them", async () => {
  for (const [kind, later] of [["no_images", "usage"], ["bad_image", null], ["request", null]] as const) {
    const session = testSession(32_768);
    let asked = 0;
    const model: Chat = (request) => {
      asked++;
      return picturesIn(request.messages) > 0 && asked === 1
        ? Promise.reject(refusal(kind))
        : Promise.resolve(replyOf({ text: "ok" }));
    };
    const first = await runPrompt(session, prompt("look", "a.png"), turnOptions(model));
    assert.deepEqual([first.errorCode, asked], ["provider_error", 1]);
    assert.equal(first.hint, "look");
    const next = await runPrompt(session, words("and now?"), turnOptions(model));
    assert.deepEqual([next.answer, asked], ["ok", 2]);
    const again = runPrompt(session, prompt("look", "b.png"), turnOptions(model));
    // What was learned of the model holds; of one image it tells nothing.
    if (later === null) assert.equal((await again).errorCode, null);
    else assert.equal((await refusalOf(again)).code, later);
  }
});

Deno.test("images that a tool showed to a model without vision are removed with a notice, and the turn continues", async () => {
  const session = testSession(32_768, { tools: [look], entry: { images: true } });
  let asked = 0;
  const model: Chat = (request) => {
    asked++;
    if (asked === 1) return Promise.resolve(calls("a.png"));
    if (picturesIn(request.messages) > 0) return Promise.reject(refusal("no_images"));
    assert.match(
      wordsAt(request, -1),
      /a\.png follows\.\n\[image a\.png left out: the model does not support image input\]/,
    );
    return Promise.resolve(replyOf({ text: "ok" }));
  };
  const options = turnOptions(model);
  const result = await runPrompt(session, words("look"), options);
  assert.deepEqual([result.answer, asked], ["ok", 3]);
  assert.ok(options.events.some((event) => event.kind === "notice" && /1 image left out/.test(event.text)));
});

Deno.test("the images of a session resumed with a model without vision are left out, with a notice", async () => {
  const session = testSession(32_768, { entry: { images: false } });
  session.items.push(prompt("look", "a.png"), {
    kind: "assistant",
    id: "1",
    text: "A cat.",
    reasoning: "",
    calls: [],
    label: "open",
  });
  const model: Chat = (request) => {
    assert.equal(picturesIn(request.messages), 0);
    return Promise.resolve(replyOf({ text: "ok" }));
  };
  const options = turnOptions(model);
  assert.equal((await runPrompt(session, words("what was it?"), options)).answer, "ok");
  assert.ok(
    options.events.some((event) => event.kind === "notice" && /m does not support image input/.test(event.text)),
  );
});

Deno.test("when room is short old images go first and are named, and the results around them stay whole", async () => {
  const window = 6000;
  const text = "word ".repeat(400);
  const chatty: Tool = { ...testTool("Say", () => text) };
  const session = testSession(window, { tools: [look, chatty], entry: { images: true } });
  const rounds = [
    calls("a.png", "b.png"),
    replyOf({ calls: [{ name: "Say", input: { path: "1" } }] }),
    calls("c.png", "d.png"),
    calls("e.png"),
  ];
  const seen: ChatRequest[] = [];
  const model: Chat = (request) => {
    assert.ok(!isCompaction(request), "no summary is needed");
    seen.push(request);
    return Promise.resolve(rounds[seen.length - 1] ?? replyOf({ text: "ok" }));
  };
  const options = turnOptions(model);
  const result = await runPrompt(session, prompt("compare", "p.png"), options);
  assert.equal(result.answer, "ok");
  const notices = options.events.filter((event) => event.kind === "notice").map((event) => event.text);
  assert.deepEqual(notices.slice(0, 1), ["4 images left out to save room"]);
  const last = JSON.stringify(seen.at(-1)?.messages);
  assert.ok(last.includes(text), "text is kept");
  assert.match(last, /image a\.png left out: to save room; call Look again/);
  assert.equal(picturesIn(seen.at(-1)?.messages ?? []), 2, "the prompt's, and the one that was just looked at");
  assert.ok(
    options.events.some((event) =>
      event.kind === "cache_invalidated" && event.reason === "images_left_out" && event.callIds.length === 4
    ),
  );
});
