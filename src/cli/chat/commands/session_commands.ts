/**
 * Commands of the chat about its session: what fills it, how its model reasons, what may run, what changed. Loaded with
 * the first.
 */
import { byteLength } from "../../../platform/text.ts";
import { editProviders } from "../../../config/edit.ts";
import { loadConfiguration } from "../../../config/load.ts";
import { readProjectRules, removeProjectRule } from "../../../config/project_file.ts";
import { PERMISSION_MODES } from "../../../config/types.ts";
import { AgentcliError } from "../../../errors.ts";
import { counted } from "../../../platform/number.ts";
import { isThinking, THINKING } from "../../../provider/profiles/profile.ts";
import { baseBytes, estimateOf } from "../../../agent/chat_request.ts";
import { limitsOf } from "../../../agent/context/tokens.ts";
import { highestLabel } from "../../../boundary/policy/label.ts";
import { type Session } from "../../../agent/session.ts";
import { sessionLabel } from "../../../agent/labels.ts";
import { type Row, row, span } from "../../../terminal/style.ts";
import { wrap } from "../../../terminal/wrap.ts";
import { tokensText } from "../../run/text_output.ts";
import { type Home, openHome } from "../../../platform/home.ts";
import type { Io, Output } from "../../../platform/io.ts";
import { relativeTo } from "../../../platform/path.ts";
import { isPrompt, releaseIn } from "../../../session/item.ts";
import type { TurnChange } from "../../../session/undo.ts";
import { clean } from "../../../terminal/clean.ts";
import { diffRows } from "../questions/preview.ts";
import { selectorOf } from "../../../runtime/agent_session.ts";
import type { CommandTarget } from "./commands.ts";
import { entryRows, textRows } from "../view/event_rows.ts";
import INIT_PROMPT from "./init_prompt.md" with { type: "text" };

const LONGEST_BAR = 40;
const NAME_WIDTH = 14;
/** Files whose changes are shown at once: commands can change thousands. */
const MOST_SHOWN = 200;

/** Shows one bar a kind, then the total against the window. */
export async function showContext(_: string, { chat, view }: CommandTarget): Promise<void> {
  const { session } = await chat.ready();
  const width = view.width();
  const { context, model } = session;
  const base = baseBytes(session);
  const system = Math.min(byteLength(JSON.stringify(session.system.text)), base);
  const bytesOf = (kind: Session["items"][number]["kind"]) =>
    session.items.filter((item) => item.kind === kind).reduce((sum, item) => sum + context.sizeOf(item), 0);
  const parts = [
    { name: "system prompt", bytes: system },
    { name: "tools", bytes: base - system },
    { name: "you", bytes: bytesOf("user") },
    { name: "model", bytes: bytesOf("assistant") },
    { name: "tool results", bytes: bytesOf("tool_result") },
  ].map(({ name, bytes }) => ({ name, tokens: Math.ceil(bytes / context.bytesPerToken) }));
  const room = Math.max(4, Math.min(LONGEST_BAR, width - NAME_WIDTH - 10));
  const most = Math.max(1, ...parts.map(({ tokens }) => tokens));
  const bars = parts.map(({ name, tokens }): Row => {
    const length = tokens === 0 ? 0 : Math.max(1, Math.round((tokens / most) * room));
    return [
      span(name.padEnd(NAME_WIDTH)),
      span(tokensText(tokens).padStart(6) + "  "),
      span("#".repeat(length), "accent"),
    ];
  });
  const used = estimateOf(session);
  const { threshold } = limitsOf(model);
  const total =
    `about ${tokensText(used)} of ${tokensText(model.contextWindow)} tokens (window ${model.windowSource}); ` +
    `shortened from ${tokensText(threshold)} on`;
  const summary = wrap([span(total, "dim")], { width, indent: [span("  ")] });
  view.print([...bars, ...summary, ...cacheRows(context.cache, width)]);
}

/** Returns the figures of the server's prompt cache; none where the server does not say. */
function cacheRows({ last, rereadTokens, rereadMs }: Session["context"]["cache"], width: number): Row[] {
  if (last === null) return [];
  const { promptTokens, cachedTokens } = last;
  const time = rereadMs > 0 ? ` in ${(rereadMs / 1000).toFixed(1)} s` : "";
  const again = rereadTokens > 0 ? `; read again in this session: ${tokensText(rereadTokens)}${time}` : "";
  const text = `prompt cache: ${tokensText(cachedTokens)} of the last ${tokensText(promptTokens)} tokens${again}`;
  return wrap([span(text, "dim")], { width, indent: [span("  ")] });
}

/** Shows model, session and mode. */
export async function showStatus(_: string, { chat, view }: CommandTarget): Promise<void> {
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
  view.print(facts.flatMap(([name, value]) => entryRows(name, value, { column: 15, width: view.width() })));
}

/** Sets how much the model reasons, from the next turn on; without a word it lists the levels. */
export async function think(word: string, { chat, view }: CommandTarget): Promise<void> {
  if (word === "") {
    const now = chat.thinking ?? "the model's default";
    return view.print([row(`reasoning: ${now}; /think ${THINKING.join("|")}`, "dim")]);
  }
  if (!isThinking(word)) {
    throw new AgentcliError("usage", `/think takes ${THINKING.join(", ")}, not "${clean(word)}"`);
  }
  chat.configure({ thinking: word });
  await view.during("telling the model", chat.ready());
  view.print([row(`reasoning: ${word}, from the next turn on`, "dim")]);
}

/** Longest text that terminals take into the clipboard, in bytes. */
const CLIPBOARD_LIMIT = 74_000;

/** Copies the last answer to the clipboard. */
export async function copyAnswer(_: string, { chat, view, context: { io } }: CommandTarget): Promise<void> {
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

/** Sends the prompt that makes the model explore and write an AGENTS.md. */
export async function init(argument: string, { view }: CommandTarget): Promise<void> {
  view.send([INIT_PROMPT.trim().replaceAll("\n", " "), argument].join("\n\n").trim());
  return await Promise.resolve();
}

/** Summarizes the older part of the session. */
export async function compact(keep: string, { chat, view, signal, emit }: CommandTarget): Promise<void> {
  const done = await chat.compact({ signal, onEvent: emit, keep });
  if (!done) view.print([row("the session is too short to summarize", "dim")]);
}

type Origin = "project" | "configuration" | "chat";

const ORIGINS: Readonly<Record<Origin, string>> = {
  project: "always in this project",
  configuration: "providers.yaml, in all projects",
  chat: "for this chat",
};

/** Shows mode and rules; with an argument sets the mode, or removes a rule. Throws `usage` for any other word. */
export async function permissions(argument: string, target: CommandTarget): Promise<void> {
  const [word = "", ...rest] = argument.split(/\s+/);
  if (word === "remove") await takeBack(rest.join(" "), target);
  else if (word !== "") {
    const mode = PERMISSION_MODES.find((known) => known.toLowerCase() === argument.toLowerCase());
    if (mode === undefined) {
      throw new AgentcliError("usage", `there is no mode ${argument}`, {
        hint: `modes: ${PERMISSION_MODES.join(", ")}; to remove a rule: /permissions remove <number>`,
      });
    }
    target.chat.setMode(mode);
  }
  await show(target);
}

async function rulesOf({ chat }: CommandTarget, home: Home): Promise<{ text: string; origin: Origin }[]> {
  const { policy, workspace } = (await chat.ready()).session;
  const ofProject = await readProjectRules(home, workspace.root);
  const { permissions: configured } = await loadConfiguration(home);
  return policy.allow.map(({ text }) => ({
    text,
    origin: ofProject.includes(text) ? "project" : configured.allow.includes(text) ? "configuration" : "chat",
  }));
}

async function show(target: CommandTarget): Promise<void> {
  const { chat, view, context } = target;
  const rules = await rulesOf(target, await openHome(context.io));
  const { policy } = (await chat.ready()).session;
  view.print([
    [span("mode "), span(chat.mode, "bold"), span(`  (/permissions ${PERMISSION_MODES.join(" | ")})`, "dim")],
    ...rules.map(({ text, origin }, index): Row => [
      span(`${String(index + 1).padStart(3)} allow `, "dim"),
      span(clean(text)),
      span(`  ${ORIGINS[origin]}`, "dim"),
    ]),
    ...policy.deny.map(({ text }): Row => [span("    deny  ", "dim"), span(clean(text))]),
    ...rules.length === 0 ? [] : [row("take a rule back: /permissions remove <number>", "dim")],
  ]);
}

/** A rule by its number in the list, or as it is written. */
async function takeBack(named: string, target: CommandTarget): Promise<void> {
  const { chat, view, context } = target;
  const home = await openHome(context.io);
  const rules = await rulesOf(target, home);
  const found = rules[Number(named) - 1] ?? rules.find(({ text }) => text === named);
  if (found === undefined) {
    throw new AgentcliError("usage", `there is no rule ${JSON.stringify(named)}`, {
      hint: "/permissions lists the rules with their numbers",
    });
  }
  const { text, origin } = found;
  if (origin === "project") {
    await removeProjectRule(home, { root: (await chat.ready()).session.workspace.root, rule: text });
  }
  if (origin === "configuration") {
    await editProviders(home, (document) => {
      const left = (document.value().permissions?.allow ?? []).filter((rule) => rule !== text);
      if (left.length > 0) document.setSetting("permissions.allow", left);
      else document.unsetSetting("permissions.allow");
    });
  }
  chat.disallow(text);
  view.print([row(`  removed: ${clean(text)} (${ORIGINS[origin]})`, "good")]);
}

/** Shows what the session changed: each file before its first change, compared with now. */
export async function showDiff(_: string, { chat, view }: CommandTarget): Promise<void> {
  const { session: { workspace }, undo } = await chat.ready();
  const store = await undo();
  const first = new Map<string, TurnChange>();
  for (const turn of store.turns()) {
    for (const change of store.changes(turn).filter(({ isDirectory }) => !isDirectory)) {
      const { label, ...before } = first.get(change.path) ?? change;
      first.set(change.path, { ...before, label: highestLabel([label, change.label]) });
    }
  }
  if (first.size === 0) return view.print([row("this session has changed no files", "dim")]);
  for (const change of [...first.values()].slice(0, MOST_SHOWN)) {
    const { path, label } = change;
    const before = await change.before();
    const resolved = await workspace.resolve(path);
    if ("refused" in resolved || (before.kind !== "absent" && before.kind !== "file")) {
      const reason = before.kind === "not_kept" ? before.reason : "it was a link or a directory";
      view.print([
        row(
          `  ${clean(relativeTo(workspace.root, path))}: ${clean("refused" in resolved ? resolved.message : reason)}`,
          "warning",
        ),
      ]);
      continue;
    }
    // For the person alone: no item holds any of it.
    const now = workspace.peek(resolved, { limit: 1024 * 1024 });
    const isProtected = label !== "open" || !("refused" in now) && now.label !== "open";
    if (isProtected && !view.isTerminal) {
      view.print([row(`  ${clean(resolved.display)}: protected, so its changes are shown on a terminal only`, "dim")]);
      continue;
    }
    const after = "refused" in now ? "" : new TextDecoder().decode(now.bytes);
    const old = before.kind === "absent" ? null : new TextDecoder().decode(before.bytes);
    view.print(await diffRows({ name: resolved.display, before: old, after }, { width: view.width() }));
  }
  if (first.size > MOST_SHOWN) view.print([row(`  and ${first.size - MOST_SHOWN} more files`, "dim")]);
}

/** Says what is protected here, and whether the model of the session counts as local. */
export async function showSecrets(_: string, { chat, view, context }: CommandTarget): Promise<void> {
  const model = chat.opened === null ? undefined : selectorOf(chat.opened);
  const { listProtected } = await import("../../secrets/show.ts");
  await listProtected({ options: { model }, arguments: [], context: { ...context, io: toView(context.io, view) } });
}

/** The environment of a command that is called from the chat: its output becomes rows. */
function toView(io: Io, view: CommandTarget["view"]): Io {
  const output: Output = {
    isTerminal: false,
    columns: () => view.width(),
    write(text: string) {
      view.print(textRows(text.replace(/\n$/, ""), { width: view.width(), style: "plain" }));
      return Promise.resolve();
    },
  };
  return { ...io, stdout: output, stderr: output };
}
