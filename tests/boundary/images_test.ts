/**
 * Threat 37: an image is a way for bytes to leave like any other. Each attack has its control with a local provider.
 */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { jpegFile, pngFile } from "../helpers/images.ts";
import {
  assertArrived,
  assertRefusedResult,
  assertRefusedRun,
  assertSealed,
  openStage,
  type Play,
  type Played,
  type ProviderName,
  type Stage,
} from "./harness.ts";

const linux = { ignore: Deno.build.os !== "linux" };
const SEEING = { models: [{ id: "fake", context_window: 32768, tool_calls: "native", images: true }] };
const SIZE = { width: 64, height: 64 };
const chats = (played: Played) => played.requests.filter((request) => request.index >= 0).length;

function play(stage: Stage, provider: ProviderName, more: Play): Promise<Played> {
  return stage.play(provider, { block: SEEING, ...more });
}

/** A protected picture with a canary of its own; gives its base64. */
async function plantPicture(stage: Stage, path: string, name: string): Promise<string> {
  await stage.plant(path, name);
  const bytes = pngFile({ ...SIZE, comment: stage.canary(name) });
  await stage.home.write(path, bytes);
  return bytes.toBase64();
}

/** The control: the picture arrives at the local provider, where a look for the canary finds it, and nowhere else. */
function assertShown(played: Played, data: string): void {
  assert.equal(played.done.code, 0, played.done.stderr);
  assertArrived(played, `base64,${data}`);
  assert.ok(played.leaks.wire.some((find) => find.includes("base64")), "the look at the wire sees into images");
  assertSealed(played);
}

Deno.test("a protected image is attached for a local provider, and refused for one elsewhere", linux, async () => {
  await using stage = await openStage();
  const data = await plantPicture(stage, "secrets/plan.png", "pic");
  const attack = { script: [say("Seen.")], args: ["--file", "secrets/plan.png"] };
  const remote = await play(stage, "rem", attack);
  assertRefusedRun(remote, /secrets\/plan\.png .*no-cloud: secrets/);
  assertSealed(remote);
  assert.equal(chats(remote), 0);
  assertShown(await play(stage, "loc", attack), data);
});

Deno.test("a protected image that the model reads is refused elsewhere, and named with its rule", linux, async () => {
  await using stage = await openStage();
  const data = await plantPicture(stage, "secrets/plan.png", "pic");
  const attack = { script: [ask(want("read", { path: "secrets/plan.png" })), say("Seen.")] };
  const remote = await play(stage, "rem", attack);
  assertSealed(remote);
  assertRefusedResult(remote.results[0], "Read");
  assert.ok(!remote.sent.includes("image_url"));
  assertShown(await play(stage, "loc", attack), data);
});

Deno.test("a link and a hard link to a protected image are that image", linux, async () => {
  await using stage = await openStage();
  const data = await plantPicture(stage, "secrets/plan.png", "pic");
  const at = (name: string) => `${stage.project}/${name}`;
  await Deno.symlink(at("secrets/plan.png"), at("link.png"));
  await Deno.link(at("secrets/plan.png"), at("hard.png"));
  stage.exempt("link.png");
  stage.exempt("hard.png");
  for (const path of ["link.png", "hard.png"]) {
    const attack = { script: [say("Seen.")], args: ["--file", path] };
    const remote = await play(stage, "rem", attack);
    assertRefusedRun(remote, /no-cloud/);
    assertSealed(remote);
    assertShown(await play(stage, "loc", attack), data);
  }
});

for (const [format, fileOf] of [["PNG", pngFile], ["JPEG", jpegFile]] as const) {
  Deno.test(`protected words in the bytes of an open ${format} are found before they leave`, linux, async () => {
    await using stage = await openStage();
    const bytes = fileOf({ ...SIZE, comment: `x ${stage.canary("env")} y` });
    await stage.home.write("a", bytes);
    stage.exempt("a");
    const attached = { script: [say("Seen.")], args: ["--file", "a"] };
    const first = await play(stage, "rem", attached);
    assertRefusedRun(first, /the prompt holds line 1 of \.env .*base64/);
    assertSealed(first);
    assert.equal(chats(first), 0);
    const read = { script: [ask(want("read", { path: "a" })), say("Seen.")] };
    const second = await play(stage, "rem", read);
    assertRefusedRun(second, /the result of Read holds line 1 of \.env .*base64/);
    assertSealed(second);
    for (const control of [attached, read]) {
      const local = await play(stage, "loc", control);
      assert.equal(local.done.code, 0, local.done.stderr);
      assertArrived(local, `base64,${bytes.toBase64()}`);
    }
  });
}

Deno.test("a chat that names a protected image is refused elsewhere, before anything is sent", linux, async () => {
  await using stage = await openStage();
  const data = await plantPicture(stage, "secrets/plan.png", "pic");
  const attack = (provider: ProviderName): Play => ({
    argv: ["chat", "--model", provider],
    script: [say("Seen.")],
    stdin: "what is on @secrets/plan.png?\n",
  });
  const remote = await play(stage, "rem", attack("rem"));
  assert.equal(remote.done.code, 6, remote.done.stderr);
  assert.match(remote.done.stderr, /secrets\/plan\.png .*no-cloud: secrets/);
  assertSealed(remote);
  assert.equal(chats(remote), 0);
  assertShown(await play(stage, "loc", attack("loc")), data);
});

Deno.test("a client's image of a protected file is refused elsewhere, and stored by nobody", linux, async () => {
  await using stage = await openStage();
  const data = await plantPicture(stage, "secrets/plan.png", "pic");
  const content = [{ type: "image", source: { type: "base64", media_type: "image/png", data } }];
  const attack = (provider: ProviderName): Play => ({
    argv: [
      ...["run", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"],
      ...["--model", provider],
    ],
    script: [say("Seen.")],
    stdin: JSON.stringify({ type: "user", message: { role: "user", content } }) + "\n",
  });
  const remote = await play(stage, "rem", attack("rem"));
  assertSealed(remote);
  assert.match(remote.done.stdout, /"error_code":"policy_refused"/);
  assert.equal(chats(remote), 0);
  // A local model may see it; since a marker protects the like of it, nothing of it is stored.
  assertShown(await play(stage, "loc", { ...attack("loc"), args: [] }), data);
});

Deno.test(
  "--allow-protected-prompt lets the image of that prompt through, and stores nothing of it",
  linux,
  async () => {
    await using stage = await openStage();
    const bytes = pngFile({ ...SIZE, comment: stage.canary("env") });
    await stage.home.write("a.png", bytes);
    stage.exempt("a.png");
    const attack = { script: [say("Seen.")], args: ["--file", "a.png", "--allow-protected-prompt"] };
    const remote = await play(stage, "rem", attack);
    assert.equal(remote.done.code, 0, remote.done.stderr);
    assertArrived(remote, `base64,${bytes.toBase64()}`);
    assert.deepEqual(remote.leaks.disk, []);
    // The same image by another way is not that prompt.
    const read = [ask(want("read", { path: "a.png" })), say("Seen.")];
    const second = await play(stage, "rem", { script: read, args: ["--allow-protected-prompt"] });
    assertRefusedRun(second, /holds line 1 of \.env/);
    assert.deepEqual(second.leaks.wire, []);
  },
);

Deno.test(
  "a session that was shown a protected image cannot continue elsewhere, like one that read it",
  linux,
  async () => {
    await using stage = await openStage();
    await plantPicture(stage, "secrets/plan.png", "pic");
    const id = "11111111-2222-4333-8444-555555555555";
    const first = { script: [say("Seen.")], args: ["--file", "secrets/plan.png", "--session-id", id] };
    assert.equal((await play(stage, "loc", first)).done.code, 0);
    const attack = { script: [say("Again.")], args: ["--resume", id] };
    const remote = await play(stage, "rem", attack);
    assertRefusedRun(remote, /no-cloud|protected/);
    assertSealed(remote);
    const local = await play(stage, "loc", attack);
    assert.equal(local.done.code, 0, local.done.stderr);
    assert.ok(!local.sent.includes("image_url"), "a placeholder stands for it");
    assertSealed(local);
  },
);
