/** Runs the installed hooks with recorded input, starts the servers, and says what does not load. */
import { type Finding, startsProgram, tryServer } from "../../editor/doctor/try_server.ts";
import { isGuard, missingGuards, type Origin, originOf, unprovenGuard } from "../../editor/doctor/guard_state.ts";
import { isAssistantGuard, tryAssistants } from "../../editor/doctor/try_assistant.ts";
import { subjectOf, tryHooks } from "../../editor/doctor/try_hook.ts";
import type { FoundArtifact, PlaceProblem } from "../../editor/resources/found.ts";
import { artifactId } from "../../editor/resources/artifact.ts";
import { inspect } from "../../editor/resources/inspect.ts";
import { LIMITS } from "../../editor/limits.ts";
import { earlierVersions } from "../../editor/hooks/upgrade.ts";
import { clean } from "../../terminal/clean.ts";
import { confirm } from "../../terminal/prompt.ts";
import { notice, print } from "../result.ts";
import type { Context, Invocation } from "../command.ts";
import { type EditorContext, openEditorContext } from "./context.ts";
import type { DOCTOR_OPTIONS } from "./command.ts";

/** Runs hooks and servers. Returns 1 if one does not work or does not load. */
export async function run({ options, context }: Invocation<typeof DOCTOR_OPTIONS>): Promise<number> {
  const { io, globals } = context;
  const editor = await openEditorContext(options, context);
  const { ledger, installed } = editor;
  const { found, problems, notes } = await inspect(editor.dialect, editor.around, ledger);
  const earlier = await earlierVersions(installed);
  const findings: Finding[] = [
    ...problems.map((one) => problemOfPlace(one, editor)),
    ...[...notes, ...earlier].map((message): Finding => ({ level: "note", subject: "place", message })),
    ...found.flatMap((one) => problemsOf(one, editor)),
  ];
  const tried = await chooseTried(found, {
    origin: (one) => originOf(one, { ledger, root: editor.around.root }),
    mayRunOthers: async (count) => options.foreign || await askForOthers(count, context),
  });
  findings.push(...tried.skipped);
  const progress = async (text: string) => {
    if (io.stderr.isTerminal && !globals.json) await notice(context, text);
  };
  findings.push(...await tryHooks(tried.hooks, { root: editor.around.root, io, progress }));
  findings.push(...await tryAssistants(installed, { root: editor.around.root, io, progress }));
  const hasGuard = installed.some((one) => artifactId(one) === "hook:no-cloud-guard" && !isAssistantGuard(one));
  const isStopped = problems.some(({ unusable }) => unusable);
  // Whoever uses only another assistant does not need this editor.
  if (hasGuard || !installed.some(isAssistantGuard)) {
    findings.push(...missingGuards(found, { installed: hasGuard, isStopped }));
  }
  let tools = 0;
  for (const [index, server] of tried.servers.entries()) {
    await progress(`server ${index + 1} of ${tried.servers.length}: ${server.name}`);
    const trial = await tryServer(server, editor.around.root, io);
    tools += trial.tools;
    findings.push(trial.finding);
  }
  if (tools > LIMITS.activeTools) findings.push(tooManyTools(tools));
  return await printFindings(findings, editor);
}

function tooManyTools(count: number): Finding {
  return {
    level: "failure",
    subject: "servers",
    message: `${count} tools are active; the editor accepts at most ${LIMITS.activeTools}`,
    fix: 'disable some: "disabledTools" or "disabled" of a server',
  };
}

function problemOfPlace({ path, message, unusable }: PlaceProblem, { shown }: EditorContext): Finding {
  const fix = unusable ? { fix: `repair ${shown(path)}, or move it away` } : {};
  return { level: "failure", subject: "place", message: `${shown(path)}: ${message}`, ...fix };
}

function problemsOf({ kind, name, path, problems, ours }: FoundArtifact, { shown }: EditorContext): Finding[] {
  const fix = ours ? `agentcli editor show ${kind}:${name}` : `repair ${shown(path)}`;
  return problems.map((message) => ({ level: "failure", subject: `${kind} ${name}`, message, fix }));
}

/** Chooses what to run: our own artifacts, and those of others only with `--foreign` or after confirmation. */
async function chooseTried(
  found: readonly FoundArtifact[],
  { origin, mayRunOthers }: {
    origin(one: FoundArtifact): Promise<Origin>;
    mayRunOthers(count: number): Promise<boolean>;
  },
): Promise<{ hooks: FoundArtifact[]; servers: FoundArtifact[]; skipped: Finding[] }> {
  const candidates = found.filter(({ kind, entry, problems, otherAgent }) =>
    typeof entry === "object" && entry !== null && otherAgent !== true &&
    (kind === "hook" || (kind === "mcp" && problems.length === 0))
  );
  const judged = await Promise.all(candidates.map(async (one) => {
    // Only what starts a program can do harm.
    return { one, origin: one.kind === "hook" || startsProgram(one) ? await origin(one) : "own" as const };
  }));
  const others = judged.filter(({ origin }) => origin !== "own").length;
  const all = others === 0 || await mayRunOthers(others);
  const chosen = judged.filter(({ origin }) => all || origin === "own").map(({ one }) => one);
  return {
    hooks: chosen.filter(({ kind }) => kind === "hook"),
    servers: chosen.filter(({ kind }) => kind === "mcp"),
    skipped: judged.filter(({ origin }) => !all && origin !== "own").map(({ one, origin }) => skipped(one, origin)),
  };
}

/** Asks on a terminal; elsewhere nobody can be asked, and what others wrote is not run. */
async function askForOthers(count: number, { io, globals }: Context): Promise<boolean> {
  if (!io.stdin.isTerminal || !io.stderr.isTerminal || globals.json || globals.yes) return false;
  const what = count === 1 ? "one hook or server" : `${count} hooks and servers`;
  return await confirm(io, `Also run ${what} written by others? They are programs with your permissions.`);
}

function skipped(one: FoundArtifact, origin: Origin): Finding {
  const subject = one.kind === "hook" ? subjectOf(one) : `server ${one.name}`;
  if (one.kind === "hook" && isGuard(one.entry)) return unprovenGuard(subject, origin);
  const [why, fix] = origin === "changed"
    ? ["changed since it was installed", "agentcli editor check shows the difference; --foreign runs it"]
    : ["written by others", "review it; --foreign runs it"];
  return { level: "skipped", subject, message: `it was ${why}, so it was not run`, fix };
}

async function printFindings(findings: readonly Finding[], { context, dialect }: EditorContext): Promise<number> {
  const count = (level: Finding["level"]) => findings.filter((one) => one.level === level).length;
  const failed = count("failure") > 0;
  const lines = findings.map(({ level, subject, message, fix }) =>
    `${level}: ${clean(subject)}: ${clean(message)}\n${fix === undefined ? "" : `  fix: ${clean(fix)}\n`}`
  );
  const json = { ok: !failed, dialect: dialect.id, skipped: count("skipped"), findings };
  const left = count("skipped") === 0 ? "" : `; ${count("skipped")} not run`;
  const verdict = failed ? "some hooks or servers do not work" : "all hooks and servers that were run work";
  await print(context, { json, text: lines.join(""), notes: [verdict + left] });
  return failed ? 1 : 0;
}
