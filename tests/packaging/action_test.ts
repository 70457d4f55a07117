/** The step of action.yml against a scripted server, and what its inputs and outputs are called. */
import assert from "node:assert/strict";
import { parseYaml, plainValue } from "../../src/config/yaml.ts";
import { outputOf } from "../../src/platform/process_group.ts";
import { ask, say, startFakeServer, want } from "../helpers/fake_server.ts";
import { programCommand, REPOSITORY, startCommand, temporaryHome } from "../helpers/program.ts";

const SCRIPT = `${REPOSITORY}/scripts/packaging/action.sh`;
const hasNode = (await outputOf(new Deno.Command("node", { args: ["--version"] })))?.success === true;

async function act(inputs: Record<string, string>, script: Parameters<typeof startFakeServer>[0]) {
  await using home = await temporaryHome();
  await using server = startFakeServer(script);
  await home.write("README.md", "# Project\n");
  // Its words are split at spaces, which a path can hold: one program without any.
  const program = `${await Deno.makeTempDir({ dir: "/tmp" })}/program`;
  const words = programCommand().map((word) => `'${word}'`).join(" ");
  await Deno.writeTextFile(program, `#!/bin/sh\nexec ${words} "$@"\n`, { mode: 0o755 });
  const [output, summary] = [`${home.root}/output`, `${home.root}/summary`];
  await using running = startCommand(["bash", SCRIPT], {
    home,
    env: {
      RUNNER_TEMP: home.root,
      GITHUB_OUTPUT: output,
      GITHUB_STEP_SUMMARY: summary,
      AGENTCLI_ACTION_COMMAND: program,
      AGENTCLI_ACTION_ENDPOINT: server.baseUrl,
      AGENTCLI_ACTION_MODEL: "fake",
      AGENTCLI_ACTION_MODE: "default",
      AGENTCLI_ACTION_TURNS: "5",
      ...inputs,
    },
  });
  await running.closeInput();
  const finished = await running.finished;
  await Deno.remove(program.replace(/\/program$/, ""), { recursive: true });
  const [outputs, shown] = await Promise.all([output, summary].map((path) => Deno.readTextFile(path).catch(() => "")));
  const transcript = /^transcript=(.+)$/m.exec(outputs ?? "")?.[1] ?? assert.fail(finished.stderr);
  return { ...finished, outputs: outputs ?? "", summary: shown, events: await Deno.readTextFile(transcript), server };
}

Deno.test(
  "the action runs a turn with tools, and gives its answer, a summary and the events",
  { ignore: !hasNode },
  async () => {
    const { code, outputs, summary, events, server, stderr } = await act(
      { AGENTCLI_ACTION_PROMPT: "Read it.\n$(touch made)", AGENTCLI_ACTION_KEY: "sk-action-key-1234567890" },
      { script: [ask(want("read", { path: "README.md" })), say("It is a project.\nresult=no")] },
    );
    assert.equal(code, 0, stderr);
    assert.match(outputs, /^result<<(agentcli-[0-9a-f]{32})\nIt is a project\.\nresult=no\n\1\ntranscript=.+\n$/);
    assert.equal(summary, "It is a project.\nresult=no\n");
    const [first] = server.chats();
    assert.equal(first?.headers.get("authorization"), "Bearer sk-action-key-1234567890");
    assert.match(JSON.stringify(first?.json.messages), /Read it\.\\n\$\(touch made\)/);
    assert.equal((outputs + summary + events + stderr).includes("sk-action-key"), false);
  },
);

Deno.test(
  "a turn that fails fails the action with its exit code, and the events are there",
  { ignore: !hasNode },
  async () => {
    const { code, summary, events } = await act({ AGENTCLI_ACTION_PROMPT: "x" }, {
      script: [{ kind: "status", status: 400, body: '{"error":{"message":"no"}}' }],
    });
    assert.notEqual(code, 0);
    assert.match(events, /"type":"result"/);
    assert.notEqual(summary, "\n");
  },
);

Deno.test("the package comes from where the repository has no say, and npm does not see the key", async () => {
  await using home = await temporaryHome();
  await home.write(".npmrc", "registry=http://127.0.0.1:9/\n");
  const log = `${home.root}/npm.log`;
  const npm = `#!/bin/sh
{ pwd; echo "$*"; env; } > '${log}'
mkdir -p node_modules/.bin
printf '#!/bin/sh\\necho {} \\n' > node_modules/.bin/agentcli
chmod +x node_modules/.bin/agentcli
`;
  await Deno.mkdir(`${home.root}/bin`);
  await Deno.writeTextFile(`${home.root}/bin/npm`, npm, { mode: 0o755 });
  await using running = startCommand(["bash", SCRIPT], {
    home,
    env: {
      PATH: `${home.root}/bin:${Deno.env.get("PATH")}`,
      RUNNER_TEMP: home.root,
      GITHUB_OUTPUT: `${home.root}/output`,
      AGENTCLI_ACTION_PROMPT: "x",
      AGENTCLI_ACTION_KEY: "sk-action-key-1234567890",
      AGENTCLI_ACTION_ENDPOINT: "http://127.0.0.1:9/v1",
      AGENTCLI_ACTION_MODEL: "fake",
      AGENTCLI_ACTION_MODE: "default",
      AGENTCLI_ACTION_TURNS: "5",
      AGENTCLI_ACTION_VERSION: "1.2.3",
    },
  });
  await running.closeInput();
  const { code, stderr } = await running.finished;
  assert.equal(code, 0, stderr);
  const [place = "", words, ...rest] = (await Deno.readTextFile(log)).split("\n");
  assert.match(place, /\/agentcli\.\w+$/);
  assert.ok(!place.startsWith(home.project));
  assert.match(words ?? "", /^install .*--ignore-scripts .*agentcli@1\.2\.3$/);
  assert.doesNotMatch(rest.join("\n"), /sk-action-key/);
});

Deno.test("every input of action.yml reaches the script, and every output comes from it", async () => {
  const action = plainValue(parseYaml(await Deno.readTextFile(`${REPOSITORY}/action.yml`))) as {
    inputs: Record<string, unknown>;
    outputs: Record<string, unknown>;
    runs: { steps: { env: Record<string, string> }[] };
  };
  const script = await Deno.readTextFile(SCRIPT);
  const env = action.runs.steps[0]?.env ?? {};
  assert.deepEqual(
    Object.values(env).sort(),
    Object.keys(action.inputs).map((name) => `\${{ inputs.${name} }}`).sort(),
  );
  for (const name of Object.keys(env)) assert.ok(script.includes(`$${name}`) || script.includes(`{${name}`), name);
  for (const name of Object.keys(action.outputs)) assert.match(script, new RegExp(`${name}(<<|=)%s`), name);
});

Deno.test("the recipe names inputs and outputs that the action has, and all that it needs", async () => {
  type Inputs = Record<string, { required?: boolean; default?: string }>;
  const action = plainValue(parseYaml(await Deno.readTextFile(`${REPOSITORY}/action.yml`))) as {
    inputs: Inputs;
    outputs: Record<string, unknown>;
  };
  const page = await Deno.readTextFile(`${REPOSITORY}/docs/recipes.md`);
  const [, text = ""] = /^```yaml\n([^]*?)^```$/m.exec(page) ?? [];
  const { jobs } = plainValue(parseYaml(text)) as {
    jobs: Record<string, { steps: { uses: string; id?: string; with?: Record<string, string> }[] }>;
  };
  const step = jobs.review?.steps.find(({ uses }) => uses.startsWith("OWNER/agentcli@")) ?? assert.fail();
  const named = Object.keys(step.with ?? {});
  assert.deepEqual(named.filter((name) => !(name in action.inputs)), []);
  const needed = Object.entries(action.inputs).filter(([, { required }]) => required).map(([name]) => name);
  assert.deepEqual(needed.filter((name) => !named.includes(name)), []);
  const [, output = ""] = new RegExp(`steps\\.${step.id}\\.outputs\\.(\\w+)`).exec(text) ?? [];
  assert.ok(output in action.outputs, output);
});
