/** Stored sessions in a chat: the list to choose one of, and going on with it. Loaded when one is asked for. */
import { isLocal } from "../../../boundary/policy/locality.ts";
import { effectiveBaseUrl } from "../../../config/base_url.ts";
import { counted } from "../../../platform/number.ts";
import { findProjectContext } from "../../../runtime/project_context.ts";
import { listSessions, type SessionSummary } from "../../../session/list.ts";
import { clean } from "../../../terminal/clean.ts";
import { textRows } from "../view/event_rows.ts";
import { row } from "../../../terminal/style.ts";
import type { Choice } from "../../../terminal/picker.ts";
import { fit } from "../../../terminal/table.ts";
import type { CommandTarget } from "./commands.ts";
import { ageText } from "../view/replay.ts";

/** Cells of the first words. */
const WORDS = 60;

/** Asks which stored session of this project to go on with; null for none of them. `current` is not offered. */
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
    const local = isLocal(effectiveBaseUrl(provider, io.env), localEndpoints);
    return [provider.name, local ? "local" : "remote"] as const;
  }));
  const now = io.clock.now();
  const choices = stored.map((summary) => choiceOf(summary, { now, place: place.get(summary.provider ?? "") }));
  const chosen = await view.pick({ title: "Which session? (type to search)", choices });
  return stored[chosen ?? -1]?.id ?? null;
}

function choiceOf(summary: SessionSummary, { now, place }: { now: number; place: string | undefined }): Choice {
  const { id, updated, title, firstPrompt, turns, provider, model, label } = summary;
  const words = clean((title || firstPrompt).replace(/\s+/g, " ").trim());
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

/** Goes on with a stored session of this project: the one that is named, or one of a list. */
export async function resumeStored(argument: string, { chat, view, context }: CommandTarget): Promise<void> {
  const current = chat.opened?.session.id ?? null;
  const id = argument === "" ? await chooseStored({ view, context, current }) : argument;
  if (id === null) return;
  await view.replay(await view.during("reading the session", chat.resume(id)));
}

/** Names the session. Without a name on the line, asks for one. */
export async function renameThis(argument: string, { chat, view }: CommandTarget): Promise<void> {
  const name = argument === "" ? await view.ask("Name of this session (empty: none)") : argument;
  if (name === null) return;
  const isStored = await chat.rename(name);
  const said = !isStored
    ? "this session is not stored, so it has no name"
    : name.trim() === ""
    ? "the session has no name any more"
    : `the session is named ${clean(name.trim())}`;
  view.print(textRows(said, { width: view.width(), style: "dim" }));
}
