// Drives the program through the AI SDK and its provider for this protocol. Prints what was seen as JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, executable] = process.argv.slice(2);
const require = createRequire(`${packages}/index.js`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { generateText, streamText } = await load("ai");
const { createClaudeCode } = await load("ai-sdk-provider-claude-code");

const provider = createClaudeCode({
  defaultSettings: { pathToClaudeCodeExecutable: executable, cwd: process.cwd(), settingSources: [] },
});
const scenes = {};
scenes.text = (await generateText({ model: provider("fake"), prompt: "hello" })).text;
// So long that the program cannot read the reply at once: what arrives together is reported as one piece.
const stream = streamText({ model: provider("other"), prompt: "hello again ".repeat(2_000) });
scenes.pieces = [];
for await (const piece of stream.textStream) scenes.pieces.push(piece);
scenes.usage = await stream.usage;
const writing = streamText({
  model: provider("fake", { permissionMode: "acceptEdits" }),
  prompt: 'CALL Write {"file_path":"ai.txt","content":"a"}',
});
scenes.parts = [];
for await (const part of writing.fullStream) scenes.parts.push(part.type);
try {
  await generateText({ model: provider("fake"), prompt: "FAIL", maxRetries: 0 });
  scenes.failed = null;
} catch (error) {
  scenes.failed = String(error.message);
}
process.stdout.write(`\n${JSON.stringify(scenes)}\n`);
