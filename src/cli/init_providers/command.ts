/** `agentcli init-providers`: look for local model servers and write what was found. */
import { command, flag, integer, list } from "../command.ts";

export const INIT_PROVIDERS_OPTIONS = {
  dryRun: flag("Print the changes as a diff and write nothing"),
  timeout: integer("MS", "Timeout for each address, in milliseconds (default: 2000)", {
    minimum: 1,
    maximum: 600_000,
  }),
  host: list("HOST", "Search this host instead of localhost, with or without a port; can be repeated"),
} as const;

export const initProvidersCommand = command({
  brief: "Find local model servers and write providers.yaml",
  detail:
    "Queries the default ports of local model servers for their models, with plain requests and no key. Your entries in providers.yaml stay as they are: new models are added; missing models are reported and kept. On a terminal, offers to choose a default model if none is set; --yes skips the question.",
  options: INIT_PROVIDERS_OPTIONS,
  examples: [
    "agentcli init-providers",
    "agentcli init-providers --dry-run",
    "agentcli init-providers --host 192.168.1.20 --timeout 5000",
  ],
  connects: true,
  load: async () => (await import("./run.ts")).run,
});
