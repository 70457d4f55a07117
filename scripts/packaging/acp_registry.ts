/** The entry of a release in the registry of agents for the Agent Client Protocol: started by way of npm. */

/** Sixteen by sixteen, one color: a prompt in a box. */
const ICON = `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16" viewBox="0 0 16 16" fill="none">
  <path d="M2 3.5h12v9H2z" stroke="currentColor" stroke-width="1.2" stroke-linejoin="round"/>
  <path d="M4.5 6l2 2-2 2M8 10h3.5" stroke="currentColor" stroke-width="1.2" stroke-linecap="round" stroke-linejoin="round"/>
</svg>
`;

/** Returns the files of the entry by path. */
export function acpRegistry(version: string): Map<string, string> {
  const agent = {
    id: "agentcli",
    name: "agentcli",
    version,
    description: "The agent CLI for models that run on your own machine; protected files stay there",
    license: "MIT",
    distribution: { npx: { package: `agentcli@${version}`, args: ["acp"] } },
  };
  return new Map([
    ["acp-registry/agentcli/agent.json", `${JSON.stringify(agent, null, 2)}\n`],
    ["acp-registry/agentcli/icon.svg", ICON],
  ]);
}
