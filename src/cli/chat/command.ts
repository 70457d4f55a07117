/** `agentcli chat`: many turns with one model, at a terminal or line by line. */
import { RUN_OPTIONS } from "../run/command.ts";
import { command } from "../command.ts";

export const chatCommand = command({
  brief: "Talk with a model, turn by turn",
  detail:
    "Answers render as they stream; what you type meanwhile goes to the model after the next tool result, or after the turn. Ctrl-C stops the turn, twice it leaves; Ctrl-D leaves. Type / for the commands, workflows and skills of the project among them, @ to attach a file or directory, ! to run a command; ? shows the keys. With piped input each line is a turn.",
  arguments: [{ name: "prompt", brief: "The first thing to say", optional: true }],
  options: RUN_OPTIONS,
  examples: [
    "agentcli chat --model demo",
    "agentcli chat --continue",
    'agentcli chat --permission-mode plan "What would it take to add a command?"',
  ],
  connects: "here",
  load: async () => (await import("./run.ts")).run,
});
