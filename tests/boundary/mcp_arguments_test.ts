/** What MCP servers may receive: arguments, their copies in headers, and paths. Each attack with its control. */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { planServer, textArguments } from "../helpers/mcp.ts";
import { startMcpHttp } from "../helpers/mcp_http.ts";
import { assertSealed, openStage, type Play, type Stage } from "./harness.ts";

const ALL = ["--permission-mode", "bypassPermissions"];
const say_ = (text: string, name = "say") => ({ name: `mcp__hub__${name}`, input: { text } });
const TOOLS = [{ name: "say", inputSchema: textArguments("text") }];

/** An address outside of this process: networked. */
function httpServer() {
  return startMcpHttp({ era: "modern", tools: TOOLS });
}

/** A program: local-only unless `more` says otherwise. What it hears lies in the project, where a sandbox shows it. */
async function program(stage: Stage, more: Record<string, unknown> = {}) {
  const server = await planServer(`${stage.project}/server`, "hub", { era: "modern", tools: TOOLS });
  stage.exempt("server/hub.json.log");
  return { settings: { mcp_servers: { hub: { ...server.entry, ...more } } }, server };
}

/** How a model can write what it read. */
const FORMS: Record<string, (secret: string) => string> = {
  plain: (secret) => `the key is ${secret}`,
  base64: (secret) => btoa(`key=${secret}`),
  hex: (secret) => [...new TextEncoder().encode(secret)].map((byte) => byte.toString(16).padStart(2, "0")).join(""),
  parted: (secret) => secret.match(/.{1,8}/g)!.join("\n"),
};

for (const [form, write] of Object.entries(FORMS)) {
  Deno.test(`protected content does not go to a networked server, ${form}; a program without a network gets it`, async () => {
    await using stage = await openStage();
    await using http = httpServer();
    const text = write(stage.canary("env"));
    const script: Play["script"] = [ask(say_(text)), say("Done.")];
    const play = { script, args: ALL, prompt: "go on" };
    const attack = await stage.play("loc", { ...play, settings: { mcp_servers: { hub: { url: http.url } } } });
    assert.equal(http.heard.some(({ message }) => message?.method === "tools/call"), false, form);
    assert.match(attack.results[0]!, /MCP server hub/);
    const { settings, server } = await program(stage);
    await stage.play("loc", { ...play, settings });
    const heard = (await server.heard()).filter(({ method }) => method === "tools/call");
    assert.equal(heard.length, 1, "control: the local-only server is called");
  });
}

Deno.test("a session that holds protected content calls no networked server at all, and says server and rule", async () => {
  await using stage = await openStage();
  await using http = httpServer();
  const script: Play["script"] = [ask(want("read", { path: ".env" })), ask(say_("harmless")), say("Done.")];
  const settings = { mcp_servers: { hub: { url: http.url } } };
  const attack = await stage.play("loc", { script, args: ALL, settings });
  assert.equal(http.heard.some(({ message }) => message?.method === "tools/call"), false);
  assert.match(
    attack.results[1]!,
    /holds protected content \(no-cloud\), and the MCP server hub .* \(it is reached over HTTP\)/,
  );
  assert.equal(attack.done.code, 6, attack.done.stderr);
  assert.match(attack.done.stderr, /MCP server hub/);
  assertSealed(attack);
  const open: Play["script"] = [ask(want("read", { path: "pub.txt" })), ask(say_("harmless")), say("Done.")];
  const control = await stage.play("loc", { script: open, args: ALL, settings });
  assert.equal(control.done.code, 0, control.done.stderr);
  assert.equal(http.heard.filter(({ message }) => message?.method === "tools/call").length, 1);
  const { settings: own, server } = await program(stage);
  const local = await stage.play("loc", { script, args: ALL, settings: own });
  assert.equal(local.done.code, 0, local.done.stderr);
  assert.ok((await server.heard()).some(({ method }) => method === "tools/call"), "control: local-only");
  // Outside of the project, which a networked program does not see.
  const there = await planServer(`${stage.home.root}/servers`, "hub", { era: "modern", tools: TOOLS });
  const refused = await stage.play("loc", {
    script,
    args: ALL,
    settings: {
      mcp_servers: { hub: { ...there.entry, network: "yes" } },
      sandbox: { read: [`${stage.home.root}/servers`] },
    },
  });
  assert.match(refused.results[1]!, /\(network: yes\)/);
});

Deno.test("a server on loopback is networked unless the user's own file says that it is local", async () => {
  await using stage = await openStage();
  await using http = httpServer();
  const script: Play["script"] = [ask(want("read", { path: ".env" })), ask(say_("x")), say("Done.")];
  const called = async (hub: Record<string, unknown>, args: string[] = []) => {
    const before = http.heard.length;
    await stage.play("loc", { script, args: [...ALL, ...args], settings: { mcp_servers: { hub } } });
    return http.heard.slice(before).some(({ message }) => message?.method === "tools/call");
  };
  assert.equal(await called({ url: http.url }), false);
  assert.equal(await called({ url: http.url, local: true }), true);
  const given = JSON.stringify({ mcpServers: { other: { url: http.url, local: true } } });
  const before = http.heard.length;
  await stage.play("loc", {
    script: [ask(want("read", { path: ".env" })), ask({ name: "mcp__other__say", input: { text: "x" } }), say("Done.")],
    args: [...ALL, "--mcp-config", given],
    settings: {},
  });
  assert.equal(http.heard.slice(before).some(({ message }) => message?.method === "tools/call"), false);
});

Deno.test("an argument that is mirrored in a header is looked through like any other", async () => {
  await using stage = await openStage();
  const inputSchema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } };
  await using http = startMcpHttp({ era: "modern", tools: [{ name: "put", inputSchema }] });
  const settings = { mcp_servers: { hub: { url: http.url } } };
  const put = (region: string): Play["script"] => [ask({ name: "mcp__hub__put", input: { region } }), say("Done.")];
  await stage.play("loc", { script: put(stage.canary("env")), args: ALL, settings });
  assert.equal(http.heard.some(({ headers }) => headers.has("mcp-param-region")), false);
  await stage.play("loc", { script: put("Zürich"), args: ALL, settings });
  const [sent] = http.heard.flatMap(({ headers }) => headers.get("mcp-param-region") ?? []);
  assert.equal(sent, `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode("Zürich")))}?=`);
});

Deno.test("a path that is protected goes to no networked server, however it is written", async () => {
  await using stage = await openStage();
  await using http = httpServer();
  await Deno.symlink(".env", `${stage.project}/innocent.txt`);
  const settings = { mcp_servers: { hub: { url: http.url } } };
  const attempts = [
    ".env",
    "./x/../.env",
    `${stage.project}/.env`,
    `file://${stage.project}/.env`,
    `file://${stage.project.replaceAll(" ", "%20")}/%2Eenv`,
    "innocent.txt",
    "secrets/k.txt",
  ];
  const script: Play["script"] = [...attempts.map((path) => ask(say_(path))), say("Done.")];
  // Calls that only fail would end the turn.
  for (const path of attempts) {
    const played = await stage.play("loc", { script: [ask(say_(path)), say("Done.")], args: ALL, settings });
    assert.match(played.results[0]!, /names a protected path \(\.agentclisecret:\d no-cloud: /, path);
  }
  assert.equal(http.heard.some(({ message }) => message?.method === "tools/call"), false);
  await stage.play("loc", { script: [ask(say_("pub.txt")), say("Done.")], args: ALL, settings });
  assert.equal(http.heard.filter(({ message }) => message?.method === "tools/call").length, 1, "control");
  assert.equal(script.length, attempts.length + 1);
});

Deno.test("a remote session sends a protected path to no server, not even one without a network", async () => {
  await using stage = await openStage();
  const { settings, server } = await program(stage);
  const attack = await stage.play("rem", { script: [ask(say_(".env")), say("Done.")], args: ALL, settings });
  assert.match(attack.results[0]!, /names a protected path/);
  assert.equal((await server.heard()).some(({ method }) => method === "tools/call"), false);
  const control = await stage.play("rem", { script: [ask(say_("pub.txt")), say("Done.")], args: ALL, settings });
  assert.equal(control.done.code, 0, control.done.stderr);
  assert.equal((await server.heard()).filter(({ method }) => method === "tools/call").length, 1);
  assertSealed(attack);
});

Deno.test("what a person types for a prompt or a resource of a networked server is looked through like a call", async () => {
  await using stage = await openStage();
  await using http = startMcpHttp({ era: "modern", tools: TOOLS, prompts: ["greet"] });
  const settings = { mcp_servers: { hub: { url: http.url } } };
  const told = async (line: string) => {
    const before = http.heard.length;
    const played = await stage.play("loc", {
      argv: ["chat", "--model", "loc"],
      script: () => say("Done."),
      stdin: `${line}\n`,
      settings,
    });
    const methods = http.heard.slice(before).map(({ message }) => message?.method);
    assertSealed(played, line);
    return methods.some((method) => method === "prompts/get" || method === "resources/read");
  };
  const secret = stage.canary("env");
  for (
    const line of [
      `/hub:greet ${secret}`,
      `/hub:greet text="${btoa(`key=${secret}`)}"`,
      "/hub:greet .env",
      `look at @hub:note://${secret}`,
      `look at @hub:file://${stage.project.replaceAll(" ", "%20")}/.env`,
    ]
  ) assert.equal(await told(line), false, line);
  assert.equal(await told("/hub:greet somebody"), true, "control");
  assert.equal(await told("look at @hub:note://1"), true, "control");
});

for (const hidden of ["many", "fragment", "line"]) {
  Deno.test(`a protected path is found in arguments for a networked server: ${hidden}`, async () => {
    await using stage = await openStage();
    const inputSchema = { type: "object", properties: { paths: { type: "array", items: { type: "string" } } } };
    await using http = startMcpHttp({ era: "modern", tools: [{ name: "say", inputSchema }] });
    const settings = { mcp_servers: { hub: { url: http.url } } };
    const forms: Record<string, string[]> = {
      many: [".env", ...Array.from({ length: 2_100 }, () => "x")],
      fragment: [`file://${stage.project}/.env#L1`, `file://${stage.project}/.env?x`],
      line: ["pub.txt\n.env"],
    };
    const told = async (paths: readonly string[]) => {
      const script: Play["script"] = [ask({ name: "mcp__hub__say", input: { paths } }), say("Done.")];
      await stage.play("loc", { script, args: ALL, settings });
      return http.heard.filter(({ message }) => message?.method === "tools/call").length;
    };
    assert.equal(await told(["pub.txt"]), 1, "control");
    assert.equal(await told(forms[hidden] ?? []), 1);
  });
}
