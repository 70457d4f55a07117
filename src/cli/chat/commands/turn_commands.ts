/** Commands about turns: how the model reasons, the last one again, its answer, the first look at a project. Loaded with one. */
import { estimateOf } from "../../../agent/chat_request.ts";
import { sessionLabel } from "../../../agent/session.ts";
import { AgentcliError } from "../../../errors.ts";
import { counted } from "../../../platform/number.ts";
import { isThinking, THINKING } from "../../../provider/profiles/profile.ts";
import { selectorOf } from "../../../runtime/agent_session.ts";
import { isPrompt, releaseIn } from "../../../session/item.ts";
import { clean } from "../../../terminal/clean.ts";
import { type Row, row } from "../../../terminal/style.ts";
import { entryRows } from "../view/event_rows.ts";
import { tokensText } from "../../run/text_output.ts";
import type { CommandTarget } from "./commands.ts";
import { wordsToSendAgain } from "../view/replay.ts";
import { askParts } from "./rewind.ts";
import INIT_PROMPT from "./init_prompt.md" with { type: "text" };

/** Runs a command. Throws what it meets. */
export async function turnCommand(
  name: "status" | "think" | "retry" | "copy" | "init",
  argument: string,
  target: CommandTarget,
): Promise<void> {
  switch (name) {
    case "status":
      return target.view.print(await statusRows(target));
    case "think":
      return await think(argument, target);
    case "retry":
      return await retry(target);
    case "copy":
      return await copyAnswer(target);
    case "init":
      return target.view.send([INIT_PROMPT.trim().replaceAll("\n", " "), argument].join("\n\n").trim());
  }
}

async function statusRows({ chat, view }: Pick<CommandTarget, "chat" | "view">): Promise<Row[]> {
  const opened = await chat.ready();
  const { session, transcriptFile } = opened;
  const { model, items, workspace } = session;
  const isStored = transcriptFile !== null && releaseIn(items) === undefined;
  const window = `${tokensText(estimateOf(session))} of ${tokensText(model.contextWindow)} tokens`;
  const facts: [string, string][] = [
    ["model", `${clean(selectorOf(opened))}, ${model.local ? "local" : "remote"}`],
    ["window", `${window} (${model.windowSource})`],
    ["session", `${session.id}, ${counted(items.filter(isPrompt).length, "turn")}, ${sessionLabel(session)}`],
    ["stored", isStored ? clean(transcriptFile) : "no"],
    ["project", clean(workspace.root)],
    ["mode", chat.mode],
    ...session.profile.rows.map(({ name, value, why }): [string, string] => [name, `${value} (${why})`]),
  ];
  return facts.flatMap(([name, value]) => entryRows(name, value, { column: 15, width: view.width() }));
}

/** Sets how much the model reasons, from the next turn on; without a word tells what can be said. */
async function think(word: string, { chat, view }: CommandTarget): Promise<void> {
  if (word === "") {
    const now = chat.thinking ?? "as the model does by itself";
    return view.print([row(`reasoning: ${now}; /think ${THINKING.join("|")}`, "dim")]);
  }
  if (!isThinking(word)) {
    throw new AgentcliError("usage", `/think takes ${THINKING.join(", ")}, not "${clean(word)}"`);
  }
  await view.during("telling the model", chat.think(word));
  view.print([row(`reasoning: ${word}, from the next turn on`, "dim")]);
}

/** Takes the last turn back and sends its prompt again; where it changed files, a person says whether they go back too. */
async function retry({ chat, view }: CommandTarget): Promise<void> {
  const point = (await chat.rewindPoints()).at(-1);
  if (point === undefined) throw new AgentcliError("usage", "there is no prompt to send again");
  const words = wordsToSendAgain(point.prompt);
  if (words === null) {
    throw new AgentcliError("usage", "the last prompt is protected: what was typed of it is not stored", {
      hint: "type it again",
    });
  }
  const parts = point.files.length > 0 ? await askParts(view) : { words: true, files: false };
  if (parts === null) return;
  await chat.rewind(point.prompt, { ...parts, words: true });
  view.send(words);
}

/** Longest text that terminals take into the clipboard, in bytes. */
const CLIPBOARD_LIMIT = 74_000;

async function copyAnswer({ chat, view, context: { io } }: CommandTarget): Promise<void> {
  const { session } = await chat.ready();
  const answer = session.items.findLast((item) => item.kind === "assistant" && item.text !== "");
  if (answer?.kind !== "assistant") return view.print([row("there is no answer to copy", "dim")]);
  if (!view.isTerminal || !io.stdout.isTerminal) throw new AgentcliError("usage", "/copy needs a terminal");
  const bytes = new TextEncoder().encode(answer.text);
  if (bytes.length > CLIPBOARD_LIMIT) {
    throw new AgentcliError("usage", "the answer is too long for the clipboard of a terminal", {
      hint: "/export writes it into a file",
    });
  }
  // The terminal itself puts it there (OSC 52), also over ssh.
  await io.stdout.write(`\x1b]52;c;${bytes.toBase64()}\x07`);
  view.print([row("the answer is in the clipboard, if the terminal permits it (OSC 52)", "dim")]);
}
