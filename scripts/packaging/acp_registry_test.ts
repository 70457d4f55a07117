import assert from "node:assert/strict";
import { AcpClient } from "../../tests/helpers/acp_client.ts";
import { temporaryHome } from "../../tests/helpers/program.ts";
import { acpRegistry } from "./acp_registry.ts";

const files = acpRegistry("1.2.3");
const agent = JSON.parse(files.get("acp-registry/agentcli/agent.json") ?? "");

Deno.test("the entry of the registry is as its checks want it", () => {
  assert.match(agent.id, /^[a-z][a-z0-9-]*$/);
  assert.equal(agent.version, "1.2.3");
  assert.equal(agent.distribution.npx.package, "agentcli@1.2.3");
  assert.ok(agent.name !== "" && agent.description !== "");
  const icon = files.get("acp-registry/agentcli/icon.svg") ?? "";
  assert.match(icon, /width="16" height="16" viewBox="0 0 16 16"/);
  const colors = [...icon.matchAll(/(?:fill|stroke)="([^"]*)"/g)].map(([, color]) => color);
  assert.deepEqual(new Set(colors), new Set(["none", "currentColor"]));
});

Deno.test("the agent that it names starts in an empty home and offers a method of authentication", async () => {
  await using home = await temporaryHome();
  assert.deepEqual(agent.distribution.npx.args.slice(0, 1), ["acp"]);
  await using client = new AcpClient({ home, args: agent.distribution.npx.args.slice(1), isChild: true });
  const { authMethods } = await client.initialize();
  const types = authMethods.map(({ type = "agent" }: { type?: string }) => type);
  assert.ok(types.includes("agent") || types.includes("terminal"), types.join(" "));
  assert.equal((await client.end()).code, 0);
});
