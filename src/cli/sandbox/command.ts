/** `agentcli sandbox`: a command in the view of the project that commands of models have. */
import { command, flag } from "../command.ts";

export const SANDBOX_OPTIONS = {
  network: flag("With the network of this machine, local services included"),
} as const;

export const sandboxCommand = command({
  brief: "Run a command without the protected paths of the project",
  detail:
    "The command sees the project without its protected paths and repositories, the system read-only, and what sandbox.read and sandbox.write name; of the environment what sandbox.env names besides the usual. Its exit code is passed on. Where no sandbox can be made it does not run (exit 6). What it makes that could run code later is moved to quarantine, see agentcli quarantine.",
  arguments: [{ name: "command", brief: "A program and its arguments, behind --", repeated: true, completion: "file" }],
  options: SANDBOX_OPTIONS,
  examples: [
    "agentcli sandbox -- ls -la",
    "agentcli sandbox -- sh -c 'cat .env || echo hidden'",
    "agentcli sandbox --network -- true",
  ],
  load: async () => (await import("./run.ts")).run,
});
