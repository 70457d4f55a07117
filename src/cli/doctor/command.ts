/** `agentcli doctor`. */
import { command } from "../command.ts";

export const doctorCommand = command({
  brief: "Check everything the program needs; exit 1 when something fails",
  detail:
    "One line a check: [OK ], [WARN] or [FAIL], and below it what to do. It asks the configured servers, tries whether protected files can be hidden from commands, and runs a turn with the built-in model. With --json it prints {ok, version, checks: [{id, state, message, hint, facts}]}: state is ok, warn or fail; id is version, home, configuration, key_store, providers, provider (one for each), boundary, sandbox, git, ripgrep, shell, terminal, proxy, telemetry or demo.",
  arguments: [],
  options: {},
  examples: ["agentcli doctor", "agentcli doctor --json"],
  load: async () => (await import("./run.ts")).run,
});
