/**
 * Sessions of a chat as a whole: resuming a stored one, starting another, naming and exporting this one. Loaded with
 * the first.
 */
import { isLocalProvider } from "../../../config/endpoint.ts";
import { openHome } from "../../../platform/home.ts";
import { counted } from "../../../platform/number.ts";
import { findProjectContext } from "../../../runtime/project_context.ts";
import { ageText, listSessions, type SessionSummary } from "../../../session/list.ts";
import { releaseIn } from "../../../session/item.ts";
import { clean, cleanLine } from "../../../terminal/clean.ts";
import { textRows } from "../view/event_rows.ts";
import { row } from "../../../terminal/style.ts";
import type { Choice } from "../../../terminal/picker.ts";
import { fit } from "../../../terminal/table.ts";
import type { CommandTarget } from "./commands.ts";

/** Cells of the first words. */
const WORDS = 60;

/** Asks which stored session of this project to resume; null for none of them. `current` is not offered. */
export async function chooseStored(
  { view, context, current }: Pick<CommandTarget, "view" | "context"> & { current: string | null },
): Promise<string | null> {
  const { io, globals } = context;
  const { home, projectRoot, configuration, localEndpoints } = await findProjectContext({ io, cwd: globals.cwd });
  const stored = (await listSessions(home, { projectRoot })).filter(({ id }) => id !== current);
  if (stored.length === 0) {
    view.print([row(`there is no ${current === null ? "" : "other "}session of this project`, "dim")]);
    return null;
  }
  const place = new Map(configuration.providers.map((provider) => {
    const local = isLocalProvider(provider, io, localEndpoints);
    return [provider.name, local ? "local" : "remote"] as const;
  }));
  const now = io.clock.now();
  const choices = stored.map((summary) => choiceOf(summary, { now, place: place.get(summary.provider ?? "") }));
  const chosen = await view.pick({ title: "Which session? (type to search)", choices });
  return stored[chosen ?? -1]?.id ?? null;
}

function choiceOf(summary: SessionSummary, { now, place }: { now: number; place: string | undefined }): Choice {
  const { id, updated, title, firstPrompt, turns, provider, model, label } = summary;
  const words = cleanLine(title || firstPrompt);
  const named = provider === undefined ? model : `${provider}:${model}`;
  const facts = [
    counted(turns, "turn"),
    ...named === "" ? [] : [named],
    ...place === undefined ? [] : [place],
    ...label === "open" ? [] : ["no-cloud"],
    id.slice(0, 8),
  ];
  return { label: `${ageText(now - updated).padEnd(8)}  ${fit(words, WORDS) || id}`, note: facts.join(" · ") };
}

/** Resumes a stored session of this project: the named one, or one of a list. */
export async function resume(argument: string, { chat, view, context }: CommandTarget): Promise<void> {
  const current = chat.opened?.session.id ?? null;
  const id = argument === "" ? await chooseStored({ view, context, current }) : argument;
  if (id === null) return;
  await view.replay(await view.during("reading the session", chat.resume(id)));
}

/** Names the session. Without a name on the line, asks for one. */
export async function rename(argument: string, { chat, view }: CommandTarget): Promise<void> {
  const name = argument === "" ? await view.ask("Name of this session (empty: none)") : argument;
  if (name === null) return;
  const isStored = await chat.rename(name);
  const said = !isStored
    ? "this session is not stored, so it has no name"
    : name.trim() === ""
    ? "the session no longer has a name"
    : `the session is named ${clean(name.trim())}`;
  view.print(textRows(said, { width: view.width(), style: "dim" }));
}

/**
 * Writes the whole session into a new file: into the exports of the home, or where the argument says. Its format is
 * named first (`json`, `html`, `markdown`), or recognized by the end of the file's name.
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
  const text = documentText(await openDocument(home, found), format);
  const name = exportName(session.id, format, context.io.clock.now());
  if (path === "") await home.write(name, text);
  else await writeExport(path, text, context);
  view.print(textRows(`wrote ${path === "" ? home.file(name) : path}`, { width: view.width(), style: "dim" }));
}

/** A name that no earlier export has: `exports/session-1a2b3c4d-20260131-235959.md`. */
function exportName(id: string, format: "json" | "html" | "markdown", now: number): string {
  const time = new Date(now).toISOString().slice(0, 19).replaceAll(/[-:]/g, "").replace("T", "-");
  return `exports/session-${id.slice(0, 8)}-${time}.${format === "markdown" ? "md" : format}`;
}

/** Begins a new session; the previous one is kept. */
export async function clear(_: string, { chat, view }: CommandTarget): Promise<void> {
  await view.during("beginning a new session", chat.clear());
  view.clear();
  view.print([row("a new session; the other one is kept (/resume)", "dim")]);
}

/** Leaves the chat. */
export async function exit(_: string, { view }: CommandTarget): Promise<void> {
  view.leave();
  return await Promise.resolve();
}
