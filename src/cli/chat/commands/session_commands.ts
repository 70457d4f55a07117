/** Commands of the chat about its session and its files. Loaded with the first of them. */
import { baseBytes, estimateOf } from "../../../agent/chat_request.ts";
import { byteLength, limitsOf } from "../../../agent/context/tokens.ts";
import { highestLabel } from "../../../boundary/policy/label.ts";
import type { Session } from "../../../agent/session.ts";
import { type Row, row, span } from "../../../terminal/style.ts";
import { wrap } from "../../../terminal/wrap.ts";
import { tokensText } from "../../run/text_output.ts";
import { openHome } from "../../../platform/home.ts";
import type { Io, Output } from "../../../platform/io.ts";
import { relativeTo } from "../../../platform/path.ts";
import { releaseIn } from "../../../session/item.ts";
import type { TurnChange } from "../../../session/undo.ts";
import { clean } from "../../../terminal/clean.ts";
import { diffRows } from "../questions/preview.ts";
import { selectorOf } from "../../../runtime/agent_session.ts";
import type { CommandTarget } from "./commands.ts";
import { textRows } from "../view/event_rows.ts";
import { fileRows } from "./rewind.ts";

const LONGEST_BAR = 40;
const NAME_WIDTH = 14;
/** Files whose changes are shown at once: commands can change thousands. */
const MOST_SHOWN = 200;

/** One bar a kind, then the total against the window. */
export function contextRows(session: Session, width: number): Row[] {
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
  return [...bars, ...wrap([span(total, "dim")], { width, indent: [span("  ")] }), ...cacheRows(context.cache, width)];
}

/** Returns the figures of the server's prompt cache; none where the server does not tell. */
function cacheRows({ last, rereadTokens, rereadMs }: Session["context"]["cache"], width: number): Row[] {
  if (last === null) return [];
  const { promptTokens, cachedTokens } = last;
  const time = rereadMs > 0 ? ` in ${(rereadMs / 1000).toFixed(1)} s` : "";
  const again = rereadTokens > 0 ? `; read again in this session: ${tokensText(rereadTokens)}${time}` : "";
  const text = `prompt cache: ${tokensText(cachedTokens)} of the last ${tokensText(promptTokens)} tokens${again}`;
  return wrap([span(text, "dim")], { width, indent: [span("  ")] });
}

/** Takes back what the last turn that changed files did to them. */
export async function undoLast({ chat, view }: CommandTarget): Promise<void> {
  const undone = await chat.undo();
  if (undone === null) return view.print([row("no turn of this session has changed files", "dim")]);
  const { place, restored } = undone;
  const { session: { workspace } } = await chat.ready();
  const turn = place === null ? "earlier changes" : `turn ${place.turn} of ${place.of}`;
  view.print([row(`undid ${turn}:`), ...fileRows(restored, workspace)]);
}

/** Shows what the session changed: each file as it was before its first change, against what it is now. */
export async function showDiff({ chat, view }: CommandTarget): Promise<void> {
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
    const [now] = workspace.readAll([resolved], { limit: 1024 * 1024 });
    if (now === undefined) continue;
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

/**
 * Writes the whole session into a new file: into the exports of the home, or where the argument says. Its form is named
 * first (`json`, `html`, `markdown`), or told by the end of the file's name.
 */
export async function exportSession(argument: string, { chat, view, context }: CommandTarget): Promise<void> {
  const { session, transcriptFile, recorder } = await chat.ready();
  if (transcriptFile === null || releaseIn(session.items) !== undefined) {
    return view.print([row("this session is not stored, so there is nothing to export", "dim")]);
  }
  if (session.items.length === 0) return view.print([row("nothing to export yet", "dim")]);
  await recorder.settle();
  const [, word = "", path = ""] = /^(?:(json|html|markdown|md)(?=\s|$))?\s*(.*)$/s.exec(argument) ?? [];
  const [{ documentText, openDocument }, { formatOf, writeExport }, { findSession }] = await Promise.all([
    import("../../sessions/document.ts"),
    import("../../sessions/run.ts"),
    import("../../../session/list.ts"),
  ]);
  const format = formatOf(word === "" ? path : `.${word}`);
  const home = await openHome(context.io);
  const found = await findSession(home, session.id, { projectRoot: session.workspace.root });
  const text = await documentText(await openDocument(home, found), format);
  const name = exportName(session.id, format, context.io.clock.now());
  if (path === "") await home.write(name, text);
  else await writeExport(path, text, context);
  view.print(textRows(`wrote ${path === "" ? home.file(name) : path}`, { width: view.width(), style: "dim" }));
}

/** A name that no export before it has: `exports/session-1a2b3c4d-20260131-235959.md`. */
function exportName(id: string, format: "json" | "html" | "markdown", now: number): string {
  const time = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  return `exports/session-${id.slice(0, 8)}-${time}.${format === "markdown" ? "md" : format}`;
}

/** Says what is protected here, and whether the model of the session counts as local. */
export async function showSecrets({ chat, view, context }: CommandTarget): Promise<void> {
  const model = chat.opened === null ? undefined : selectorOf(chat.opened);
  const { listProtected } = await import("../../secrets/show.ts");
  await listProtected({ options: { model }, arguments: [], context: { ...context, io: toView(context.io, view) } });
}

/** The outside of a command that is called from the chat: what it prints becomes rows. */
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
