// Drives the program through the Qwen SDK. Prints what was seen as JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, executable] = process.argv.slice(2);
const require = createRequire(`${packages}/index.js`);
const { query } = await import(pathToFileURL(require.resolve("@qwen-code/sdk")).href);

async function seen(prompt, options = {}) {
  const messages = [];
  try {
    const conversation = query({
      prompt,
      options: { pathToQwenExecutable: executable, cwd: process.cwd(), ...options },
    });
    for await (const message of conversation) messages.push(message);
  } catch (error) {
    messages.push({ type: "thrown", message: String(error.message) });
  }
  return messages;
}
const resultOf = (messages) => messages.find((message) => message.type === "result") ?? messages;
const scenes = {};
scenes.plain = resultOf(await seen("hello"));
scenes.partial = (await seen("hello", { includePartialMessages: true })).map((message) => message.type);
scenes.edit = resultOf(
  await seen('CALL Write {"file_path":"qwen.txt","content":"a"}', { permissionMode: "auto-edit" }),
);
scenes.allow = resultOf(
  await seen('CALL Write {"file_path":"allowed.txt","content":"a"}', {
    canUseTool: (_name, input) => ({ behavior: "allow", updatedInput: input }),
  }),
);
scenes.deny = resultOf(
  await seen('CALL Write {"file_path":"denied.txt","content":"a"}', {
    canUseTool: () => ({ behavior: "deny", message: "Never." }),
  }),
);
const turns = (async function* () {
  for (const text of ["one", "two"]) {
    yield {
      type: "user",
      session_id: "",
      parent_tool_use_id: null,
      message: { role: "user", content: text },
    };
  }
})();
scenes.turns = (await seen(turns)).filter((message) => message.type === "result").map((message) => message.result);
scenes.flags = resultOf(
  await seen("hello", {
    model: "other",
    authType: "openai",
    maxSessionTurns: 3,
    coreTools: ["read_file"],
    excludeTools: ["web_fetch"],
    allowedTools: ["read_file"],
    systemPrompt: "You are terse.",
  }),
);
process.stdout.write(`\n${JSON.stringify(scenes)}\n`);
