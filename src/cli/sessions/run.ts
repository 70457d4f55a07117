/** Runs `agentcli sessions …`: lists, prints, exports and deletes stored sessions. */
import { keptRoots } from "../../boundary/policy/identity.ts";
import { projectRootOf } from "../../boundary/policy/project.ts";
import { lstatSync, statSync, writeAtomically } from "../../platform/files.ts";
import { quietly } from "../../platform/real_path.ts";
import { ageText, findSession, listSessions, type SessionScope, type SessionSummary } from "../../session/list.ts";
import { modelName } from "../../config/find.ts";
import { clean, cleanLine } from "../../terminal/clean.ts";
import { confirmed, notice, print, warn } from "../result.ts";
import type { ExportFormat } from "./document.ts";
import type { Context, Invocation } from "../command.ts";
import type { EXPORT_OPTIONS, LIST_OPTIONS, PRUNE_OPTIONS } from "../conversation_commands.ts";
import { sessionMarkdown, sessionValue } from "../../session/export.ts";
import { AgentcliError } from "../../errors.ts";
import { counted, sizeText } from "../../platform/number.ts";
import { resolve } from "../../platform/path.ts";
import { failureReason } from "../../platform/disk_failure.ts";
import { deleteSession } from "../../session/open_transcript.ts";
import { VERSION } from "../version.ts";
import { type Home, openHome } from "../../platform/home.ts";

/** Runs the command. */
export async function listStored({ options, context }: Invocation<typeof LIST_OPTIONS>): Promise<void> {
  const { home, scope } = await openScope(context, options);
  const sessions = await listSessions(home, scope);
  const hasProtected = sessions.some(({ label }) => label !== "open");
  const extra = <T>(label: T, project: T) => [...hasProtected ? [label] : [], ...options.all ? [project] : []];
  const heading = ["ID", "UPDATED", "TURNS", "MODEL", ...extra("LABEL", "PROJECT"), "NAME OR PROMPT"];
  const now = context.io.clock.now();
  const rows = sessions.map((session) => {
    const { id, updated, turns, provider, model, label, title, firstPrompt } = session;
    const named = `${provider === undefined ? "" : `${provider}:`}${modelName(model)}`;
    const words = cleanLine(title || firstPrompt);
    const more = extra(label, projectText(session));
    return [id.slice(0, 8), ageText(now - updated), String(turns), clean(named), ...more, words];
  });
  const none = options.all
    ? "no sessions are stored"
    : "no sessions in this project; --all lists those of all projects";
  await print(context, { json: { sessions: sessions.map(summaryJson) }, table: [heading, ...rows], none });
}

function projectText({ projectRoot }: SessionSummary): string {
  if (projectRoot === null) return "unknown";
  const there = quietly(() => statSync(projectRoot));
  return `${clean(projectRoot)}${there === null ? " (gone)" : ""}`;
}

/** Runs the command. */
export async function showStored(invocation: Invocation<typeof LIST_OPTIONS>): Promise<void> {
  const { context } = invocation;
  const { home, session } = await openNamed(invocation);
  const { openDocument } = await import("./document.ts");
  const stored = await openDocument(home, session);
  await print(context, { json: sessionValue(stored), text: clean(sessionMarkdown(stored), { multiline: true }) });
  for (const problem of stored.problems) await warn(context, problem);
}

/** Runs the command. `--json` is `--format json`; without both, the extension of the file decides. */
export async function exportStored(invocation: Invocation<typeof EXPORT_OPTIONS>): Promise<void> {
  const { options, context } = invocation;
  const { io, globals } = context;
  if (options.html && (options.format ?? "html") !== "html") {
    throw new AgentcliError("usage", `--html and --format ${options.format} exclude each other`);
  }
  const { home, session } = await openNamed(invocation);
  const { documentText, openDocument } = await import("./document.ts");
  const stored = await openDocument(home, session);
  const format = options.html ? "html" : options.format ?? (globals.json ? "json" : formatOf(options.output ?? ""));
  const text = documentText(stored, format);
  if (options.output === undefined) {
    await io.stdout.write(io.stdout.isTerminal ? clean(text, { multiline: true }) : text);
  } else {
    await writeExport(options.output, text, context);
    await notice(context, `wrote ${options.output}`);
  }
  for (const problem of stored.problems) await warn(context, problem);
}

/** Returns the format for the extension of a file. */
export function formatOf(file: string): ExportFormat {
  const ending = /\.(json|html)$/i.exec(file)?.[1]?.toLowerCase();
  return ending === "json" || ending === "html" ? ending : "markdown";
}

/** For the owner alone: a session can hold what other users of the machine should not read. */
export async function writeExport(output: string, text: string, { globals }: Context): Promise<void> {
  const path = resolve(globals.cwd, output);
  try {
    const found = lstatSync(path);
    if (found?.kind === "directory" || /[/\\]$/.test(output)) {
      throw new AgentcliError("usage", `${output} is a directory`, { hint: "name a file in it" });
    }
    if (found !== null && found.kind !== "file") throw new AgentcliError("usage", `${path} is no regular file`);
    if (found !== null && !globals.yes) {
      throw new AgentcliError("usage", `${path} already exists`, {
        hint: "choose another name, or pass --yes to replace it",
      });
    }
    await writeAtomically(path, text, { mode: 0o600 });
  } catch (error) {
    if (error instanceof AgentcliError) throw error;
    throw new AgentcliError("usage", `cannot write ${path}: ${failureReason(error)}`, { cause: error });
  }
}

/** Returns 1 if the user declined. */
export async function deleteOne(invocation: Invocation<typeof LIST_OPTIONS>): Promise<number> {
  const { context } = invocation;
  const { home, session } = await openNamed(invocation);
  const { id, turns, title, firstPrompt } = session;
  const what = `${id} (${counted(turns, "turn")}: ${clean((title || firstPrompt).slice(0, 60))})`;
  if (!await confirmed(context, `Delete the session ${what}?`)) return 1;
  await deleteSession(home, session);
  await print(context, { json: { id, change: "deleted" }, text: `deleted ${id}\n` });
  return 0;
}

/** Runs the command. */
export async function renameOne(invocation: Invocation<typeof LIST_OPTIONS>): Promise<void> {
  const { arguments: [, name = ""], context } = invocation;
  const { home, session } = await openNamed(invocation);
  const [{ titleOf }, { ContentScanner }, { renameSession }] = await Promise.all([
    import("../../runtime/user_input.ts"),
    import("../../agent/content_scanner.ts"),
    import("../../session/open_transcript.ts"),
  ]);
  const root = session.projectRoot ?? projectRootOf(context.globals.cwd, context.io);
  const title = await titleOf(name, await ContentScanner.at(home, keptRoots([root]), {}));
  await renameSession(home, session, { title, version: VERSION, clock: context.io.clock });
  const { id } = session;
  const text = title === "" ? `${id} no longer has a name\n` : `${id} is now named ${clean(title)}\n`;
  await print(context, { json: { id, title: title === "" ? null : title }, text });
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns 1 if the user declined. Sessions in use are skipped. */
export async function pruneSessions({ options, context }: Invocation<typeof PRUNE_OPTIONS>): Promise<number> {
  const { io, globals } = context;
  const { olderThan } = options;
  if (olderThan === undefined) {
    throw new AgentcliError("usage", "agentcli sessions prune needs --older-than", {
      hint: "for example: --older-than 30",
    });
  }
  const { home, scope } = await openScope(context, options);
  const limit = io.clock.now() - olderThan * DAY_MS;
  const old = (await listSessions(home, scope)).filter((session) => session.updated < limit);
  if (old.length === 0 && !globals.json) {
    await notice(context, `no session is older than ${olderThan} days`);
    return 0;
  }
  const size = old.reduce((sum, session) => sum + session.size, 0);
  const what = `${counted(old.length, "session")} (${sizeText(size)})`;
  if (old.length > 0 && !await confirmed(context, `Delete ${what} older than ${olderThan} days?`)) return 1;
  const deleted: string[] = [];
  for (const session of old) {
    try {
      await deleteSession(home, session);
      deleted.push(session.id);
    } catch (error) {
      if (!(error instanceof AgentcliError) || error.code !== "session_in_use") throw error;
      await warn(context, `${session.id} is in use and was kept`);
    }
  }
  await print(context, { json: { deleted }, text: `deleted ${deleted.length} of ${what}\n` });
  return 0;
}

/** The home, and the project of the working directory, or all of them. With `all` the directory need not exist. */
export async function openScope(
  { io, globals }: Context,
  options: { all: boolean },
): Promise<{ home: Home; scope: SessionScope }> {
  const home = await openHome(io);
  if (options.all) return { home, scope: "all" };
  return { home, scope: { projectRoot: projectRootOf(globals.cwd, io) } };
}

/** The one session that a command names. Throws `unknown_session`. */
async function openNamed(
  { options, arguments: [id = ""], context }: Invocation<typeof LIST_OPTIONS>,
): Promise<{ home: Home; session: SessionSummary }> {
  const { home, scope } = await openScope(context, options);
  return { home, session: await findSession(home, id, scope) };
}

function summaryJson(session: SessionSummary): Record<string, unknown> {
  return {
    id: session.id,
    project: session.projectRoot,
    title: session.title === "" ? null : session.title,
    first_prompt: session.firstPrompt,
    created: session.created === "" ? null : session.created,
    updated: new Date(session.updated).toISOString(),
    turns: session.turns,
    provider: session.provider ?? null,
    model: session.model,
    label: session.label,
    size: session.size,
  };
}
