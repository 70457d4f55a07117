/** `agentcli init-providers`: look for local model servers and write what was found. */
import { command, flag, integer, list } from "../command.ts";

export const INIT_PROVIDERS_OPTIONS = {
  dryRun: flag("Write nothing; print what would change as a diff"),
  timeout: integer("MS", "Longest wait for each address, in milliseconds (default: 2000)", {
    minimum: 1,
    maximum: 600_000,
  }),
  host: list("HOST", "Look on this host instead of localhost, with or without a port; may be repeated"),
} as const;

export const initProvidersCommand = command({
  brief: "Find local model servers and write providers.yaml",
  detail:
    "Asks the usual ports of local model servers for their models: plain requests, without a key. What you wrote in providers.yaml stays as it is: new models are added, models that are gone are reported and kept. On a terminal it offers the models as the default where none is set; --yes asks nothing.",
  arguments: [],
  options: INIT_PROVIDERS_OPTIONS,
  examples: [
    "agentcli init-providers",
    "agentcli init-providers --dry-run",
    "agentcli init-providers --host 192.168.1.20 --timeout 5000",
  ],
  connects: true,
  load: async () => (await import("./run.ts")).run,
});
