/** Runs `agentcli mcp install` and `uninstall`: the server, the guard and the rule of an assistant, as one plan. */
import { findProgram } from "../../boundary/programs.ts";
import {
  type Assistant,
  assistantPlaces,
  ASSISTANTS,
  type AssistantScope,
  isAssistant,
} from "../../editor/assistants.ts";
import { DIALECTS } from "../../editor/dialect.ts";
import { filesWithoutHooks } from "../../editor/doctor/try_assistant.ts";
import { parametersOf, scriptsOf } from "../../editor/hooks/scaffold.ts";
import { SCAFFOLDS } from "../../editor/hooks/events.ts";
import type { Installed } from "../../editor/plan/ledger.ts";
import { type Artifact, artifactId, decodeBase64 } from "../../editor/resources/artifact.ts";
import { makeRule, makeScaffold, makeServer } from "../../editor/resources/make_artifact.ts";
import {
  GUARD_NAME,
  makeAssistantGuard,
  makeOwnServer,
  makePrivateRule,
  RULE_NAME,
  RULE_TEXT,
} from "../../editor/resources/make_assistant.ts";
import { AgentcliError } from "../../errors.ts";
import { SERVER_NAME, SERVER_WORDS } from "../../mcp/own_server.ts";
import { lstatSync } from "../../platform/files.ts";
import { isAbsolute, join } from "../../platform/path.ts";
import { ownCommand } from "../../platform/runtime.ts";
import type { Context, Invocation } from "../command.ts";
import { planAndApply, warnUnprotected } from "../editor/apply.ts";
import { type EditorContext, openEditorContext } from "../editor/context.ts";
import { notice } from "../output.ts";
import type { INSTALL_OPTIONS, UNINSTALL_OPTIONS } from "./command.ts";

/** Artifacts of an assistant, the guard last: whoever keeps it names the others. */
const NAMES = [`mcp:${SERVER_NAME}`, `rule:${RULE_NAME}`, `hook:${GUARD_NAME}`];

async function editorOf(id: string, context: Context): Promise<EditorContext> {
  return { ...await openEditorContext({ dialect: "windsurf" }, context), shownDialect: id };
}

/** Runs the command. Returns 1 where a file of somebody else is in the way. */
export async function installAssistant(
  { options, arguments: [id = ""], context }: Invocation<typeof INSTALL_OPTIONS>,
): Promise<number> {
  const editor = await editorOf(id, context);
  const scope: AssistantScope = options.user ? "user" : "project";
  // Windsurf is one of the editors.
  const assistant = isAssistant(id) ? ASSISTANTS[id] : null;
  const program = await programOf(options.program, editor);
  const installed = installedOf(editor, { id, scope });
  const request: Request = { scope, editor, program, guard: installed.find(({ kind }) => kind === "hook") };
  const add = assistant === null ? forWindsurf(request) : forAssistant(assistant, request);
  const code = await planAndApply({ add, force: options.force }, editor, options);
  if (context.globals.json) return code;
  for (const note of notesOf(assistant, request)) await notice(context, `note: ${note}`);
  await warnUnprotected(editor);
  return code;
}

/**
 * The program as files name it: by its name in those of a project, which others share; by its whole path in the user's.
 */
interface Program {
  name: string;
  path: string;
}

/** Throws `usage` where no program file is known: a guard that cannot start it blocks everything. */
async function programOf(
  named: string | undefined,
  { context: { io }, around: { root } }: EditorContext,
): Promise<Program> {
  if (named !== undefined) {
    if (!isAbsolute(named)) {
      throw new AgentcliError("usage", "--program takes the whole path of the program", {
        hint: "such as /usr/local/bin/agentcli",
      });
    }
    return { name: named, path: named };
  }
  const found = await findProgram("agentcli", { path: io.env("PATH") ?? "", roots: [root], io });
  if (found !== null) return { name: "agentcli", path: found };
  const [path, ...words] = ownCommand() ?? [];
  // A binary is a program file; the other forms need a launcher.
  if (path !== undefined && words.length === 0) return { name: path, path };
  throw new AgentcliError("usage", "agentcli is not on PATH, where the assistant's hook and server would look for it", {
    hint: "put it there, or name its program with --program /whole/path/of/agentcli",
  });
}

interface Request {
  scope: AssistantScope;
  editor: EditorContext;
  program: Program;
  /** The guard that is installed already: its time limit stays. */
  guard: Installed | undefined;
}

function guardScripts({ guard, program, scope }: Request) {
  const script = guard?.resources.map(({ resource }) => resource).find(({ path }) =>
    path.endsWith(`/${GUARD_NAME}.sh`)
  );
  const known = script?.kind === "file"
    ? parametersOf(GUARD_NAME, new TextDecoder().decode(decodeBase64(script.content)))
    : [];
  const agentcli = scope === "project" ? program.name : program.path;
  return scriptsOf(GUARD_NAME, new Map([...known, ["agentcli", agentcli], ["ask_private", "yes"]]));
}

function forAssistant(assistant: Assistant, request: Request): Artifact[] {
  const { scope, editor: { around, context }, program } = request;
  const places = assistantPlaces(assistant, scope, { ...around, env: context.io.env });
  const to = { dialect: assistant, places };
  const command = scope === "project" ? program.name : program.path;
  const rule = makePrivateRule(to);
  return [
    makeOwnServer({ command, args: [...scope === "project" ? assistant.servers.words : [], ...SERVER_WORDS] }, to),
    makeAssistantGuard(guardScripts(request), { ...to, os: around.os }),
    ...rule === null ? [] : [rule],
  ];
}

/** Its servers are those of the user, whatever the scope. */
function forWindsurf(request: Request): Artifact[] {
  const { scope, editor, program } = request;
  const dialect = DIALECTS.windsurf;
  const to = { dialect, places: editor.places(scope) };
  const server = { command: program.path, args: SERVER_WORDS, env: {} };
  return [
    makeServer(SERVER_NAME, server, { to: { dialect, places: editor.places("user") } }),
    makeScaffold(GUARD_NAME, guardScripts(request), { ...SCAFFOLDS[GUARD_NAME], to }),
    makeRule(RULE_NAME, RULE_TEXT, { fields: { trigger: "always_on" }, to }),
  ];
}

/** Returns what is installed for an assistant in a scope; the server of Windsurf is the user's in both. */
function installedOf(
  { around, ledger }: EditorContext,
  { id, scope }: { id: string; scope: AssistantScope },
): Installed[] {
  const base = scope === "project" ? around.root : around.userHome;
  return ledger.artifacts.filter((one) =>
    one.dialect === id && NAMES.includes(artifactId(one)) &&
    ((one.scope === scope && one.base === base) || (id === "windsurf" && one.kind === "mcp"))
  );
}

function notesOf(assistant: Assistant | null, { scope, editor: { around, context } }: Request): string[] {
  if (assistant === null) {
    return [
      "Windsurf reads servers from the user's file alone: the server is there for all of your projects",
      "restart Windsurf, or refresh its MCP servers",
    ];
  }
  const { label, directory, variable, notes } = assistant;
  const named = variable === null ? undefined : context.io.env(variable);
  const home = named ?? join(around.userHome, directory);
  const isThere = lstatSync(home) !== null;
  const off = filesWithoutHooks(assistant.id, [join(around.root, directory), home]);
  return [
    ...isThere ? [] : [`${label} has no directory in your home (${home}): it finds this once it is installed`],
    ...off.map((path) => `${path} switches all hooks off, so nothing is blocked: take the switch out of the file`),
    ...notes[scope],
  ];
}

/** Runs the command. Returns 1 where something had to stay. */
export async function uninstallAssistant(
  { options, arguments: [id = ""], context }: Invocation<typeof UNINSTALL_OPTIONS>,
): Promise<number> {
  const editor = await editorOf(id, context);
  const scope: AssistantScope = options.user ? "user" : "project";
  const all = installedOf(editor, { id, scope });
  // Windsurf has one server for all projects: it is removed with the last one that has the rule which names it.
  const isShared = id === "windsurf" &&
    editor.ledger.artifacts.some((one) => one.dialect === id && one.name === RULE_NAME && !all.includes(one));
  const remove = all.filter(({ kind }) => !(options.keepGuard && kind === "hook") && !(isShared && kind === "mcp"));
  const other: AssistantScope = options.user ? "project" : "user";
  if (all.length === 0 && installedOf(editor, { id, scope: other }).length > 0) {
    const command = `agentcli mcp uninstall ${id}${options.user ? "" : " --user"}`;
    await notice(context, `it is installed ${options.user ? "in this project" : "for the user"}: ${command}`);
  }
  return await planAndApply({ remove, force: options.force }, editor, options);
}
