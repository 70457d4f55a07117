// Drives the program through the agent SDK as its users do. Prints one JSON object: what was seen, by scene.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, executable, other, picture] = process.argv.slice(2);
const require = createRequire(`${packages}/index.js`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { query, createSdkMcpServer, tool } = await load("@anthropic-ai/claude-agent-sdk");
const { z } = await load("zod");

const base = { pathToClaudeCodeExecutable: executable, cwd: process.cwd(), settingSources: [] };

/** Runs one query; gives its messages, and the failure that the SDK throws after an error result. */
async function seen(prompt, options = {}) {
  const messages = [];
  try {
    for await (const message of query({ prompt, options: { ...base, ...options } })) messages.push(message);
  } catch (error) {
    messages.push({ type: "thrown", message: String(error.message) });
  }
  return messages;
}

const user = (text) => ({
  type: "user",
  message: { role: "user", content: text },
  parent_tool_use_id: null,
  session_id: "",
});
const resultOf = (messages) => messages.find((message) => message.type === "result");
const scenes = {};

scenes.plain = resultOf(await seen("hello"));
scenes.allow = resultOf(
  await seen('CALL Write {"file_path":"allowed.txt","content":"a"}', {
    canUseTool: (_name, input) => ({ behavior: "allow", updatedInput: input }),
  }),
);
scenes.changed = resultOf(
  await seen('CALL Write {"file_path":"asked.txt","content":"a"}', {
    canUseTool: (_name, input) => ({ behavior: "allow", updatedInput: { ...input, file_path: "changed.txt" } }),
  }),
);
scenes.deny = resultOf(
  await seen('CALL Write {"file_path":"denied.txt","content":"a"}', {
    canUseTool: () => ({ behavior: "deny", message: "Never." }),
  }),
);
scenes.veto = resultOf(
  await seen('CALL Write {"file_path":"vetoed.txt","content":"a"}', {
    permissionMode: "bypassPermissions",
    allowDangerouslySkipPermissions: true,
    hooks: {
      PreToolUse: [{
        matcher: "Write",
        hooks: [() => ({
          hookSpecificOutput: {
            hookEventName: "PreToolUse",
            permissionDecision: "deny",
            permissionDecisionReason: "Vetoed by the hook.",
          },
        })],
      }],
    },
  }),
);
const sums = createSdkMcpServer({
  name: "sums",
  version: "1.0.0",
  tools: [
    tool("plus", "Adds two numbers.", { a: z.number(), b: z.number() }, ({ a, b }) => ({
      content: [{ type: "text", text: `sum ${a + b}` }],
    })),
  ],
});
scenes.own = resultOf(
  await seen(
    (async function* () {
      yield user('CALL mcp__sums__plus {"a":2,"b":3}');
    })(),
    { mcpServers: { sums }, allowedTools: ["mcp__sums__plus"] },
  ),
);
const shots = [
  tool("shot", "Takes a picture.", {}, () => ({
    content: [{ type: "image", data: picture, mimeType: "image/png" }],
  })),
];
const source = { type: "base64", media_type: "image/png", data: picture };
scenes.shown = resultOf(
  await seen((async function* () {
    yield user([{ type: "text", text: "look" }, { type: "image", source }]);
  })()),
);
scenes.shot = resultOf(
  await seen(
    (async function* () {
      yield user("CALL mcp__sums__shot {}");
    })(),
    {
      mcpServers: { sums: createSdkMcpServer({ name: "sums", version: "1.0.0", tools: shots }) },
      allowedTools: ["mcp__sums__shot"],
    },
  ),
);
scenes.partial = (await seen("hello", { includePartialMessages: true }))
  .filter((message) => message.type === "stream_event").map((message) => message.event.type);
scenes.failed = await seen("FAIL", { model: "loc:broken" });
scenes.unknownModel = await seen("hello", { model: "nowhere:at-all" });

// Several turns with an interrupt and a switch of the model between them.
{
  let wake;
  const waiting = [];
  const push = (text) => {
    waiting.push(text);
    wake?.();
  };
  const input = (async function* () {
    for (;;) {
      while (waiting.length === 0) await new Promise((resolve) => wake = resolve);
      const text = waiting.shift();
      if (text === null) return;
      yield user(text);
    }
  })();
  const results = [];
  const conversation = query({ prompt: input, options: base });
  push("HANG");
  let turn = 0;
  for await (const message of conversation) {
    if (message.type === "system" && message.subtype === "init" && turn === 0) {
      setTimeout(() => conversation.interrupt(), 300);
    }
    if (message.type !== "result") continue;
    results.push({ subtype: message.subtype, result: message.result, models: Object.keys(message.modelUsage) });
    turn++;
    if (turn === 1) push("second");
    if (turn === 2) {
      await conversation.setPermissionMode("acceptEdits");
      await conversation.setModel(other);
      push('CALL Write {"file_path":"edited.txt","content":"a"}');
    }
    if (turn === 3) {
      scenes.models = (await conversation.supportedModels()).map((model) => model.value);
      push(null);
    }
  }
  scenes.turns = results;
}

const first = resultOf(await seen("remember me"));
const resumed = resultOf(await seen("again", { resume: first.session_id }));
const forked = resultOf(await seen("fork", { resume: first.session_id, forkSession: true }));
const continued = resultOf(await seen("more", { continue: true }));
scenes.sessions = [first, resumed, forked, continued].map((result) => result.session_id);

scenes.flags = resultOf(
  await seen("hello", {
    systemPrompt: { type: "preset", preset: "claude_code", append: "Be brief." },
    model: "default",
    fallbackModel: "other",
    maxTurns: 3,
    maxThinkingTokens: 1000,
    additionalDirectories: ["/tmp"],
    allowedTools: ["Read", "WebFetch(domain:example.com)"],
    disallowedTools: ["Task", "WebSearch"],
    permissionMode: "plan",
    betas: ["context-1m-2025-08-07"],
    strictMcpConfig: true,
    mcpServers: { away: { type: "stdio", command: "nothing" } },
    persistSession: false,
    settingSources: ["user", "project"],
    extraArgs: { "replay-user-messages": null, "some-new-option": "value" },
    maxBudgetUsd: 1,
    effort: "low",
  }),
);
process.stdout.write(`\n${JSON.stringify(scenes)}\n`);
