/** Lists the stored sessions of this project, or of all. */
import { stat } from "../../platform/files.ts";
import { listSessions, type SessionSummary } from "../../session/list.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { table } from "../../terminal/table.ts";
import { notice } from "../say.ts";
import type { Invocation } from "../verb.ts";
import { openScope } from "./scope.ts";
import { minute, sizeText, summaryJson } from "./summary_text.ts";
import type { LIST_OPTIONS } from "./verb.ts";

/** Runs the verb. */
export async function run({ options, context }: Invocation<typeof LIST_OPTIONS>): Promise<void> {
  const { io, globals } = context;
  const { home, scope } = await openScope(context, options);
  const sessions = await listSessions(home, scope);
  if (globals.json) {
    await io.stdout.write(jsonText({ sessions: sessions.map(summaryJson) }));
    return;
  }
  if (sessions.length === 0) {
    await notice(context, options.all ? "no sessions are stored" : "no sessions of this project; --all shows all");
    return;
  }
  const width = io.stdout.isTerminal ? io.stdout.columns() : Infinity;
  const heading = [
    "ID",
    "WRITTEN (UTC)",
    "TURNS",
    "SIZE",
    "MODEL",
    "LABEL",
    ...options.all ? ["PROJECT"] : [],
    "PROMPT",
  ];
  const rows = await Promise.all(sessions.map((session) => row(session, options)));
  await io.stdout.write(table([heading, ...rows], { width }));
}

async function row(session: SessionSummary, { all }: { all: boolean }): Promise<string[]> {
  const { id, updated, turns, size, provider, model, label, firstPrompt } = session;
  const named = provider === undefined ? model : `${provider}:${model}`;
  const prompt = clean(firstPrompt.replace(/\s+/g, " ").trim());
  const project = all ? [await projectText(session)] : [];
  return [id, minute(updated), String(turns), sizeText(size), clean(named), label, ...project, prompt];
}

async function projectText({ projectRoot }: SessionSummary): Promise<string> {
  if (projectRoot === null) return "unknown";
  const there = await stat(projectRoot).catch(() => null);
  return `${clean(projectRoot)}${there === null ? " (gone)" : ""}`;
}
