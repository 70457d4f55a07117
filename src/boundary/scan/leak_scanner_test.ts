import assert from "node:assert/strict";
import { AgentcliError } from "../../errors.ts";
import { checkBody, checkPrompt, checkWrite, type LeakScanner, openLeakScanner } from "./leak_scanner.ts";
import { parseGitIndex, unchangedTracked } from "./tracked.ts";

const SECRET = "tok_5f1b0c9ae47d2386";

interface Project extends AsyncDisposable {
  root: string;
  write(path: string, text: string): Promise<string>;
  git(...args: string[]): Promise<void>;
  net(): Promise<LeakScanner>;
  /** How often the open files were asked for. */
  asked(): number;
}

async function project(): Promise<Project> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  let asked = 0;
  const write = async (path: string, text: string) => {
    const place = `${root}/${path}`;
    await Deno.mkdir(place.slice(0, place.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(place, text);
    return place;
  };
  await write(".env", `# settings\nTOKEN=${SECRET}\nLICENCE=the quick brown licence text\n`);
  return {
    root,
    write,
    async git(...args) {
      const { success, stderr } = await new Deno.Command("git", {
        args: ["-c", "user.name=T", "-c", "user.email=t@example.test", ...args],
        cwd: root,
        env: { HOME: root, GIT_CONFIG_NOSYSTEM: "1" },
      }).output();
      assert.ok(success, new TextDecoder().decode(stderr));
    },
    net: () =>
      openLeakScanner({
        protectedFiles: [`${root}/.env`],
        openFiles: async function* () {
          asked += 1;
          for await (const path of unchangedTracked(root)) if (!path.endsWith("/.env")) yield path;
        },
        describe: (path) => `${path.slice(root.length + 1)} (.agentclisecret:1 no-cloud: .env)`,
      }),
    asked: () => asked,
    [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }),
  };
}

async function refusalOf(work: Promise<void>): Promise<AgentcliError> {
  try {
    await work;
  } catch (error) {
    assert.ok(error instanceof AgentcliError);
    return error;
  }
  throw new Error("it was let through");
}

Deno.test("a body with a fragment is refused with file, line and rule, and without the fragment", async () => {
  await using given = await project();
  const net = await given.net();
  const body = {
    model: "m",
    messages: [{ role: "user", content: "hello" }, { role: "tool", content: `x ${SECRET} y` }],
  };
  const error = await refusalOf(checkBody(net, body, { provider: "rem" }));
  assert.equal(error.exitCode, 6);
  assert.match(error.message, /"rem" holds line 2 of \.env \(\.agentclisecret:1 no-cloud: \.env\)/);
  assert.match(error.hint ?? "", /local model/);
  assert.ok(!`${error.message}${error.hint}`.includes("5f1b"));
  await checkBody(net, { messages: [{ role: "user", content: "hello" }] }, { provider: "rem" });
});

Deno.test("arguments of tool calls and keys of objects are looked at too", async () => {
  await using given = await project();
  const net = await given.net();
  const call = { function: { name: "Write", arguments: JSON.stringify({ content: `a\n\t${SECRET}\n` }) } };
  await refusalOf(checkBody(net, { messages: [{ tool_calls: [call] }] }, { provider: "rem" }));
  await refusalOf(checkBody(net, { [SECRET]: 1 }, { provider: "rem" }));
});

Deno.test("a prompt is refused with the option that lets it through", async () => {
  await using given = await project();
  const error = await refusalOf(checkPrompt(await given.net(), [`why is ${btoa(SECRET)} wrong?`], { provider: "rem" }));
  assert.match(error.message, /line 2 of \.env .*, base64;/);
  assert.match(error.hint ?? "", /--allow-protected-prompt/);
});

Deno.test("a write of a fragment is refused for the model, with the way on", async () => {
  await using given = await project();
  const net = await given.net();
  const refusal = await checkWrite(net, `const token = "${SECRET}";`, { display: "src/a.ts" });
  assert.match(refusal?.message ?? "", /^src\/a\.ts is not protected, and the text holds line 2 of \.env/);
  assert.ok(!refusal?.message.includes("5f1b"));
  assert.equal(await checkWrite(net, "const token = env.TOKEN;", { display: "src/a.ts" }), null);
});

Deno.test("a fragment that also stands in an unchanged tracked file does not count", async () => {
  await using given = await project();
  await given.write("LICENCE", "This is The Quick Brown\n  Licence Text, as known.\n");
  const text = "according to the quick brown licence text";
  await refusalOf(checkPrompt(await given.net(), [text], { provider: "rem" }));
  await given.git("init", "--quiet");
  await given.git("add", "LICENCE");
  await given.git("commit", "--quiet", "-m", "first");
  const net = await given.net();
  const before = given.asked();
  await checkPrompt(net, [text], { provider: "rem" });
  await checkPrompt(net, [`${text} again`], { provider: "rem" });
  assert.equal(given.asked() - before, 1, "what was looked up once is known");
  await refusalOf(checkPrompt(net, [`${text} and ${SECRET}`], { provider: "rem" }));
});

Deno.test("a tracked file that was changed excuses nothing: the content may have been written there", async () => {
  await using given = await project();
  await given.write("notes.txt", "nothing\n");
  await given.git("init", "--quiet");
  await given.git("add", "notes.txt");
  await given.write("notes.txt", `nothing but ${SECRET}\n`);
  await refusalOf(checkPrompt(await given.net(), [SECRET], { provider: "rem" }));
});

Deno.test("open files are not read while nothing is found", async () => {
  await using given = await project();
  await checkPrompt(await given.net(), ["what does this project do?"], { provider: "rem" });
  assert.equal(given.asked(), 0);
});

Deno.test("a protected file that cannot be read is told", async () => {
  await using given = await project();
  const net = await openLeakScanner({ protectedFiles: [`${given.root}/gone`], openFiles: () => [], describe: String });
  assert.deepEqual(net.leftOut, [`${given.root}/gone`]);
});

for (const version of [2, 3, 4]) {
  Deno.test(`the index of git is read in version ${version}`, async () => {
    await using given = await project();
    const names = ["a.txt", "directory/a.txt", "directory/b-with-a-longer-name.txt", "directory/sub/c", "ünï.txt"];
    for (const name of names) await given.write(name, `of ${name}`);
    await given.git("init", "--quiet");
    await given.git("add", ...names);
    // A version 3 index exists only when an entry needs it.
    if (version === 3) {
      await given.write("later.txt", "later");
      await given.git("add", "--intent-to-add", "later.txt");
    }
    await given.git("update-index", "--index-version", version === 4 ? "4" : "2");
    const bytes = await Deno.readFile(`${given.root}/.git/index`);
    assert.equal(bytes[7], version);
    const paths = parseGitIndex(bytes)?.map((entry) => entry.path) ?? [];
    assert.deepEqual(paths.sort(), [...names, ...version === 3 ? ["later.txt"] : []].sort());
    const unchanged: string[] = [];
    for await (const path of unchangedTracked(given.root)) unchanged.push(path.slice(given.root.length + 1));
    assert.deepEqual(unchanged.sort(), names.toSorted());
  });
}

Deno.test("a broken index of git gives nothing", () => {
  assert.equal(parseGitIndex(new Uint8Array()), null);
  assert.equal(parseGitIndex(new TextEncoder().encode("DIRC\0\0\0\x02\0\0\0\x09short")), null);
  assert.equal(parseGitIndex(new TextEncoder().encode("nothing of that kind")), null);
});
