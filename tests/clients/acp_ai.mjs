// Drives the program through the AI SDK and a provider that speaks the Agent Client Protocol. Prints what was seen as
// JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [packages, executable] = process.argv.slice(2);
const require = createRequire(`${packages}/index.js`);
const load = (name) => import(pathToFileURL(require.resolve(name)).href);
const { generateText, streamText } = await load("ai");
const { createACPProvider } = await load("@mcpc-tech/acp-ai-provider");

const provider = createACPProvider({
  command: executable,
  args: ["acp", "--permission-mode", "acceptEdits"],
  session: { cwd: process.cwd(), mcpServers: [] },
});
const seen = {};
const common = { model: provider.languageModel(), tools: provider.tools };
seen.text = (await generateText({ ...common, prompt: "hello" })).text;
const stream = streamText({ ...common, prompt: "hello again" });
seen.pieces = [];
for await (const piece of stream.textStream) seen.pieces.push(piece);
const writing = streamText({ ...common, prompt: 'CALL Write {"file_path":"ai.txt","content":"a"}' });
seen.parts = [];
for await (const part of writing.fullStream) seen.parts.push(part.type);
provider.cleanup?.();
process.stdout.write(`\n${JSON.stringify(seen)}\n`);
process.exit(0);
