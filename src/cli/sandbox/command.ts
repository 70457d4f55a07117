/** `agentcli sandbox`: a command in the view of the project that commands of models have. */
import { command, flag } from "../command.ts";

export const SANDBOX_OPTIONS = {
  network: flag("Allow the network, including services on this machine"),
} as const;

export const sandboxCommand = command({
  brief: "Run a command in the sandbox, without the project's protected paths",
  detail:
    "The command sees the project without its protected paths and repositories, the system read-only, the directories in sandbox.read and sandbox.write, and the usual environment variables plus those in sandbox.env. Its output goes through pipes, is shown within half a second in most projects, and ends with the command when a protected path is created or replaced meanwhile (exit 6). Its exit code is passed on. If no sandbox is available, it does not run (exit 6). Files it creates that could run code later are moved to quarantine, see agentcli quarantine.",
  arguments: [{
    name: "command",
    brief: "A program and its arguments, or a shell command as one word, after --",
    repeated: true,
    completion: "file",
  }],
  options: SANDBOX_OPTIONS,
  examples: [
    "agentcli sandbox -- ls -la",
    "agentcli sandbox -- 'cat .env || echo hidden'",
    "agentcli sandbox --network -- true",
  ],
  load: async () => (await import("./run.ts")).run,
});
