// A client of the protocol's own SDK, for `agentcli mcp serve`: node serve_client.mjs MODULES ERA COMMAND ARGS…
// Prints what it was told, as one line of JSON.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [modules, era, command, ...args] = process.argv.slice(2);
const { resolve } = createRequire(`${modules}/`);
const load = (name) => import(pathToFileURL(resolve(name)).href);
const isNew = era === "modern";
const { Client } = await load(isNew ? "@modelcontextprotocol/client" : "@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = await load(
  isNew ? "@modelcontextprotocol/client/stdio" : "@modelcontextprotocol/sdk/client/stdio.js",
);
const transport = new StdioClientTransport({ command, args, env: process.env, stderr: "pipe" });
let stderr = "";
transport.stderr?.on("data", (data) => stderr += data);
const client = new Client({ name: `sdk ${era}`, version: "1" }, isNew ? { versionNegotiation: { mode: "auto" } } : {});
await client.connect(transport);
const { tools } = await client.listTools();
const call = async (name, given = {}) => (await client.callTool({ name, arguments: given })).structuredContent;
const question = { question: "Is the port 5432?", paths: [".env"], answer: { type: "yes_no" }, seconds: 5 };
const started = performance.now();
const asked = await call("ask_private", question);
const waited = Math.round((performance.now() - started) / 1000);
const times = [];
for (let at = 0; at < 20; at++) {
  const began = performance.now();
  await call("private_status");
  times.push(performance.now() - began);
}
const told = { asked, waited, again: await call("ask_private", question), status: await call("private_status") };
await client.close();
const statusMs = times.sort((one, other) => one - other)[10];
console.log(JSON.stringify({ tools: tools.map(({ name }) => name), ...told, stderr, statusMs }));
