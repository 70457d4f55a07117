import assert from "node:assert/strict";
import { startClient } from "./helpers/client.ts";
import { always, ask, type FakeServer, refuse, say, startFakeServer, type Step, want } from "./helpers/fake_server.ts";
import { dataUrl, jpegFile, pngFile, webpFile } from "./helpers/images.ts";
import { runInProcess } from "./helpers/in_process.ts";
import { configure, type TemporaryHome, temporaryHome } from "./helpers/program.ts";

const PNG = pngFile({ width: 640, height: 480 });
const URL = dataUrl("image/png", PNG);
const SEEING = { id: "fake", context_window: 32768, tool_calls: "native", images: true };

/** The parts of the last message of a chat request. */
function lastParts(server: FakeServer, index: number) {
  return server.chats()[index]?.json.messages.at(-1).content;
}

function shown(url: string) {
  return { type: "image_url", image_url: { url } };
}

function useSeeing(home: TemporaryHome, server: FakeServer): Promise<void> {
  return configure(home, { loc: { baseUrl: server.baseUrl, models: [SEEING] } });
}

Deno.test("--file shows images, whatever they are called, and attaches texts as before", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [say("A picture.")] });
  await useSeeing(home, server);
  const jpeg = jpegFile({ width: 30, height: 20 });
  const webp = webpFile("VP8X", { width: 50, height: 40 });
  await home.write("shots/a.png", PNG);
  await home.write("photo", jpeg);
  await home.write("c.webp", webp);
  await home.write("note.txt", "words\n");
  const files = ["shots/a.png", "note.txt", "photo", "c.webp"].flatMap((path) => ["--file", path]);
  const done = await runInProcess(["run", "what is this?", ...files], { home });
  assert.equal(done.code, 0, done.stderr);
  assert.equal(done.stdout, "A picture.\n");
  assert.deepEqual(lastParts(server, 0), [
    {
      type: "text",
      text: "what is this?\n\nImage shots/a.png: PNG, 640x480 pixels\n\nFile note.txt:\nwords\n\n\n" +
        "Image photo: JPEG, 30x20 pixels\n\nImage c.webp: WebP, 50x40 pixels",
    },
    shown(URL),
    shown(dataUrl("image/jpeg", jpeg)),
    shown(dataUrl("image/webp", webp)),
  ]);
  assert.equal(server.requests.length, 1, "what the configuration says is not asked");
});

Deno.test("an image that cannot be sent ends the run before any request, and says what to do", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer();
  await useSeeing(home, server);
  const large = new Uint8Array(5 * 1024 * 1024 + 1);
  large.set(PNG);
  const cases: [string, Uint8Array, RegExp][] = [
    ["a.gif", new TextEncoder().encode("GIF89a\0\0\0\0"), /a\.gif: model servers take no GIF images: make it a PNG/],
    ["large.png", large, /larger than 5 MiB/],
    ["bomb.png", pngFile({ width: 50_000, height: 50_000 }), /50000x50000 pixels/],
    ["cut.png", PNG.subarray(0, 20), /header is damaged/],
  ];
  for (const [name, bytes, problem] of cases) {
    await home.write(name, bytes);
    const done = await runInProcess(["run", "look", "--file", name], { home });
    assert.equal(done.code, 2, name);
    assert.match(done.stderr, problem);
  }
  await home.write("other.bin", new Uint8Array([0xff, 0xfe, 0, 1]));
  const other = await runInProcess(["run", "look", "--file", "other.bin"], { home });
  assert.match(other.stderr, /not UTF-8 text/);
  assert.equal(server.requests.length, 0);
});

Deno.test("Read shows an image after the results of its round, and the next turns send the same bytes", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({
    script: [ask(want("read", { path: "a.png" }), want("read", { path: "note.txt" })), say("Grey."), say("Yes.")],
  });
  await useSeeing(home, server);
  await home.write("a.png", PNG);
  await home.write("note.txt", "words\n");
  const done = await runInProcess(["run", "look at a.png", "--output-format", "stream-json"], { home });
  assert.equal(done.code, 0, done.stderr);
  const { messages } = server.chats()[1]?.json;
  const [first, second, between, images] = messages.slice(-4);
  assert.deepEqual([first.role, second.role, between.role, images.role], ["tool", "tool", "assistant", "user"]);
  assert.match(first.content, /^a\.png: PNG image, 640x480 pixels, [\d,]+ bytes\. It follows\.$/);
  assert.deepEqual(images.content, [{ type: "text", text: "Image a.png" }, shown(URL)]);
  assert.ok(!done.stdout.includes(PNG.toBase64()), "clients get it in words");
  const more = await runInProcess(["run", "sure?", "--continue"], { home });
  assert.equal(more.code, 0, more.stderr);
  assert.deepEqual(server.chats()[2]?.json.messages.slice(0, messages.length), messages);
});

Deno.test("Read only describes an image to a model that is not known to see, and asks the server once", async () => {
  await using home = await temporaryHome();
  await home.write("a.png", PNG);
  for (
    const [capabilities, told] of [[["vision"], /It follows\./], [["completion"], /does not support image input/], [
      undefined,
      /whether this model supports image input is unknown/,
    ]] as const
  ) {
    const show: Step = { kind: "status", status: 200, body: JSON.stringify({ capabilities }) };
    await using server = startFakeServer({
      models: { object: "list", data: [{ id: "fake", object: "model", owned_by: "library" }] },
      routes: { "/api/show": show },
      script: [
        ask(want("read", { path: "a.png" })),
        ask(want("read", { path: "a.png" }), want("read", { path: "./a.png" })),
        say("Done."),
      ],
    });
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
    const done = await runInProcess(["run", "look"], { home });
    assert.equal(done.code, 0, done.stderr);
    const results = server.chats()[1]?.json.messages.filter((message: { role: string }) => message.role === "tool");
    assert.match(results[0].content, told);
    assert.equal(server.requests.filter(({ path }) => path === "/api/show").length, 1);
  }
});

Deno.test("a server that takes no images is asked once; its words become one error with what to do", async () => {
  await using home = await temporaryHome();
  await home.write("a.png", PNG);
  const words = [
    [500, "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj"],
    [500, "this model is missing data required for image input"],
    [400, "fake is not a multimodal model"],
    [400, "Model does not support images. Please use a model that does."],
    [404, "No endpoints found that support image input"],
    [422, "messages.1.content: unknown variant `image_url`, expected `text`"],
  ] as const;
  for (const [status, message] of words) {
    await using server = startFakeServer({ script: [always(refuse(status, message))] });
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ id: "fake", context_window: 32768 }] } });
    const done = await runInProcess(["run", "look", "--file", "a.png"], { home });
    assert.equal(done.code, 1, message);
    assert.match(done.stderr, /loc does not support image input with this model \(HTTP \d+\)/);
    assert.match(done.stderr, /^ {2}choose a model with image input .*--mmproj/m);
    assert.doesNotMatch(done.stderr, /shortened|read again/);
    assert.equal(server.chats().length, 1, message);
    const plain = await runInProcess(["run", "look"], { home });
    assert.doesNotMatch(
      plain.stderr,
      /does not support image input/,
      "control: without images these words mean something else",
    );
  }
});

Deno.test("an error that quotes the data of an image shows none of it", async () => {
  await using home = await temporaryHome();
  await home.write("a.png", PNG);
  await using server = startFakeServer({ script: [always(refuse(400, `cannot decode image: ${URL.slice(0, 90)}`))] });
  await useSeeing(home, server);
  const done = await runInProcess(["run", "look", "--file", "a.png", "--verbose"], { home });
  assert.match(done.stderr, /loc cannot read the image \(HTTP 400\)/);
  assert.ok(!done.stderr.includes(PNG.toBase64().slice(10, 30)), done.stderr);
});

Deno.test("images of a client's message are shown; what is no base64 of an image is refused, and nothing is fetched", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [always(say("Seen."))] });
  await useSeeing(home, server);
  await using client = startClient([], { home });
  const send = (...content: unknown[]) => client.send({ type: "user", message: { role: "user", content } });
  const image = (source: unknown) => ({ type: "image", source });
  // The declared type is the client's word; the bytes decide.
  const base64 = { type: "base64", media_type: "image/webp", data: PNG.toBase64() };
  await send({ type: "text", text: "what is this?" }, image(base64));
  assert.equal((await client.result()).result, "Seen.");
  assert.deepEqual(lastParts(server, 0), [{ type: "text", text: "what is this?" }, shown(URL)]);
  await send(image(base64));
  await client.result();
  assert.deepEqual(lastParts(server, 1), [shown(URL)], "an image may stand alone");
  for (
    const [source, problem] of [
      [{ type: "url", url: server.baseUrl.replace("/v1", "/a.png") }, /nothing is downloaded/],
      [{ type: "base64", media_type: "image/png", data: btoa("no image at all") }, /not PNG, JPEG or WebP/],
      [{ type: "base64", media_type: "image/png", data: "%%%" }, /no base64/],
      [{ type: "base64", media_type: "image/gif", data: btoa("GIF89a") }, /no GIF/],
    ] as const
  ) {
    await send({ type: "text", text: "and this?" }, image(source));
    const result = await client.result();
    assert.equal(result.error_code, "usage");
    assert.match(result.errors[0], problem);
  }
  await client.say("still there?");
  assert.equal((await client.result()).result, "Seen.");
  const done = await client.end();
  assert.equal(done.code, 0, done.stderr);
  assert.equal(server.chats().length, 3);
  assert.equal(server.requests.length, 3, "nothing else was asked for");
});

Deno.test("a transcript holds images in the shape of the protocol, is listed and exported, and is gone on with", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [always(say("Seen."))] });
  await useSeeing(home, server);
  await home.write("a.png", PNG);
  const first = await runInProcess(["run", "look", "--file", "a.png", "--json"], { home });
  const id = JSON.parse(first.stdout).session_id;
  const exported = await runInProcess(["sessions", "export", id, "--json"], { home });
  const [item] = JSON.parse(exported.stdout).items;
  assert.deepEqual(item.images, [
    { name: "a.png", media_type: "image/png", width: 640, height: 480, data: PNG.toBase64() },
  ]);
  const page = await runInProcess(["sessions", "export", id], { home });
  assert.match(page.stdout, /\[image a\.png, 640x480\]/);
  assert.ok(!page.stdout.includes(PNG.toBase64()));
  const list = await runInProcess(["sessions", "list"], { home });
  assert.match(list.stdout, /look/);
  const more = await runInProcess(["run", "again", "--resume", id], { home });
  assert.equal(more.code, 0, more.stderr);
  const [before, after] = server.chats().map(({ json }) => json.messages);
  assert.deepEqual(after.slice(0, before.length), before);
});

Deno.test("in a chat the images that a line names are attached; names of what is not there are words", async () => {
  await using home = await temporaryHome();
  await using server = startFakeServer({ script: [always(say("Seen."))] });
  await useSeeing(home, server);
  await home.write("shots/a.png", PNG);
  const dragged = await home.write("my shot.jpeg", jpegFile({ width: 3, height: 2 }));
  const lines = [
    "what is on @shots/a.png, and on @gone.png?",
    `'${dragged}'`,
    `look at ${dragged.replaceAll(" ", "\\ ")} please`,
    "mail me@a.png or see /etc/agentcli-test.png",
    "no image at all",
  ];
  const done = await runInProcess(["chat"], { home, stdin: lines.join("\n") });
  assert.equal(done.code, 0, done.stderr);
  const parts = server.chats().map((_, index) => lastParts(server, index));
  assert.deepEqual(parts[0].slice(1), [shown(URL)]);
  for (const index of [1, 2]) assert.match(parts[index][1].image_url.url, /^data:image\/jpeg;/);
  assert.equal(typeof parts[3], "string");
  assert.equal(typeof parts[4], "string");
  assert.match(done.stderr, /attached: shots\/a\.png/);
  assert.match(done.stderr, /\/etc\/agentcli-test\.png is not attached: .*outside/);
});

Deno.test("tools described as text carry images too", async () => {
  await using home = await temporaryHome();
  const call = '<tool_call>\n{"name": "Read", "arguments": {"file_path": "a.png"}}\n</tool_call>';
  await using server = startFakeServer({ script: [say(call), say("Grey.")] });
  await configure(home, { loc: { baseUrl: server.baseUrl, models: [{ ...SEEING, tool_calls: "text" }] } });
  await home.write("a.png", PNG);
  const done = await runInProcess(["run", "look"], { home });
  assert.equal(done.stdout, "Grey.\n", done.stderr);
  const { messages } = server.chats()[1]?.json;
  assert.deepEqual(messages.map(({ role }: { role: string }) => role), [
    "system",
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
  ]);
  assert.deepEqual(messages.at(-1).content[1], shown(URL));
});

Deno.test("the demo says that it sees nothing", async () => {
  await using home = await temporaryHome();
  await home.write("a.png", PNG);
  const attached = await runInProcess(["run", "--model", "demo", "look", "--file", "a.png"], { home });
  assert.equal(attached.code, 2);
  assert.match(attached.stderr, /demo of demo does not support image input/);
  const read = await runInProcess(["run", "--model", "demo", "read a.png"], { home });
  assert.equal(read.code, 0, read.stderr);
  assert.match(read.stdout, /PNG image, 640x480 pixels, .* this model does not support image input/);
});

Deno.test("a request without images is the same to the byte whether the model sees or not", async () => {
  const bodies: string[] = [];
  for (const images of [true, false, undefined]) {
    await using home = await temporaryHome();
    await using server = startFakeServer({ script: [say("Hi.")] });
    const model = { ...SEEING, images };
    await configure(home, { loc: { baseUrl: server.baseUrl, models: [model] } });
    await runInProcess(["run", "hi"], { home });
    bodies.push(server.chats()[0]?.text.replaceAll(home.root, "") ?? "");
  }
  assert.ok(bodies[0] !== "" && bodies.every((body) => body === bodies[0]));
});
