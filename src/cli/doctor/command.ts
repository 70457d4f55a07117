/** `agentcli doctor`. */
import { command } from "../command.ts";

export const doctorCommand = command({
  brief: "Check the installation and its configuration; exit 1 if a check fails",
  detail:
    "Prints one line per check, [OK ], [WARN] or [FAIL], followed by what to do about it. Contacts the configured servers, checks that protected files can be hidden from commands, and runs a turn with the built-in model. With --json, prints {ok, version, checks: [{id, state, message, hint, facts}]}: state is ok, warn or fail; id is version, home, configuration, key_store, providers, provider (one for each), boundary, sandbox, git, ripgrep, shell, terminal, proxy, telemetry or demo.",
  examples: ["agentcli doctor", "agentcli doctor --json"],
  load: async () => (await import("./run.ts")).run,
});
