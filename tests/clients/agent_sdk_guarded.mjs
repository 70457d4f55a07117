/**
 * The Agent SDK with its own program, in a project with the guard and the server of agentcli: node
 * agent_sdk_guarded.mjs <packages> <address of the scripted remote> <prompt>. Prints its servers and how it ended.
 */
import process from "node:process";

const [packages, address, prompt] = process.argv.slice(2);
const { query } = await import(`${packages}/node_modules/@anthropic-ai/claude-agent-sdk/sdk.mjs`);
let [servers, end] = [[], ""];
const conversation = query({
  prompt,
  options: {
    cwd: process.cwd(),
    settingSources: ["user", "project", "local"],
    allowedTools: ["Read", "Grep", "Glob", "Edit", "Write", "Bash", "mcp__agentcli"],
    env: {
      ...process.env,
      ANTHROPIC_BASE_URL: address,
      ANTHROPIC_API_KEY: "none",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_AUTOUPDATER: "1",
    },
  },
});
try {
  for await (const message of conversation) {
    if (message.type === "system" && message.subtype === "init") servers = message.mcp_servers;
    if (message.type === "result") end = String(message.result ?? message.subtype);
  }
} catch (error) {
  end = String(error.message);
}
process.stdout.write(`\n${JSON.stringify({ servers, end })}\n`);
