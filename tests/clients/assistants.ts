/**
 * Assistants of the cloud as they are, in a project with something protected, before and after `agentcli mcp install`:
 * their model is a scripted one on 127.0.0.2, and the local one that answers them is on 127.0.0.1. Part of
 * `deno task test-clients`.
 */
import assert from "node:assert/strict";
import { type RecordedRequest, say, startFakeServer } from "../helpers/fake_server.ts";
import { done, prepared, type PreparedHome } from "../helpers/installed_assistant.ts";
import { configure } from "../helpers/program.ts";
import { type RemoteModel, type RemoteStep, startRemoteModel } from "./remote_model.ts";
import { installed } from "./stage.ts";

const SECRET = "correct-horse-battery-staple-42";
const STATUS: RemoteStep = { tool: "private_status", server: "agentcli", input: {} };
const QUESTION: RemoteStep = {
  tool: "ask_private",
  server: "agentcli",
  input: { question: "Is TOKEN set?", paths: [".env"], answer: { type: "yes_no" }, seconds: 10 },
};

/** A model that says yes to what it is asked in the end. */
function agreeing({ json }: RecordedRequest) {
  return say(json.response_format === undefined ? "It is." : '{"answer":"yes"}');
}

/** Where the program of a test finds its home and its modules. */
const variablesOf = (home: PreparedHome) => ({
  AGENTCLI_HOME: home.agentcliHome,
  DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
  DENO_NO_UPDATE_CHECK: "1",
});

/** Runs a program in the project and gives what it printed. */
async function run(
  home: PreparedHome,
  program: string,
  { args, variables = {} }: { args: readonly string[]; variables?: Record<string, string> },
): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(program, {
    args: [...args],
    cwd: home.project,
    clearEnv: true,
    env: {
      ...variablesOf(home),
      HOME: home.home,
      TMPDIR: home.tmp,
      PATH: `${home.root}:${Deno.env.get("PATH")}`,
      ...variables,
    },
    stdin: "null",
  }).output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}

/** A project, a local model, and how an assistant runs there with a script of its own model. */
async function stage() {
  const home = await prepared();
  await home.write("src/a.ts", "export const PORT = 4711;\n");
  await new Deno.Command("git", { args: ["init", "-q", home.project] }).output();
  // Not every assistant hands its own variables on to the servers that it starts.
  const launcher = await Deno.readTextFile(`${home.root}/agentcli`);
  const variables = Object.entries(variablesOf(home)).map(([name, value]) => `export ${name}='${value}'\n`).join("");
  await Deno.writeTextFile(`${home.root}/agentcli`, launcher.replace("\n", `\n${variables}`));
  const local = startFakeServer({ script: agreeing });
  await configure(home, { loc: { baseUrl: local.baseUrl } });
  return {
    home,
    async [Symbol.asyncDispose]() {
      await local.close();
      await home[Symbol.asyncDispose]();
    },
  };
}

const got = ({ requests }: RemoteModel) => requests.join("\n");

Deno.test("Claude Code, by the Agent SDK, reads nothing that is protected, and asks about it", async () => {
  const packages = await installed("agent-sdk-whole", ["@anthropic-ai/claude-agent-sdk@0.3.330", "zod@4"], {
    whole: true,
  });
  await using on = await stage();
  const { home } = on;
  const script = new URL("agent_sdk_guarded.mjs", import.meta.url).pathname;
  const ask = async (remote: RemoteModel, prompt = "go") => {
    const printed = await run(home, "node", { args: [script, packages, remote.address, prompt] });
    return JSON.parse(printed.trimEnd().split("\n").findLast((line) => line.startsWith("{")) ?? "{}");
  };
  const secret = { file_path: `${home.project}/.env` };
  const steps: RemoteStep[] = [
    { tool: "Read", input: secret },
    { tool: "Read", input: { file_path: `${home.project}/src/a.ts` } },
    { tool: "Grep", input: { pattern: "TOKEN", path: home.project } },
    { tool: "Bash", input: { command: "cat .env", description: "Look" } },
    { tool: "Bash", input: { command: "agentcli sandbox -- 'cat src/a.ts'", description: "Look" } },
    { tool: "Edit", input: { ...secret, old_string: "TOKEN", new_string: "OTHER" } },
    { tool: "Write", input: { file_path: `${home.project}/.claude/settings.json`, content: "{}" } },
    STATUS,
    QUESTION,
  ];
  // The control: without the hook it reads the file, and its model gets it.
  await using open = startRemoteModel(steps.slice(0, 1));
  await ask(open);
  assert.match(got(open), new RegExp(SECRET));

  await done(home.mcp("install", "claude", "--yes"));
  await home.write(".claude/settings.local.json", '{"enabledMcpjsonServers":["agentcli"]}');
  await using remote = startRemoteModel(steps);
  const { servers, end } = await ask(remote);
  assert.deepEqual([servers[0]?.name, servers[0]?.status, end], ["agentcli", "connected", "done"]);
  const [read, source, search, command, sandboxed, edit, write, status, answer] = remote.results();
  for (const refused of [read, search, command, edit]) {
    assert.match(refused ?? "", /\.env is protected \(\.agentclisecret:1 no-cloud: \.env\)[^]*use ask_private/);
  }
  assert.match(write ?? "", /may not be written/);
  for (const passed of [source, sandboxed]) assert.match(passed ?? "", /PORT = 4711/);
  assert.match(status ?? "", /\\?"ready\\?":true,\\?"protected\\?":1/);
  assert.match(answer ?? "", /\\?"answer\\?":\\?"yes\\?"/);
  assert.doesNotMatch(got(remote), new RegExp(SECRET));
  assert.match(got(remote), /A hook blocks you from reading/, "the rule is in its prompt");

  // What is added to a prompt comes to no tool.
  await using mentioned = startRemoteModel([]);
  assert.match((await ask(mentioned, "what is in @.env?")).end, /blocked/);
  assert.deepEqual(mentioned.requests, []);
});

Deno.test("Claude Code, by its adapter under acpx, reads nothing that is protected, and asks about it", async () => {
  const packages = await installed("acp-whole", ["@agentclientprotocol/claude-agent-acp", "acpx"], { whole: true });
  await using on = await stage();
  const { home } = on;
  await done(home.mcp("install", "claude", "--yes", "--user"));
  const modules = `${packages}/node_modules`;
  const agent = `node ${modules}/@agentclientprotocol/claude-agent-acp/dist/index.js`;
  await using remote = startRemoteModel([
    { tool: "Read", input: { file_path: `${home.project}/.env` } },
    { tool: "Read", input: { file_path: `${home.project}/src/a.ts` } },
    STATUS,
    QUESTION,
  ]);
  const printed = await run(home, "node", {
    args: [`${modules}/acpx/dist/cli.js`, "--agent", agent, "--approve-all", "--timeout", "120", "exec", "go"],
    variables: {
      ...{ ANTHROPIC_BASE_URL: remote.address, ANTHROPIC_API_KEY: "none" },
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  });
  const [read, source, status, answer] = remote.results();
  assert.match(read ?? "", /\.env is protected \(\.agentclisecret:1 no-cloud: \.env\)[^]*use ask_private/, printed);
  assert.match(source ?? "", /PORT = 4711/);
  assert.match(status ?? "", /\\?"ready\\?":true,\\?"protected\\?":1/);
  assert.match(answer ?? "", /\\?"answer\\?":\\?"yes\\?"/);
  assert.doesNotMatch(got(remote), new RegExp(SECRET));
});

Deno.test("Codex reads nothing that is protected once its hook is trusted, and asks about it", async () => {
  const packages = await installed("codex", ["@openai/codex@0.169.0"], { whole: true });
  await using on = await stage();
  const { home } = on;
  const codex = `${packages}/node_modules/@openai/codex/bin/codex.js`;
  const ask = (remote: RemoteModel, ...options: string[]) => {
    const provider = `model_providers.x={name="x",base_url="${remote.address}/v1",wire_api="responses"}`;
    const settings = ["-c", "model_provider=x", "-c", provider, "-m", "gpt-5", "-s", "danger-full-access"];
    return run(home, "node", { args: [codex, "exec", ...settings, ...options, "go"] });
  };
  const steps: RemoteStep[] = [
    { tool: "exec_command", input: { cmd: "cat .env" } },
    { tool: "view_image", input: { path: `${home.project}/.env` } },
    STATUS,
    QUESTION,
  ];
  await done(home.mcp("install", "codex", "--yes"));
  await Deno.mkdir(`${home.home}/.codex`, { recursive: true });
  await Deno.writeTextFile(
    `${home.home}/.codex/config.toml`,
    `[projects."${home.project}"]\ntrust_level = "trusted"\n`,
  );
  // The control, and what the note of the installation says: until the hook is trusted nothing is blocked.
  await using open = startRemoteModel(steps.slice(0, 1));
  const first = await ask(open);
  assert.match(got(open), new RegExp(SECRET), first);

  await using remote = startRemoteModel(steps);
  const printed = await ask(remote, "--dangerously-bypass-hook-trust");
  const [command, image, status, answer] = remote.results();
  for (const refused of [command, image]) {
    assert.match(
      refused ?? "",
      /\.env is protected \(\.agentclisecret:1 no-cloud: \.env\)[^]*use ask_private/,
      printed,
    );
  }
  assert.match(status ?? "", /\\?"ready\\?":true,\\?"protected\\?":1/);
  assert.match(answer ?? "", /\\?"answer\\?":\\?"yes\\?"/);
  assert.doesNotMatch(got(remote), new RegExp(SECRET));
  assert.match(got(remote), /A hook blocks you from reading/, "the rule is in its prompt");
});
