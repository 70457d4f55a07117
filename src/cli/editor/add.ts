/** Runs `editor add`, `editor init` and `editor persona`: installs artifacts. */
import { type Artifact, artifactId } from "../../editor/resources/artifact.ts";
import { didYouMean } from "../../config/suggest.ts";
import { DIALECT_IDS, DIALECTS, editorDirectories } from "../../editor/dialect.ts";
import {
  EVENTS,
  type HookEvent,
  isEvent,
  isFor,
  isScaffold,
  SCAFFOLD_IDS,
  type ScaffoldId,
  SCAFFOLDS,
} from "../../editor/hooks/events.ts";
import {
  type BundledFile,
  type Destination,
  makeHook,
  makeRule,
  makeScaffold,
  makeSection,
  makeServer,
  makeSkill,
  makeWorkflow,
  type McpServer,
} from "../../editor/resources/make_artifact.ts";
import { AgentcliError } from "../../errors.ts";
import { lstatSync } from "../../platform/files.ts";
import { join, relativeTo, resolve } from "../../platform/path.ts";
import { findProgram } from "../../boundary/programs.ts";
import type { Invocation, Values } from "../command.ts";
import { planAndApply, warnUnprotected } from "./apply.ts";
import { parseServer, readContent, readFolder, refuseIdleOptions } from "./content.ts";
import { notice, warn } from "../output.ts";
import { type EditorContext, openEditorContext } from "./context.ts";
import type { ADD_OPTIONS, CHANGE_OPTIONS, PERSONA_OPTIONS } from "./command.ts";
import { type Installed, type Ledger, readLedger } from "../../editor/plan/ledger.ts";
import { scaffoldAsNow } from "../../editor/hooks/upgrade.ts";
import { fieldText, readFrontmatter } from "../../editor/resources/markdown.ts";
import INSTRUCTIONS from "../../editor/starting_set/instructions.md" with { type: "text" };
import SKILL from "../../editor/starting_set/skill.md" with { type: "text" };
import WORKFLOW from "../../editor/starting_set/workflow.md" with { type: "text" };

type Given = Values<typeof ADD_OPTIONS>;

interface Request {
  name: string;
  options: Given;
  editor: EditorContext;
  to: Destination;
}

/** Adds one artifact. Returns 1 if another one is in its place. */
export async function addArtifact(
  { options, arguments: words, context }: Invocation<typeof ADD_OPTIONS>,
): Promise<number> {
  const [kind = "", given] = words;
  if (given === undefined && kind !== "instructions") {
    throw new AgentcliError("usage", `editor add ${kind} needs a name`, {
      hint: kind === "hook"
        ? `one of ${SCAFFOLD_IDS.join(", ")}, or a name for a custom hook`
        : "see: agentcli editor add --help",
    });
  }
  refuseIdleOptions(kind, given ?? "", options);
  const editor = await openEditorContext(options, context);
  const scope = options.scope ?? (kind === "mcp" ? "user" : "project");
  const to = { dialect: editor.dialect, places: editor.places(scope) };
  const add = [await makeArtifact(kind, { name: given ?? "", options, editor, to })];
  const code = await planAndApply({ add, force: options.force }, editor, options);
  if (code !== 0 || kind !== "hook") return code;
  if (isScaffold(given ?? "") && !options.set.some((word) => word.startsWith("agentcli="))) {
    await warnMissingProgram(editor);
  }
  if (given === "no-cloud-guard") await warnUnprotected(editor);
  return code;
}

/** Says so when the scripts of hooks would not find agentcli: a guard then blocks everything. */
async function warnMissingProgram({ context, around: { root } }: EditorContext): Promise<void> {
  const found = await findProgram("agentcli", { path: context.io.env("PATH") ?? "", roots: [root], io: context.io });
  if (found !== null) return;
  await warn(context, "agentcli is not on PATH, where the hooks look for it: they fail, and a guard blocks everything");
  await notice(context, "  put it there, or add the hook again with --set agentcli=<path of the program>");
}

async function makeArtifact(kind: string, request: Request): Promise<Artifact> {
  const { name, options, to } = request;
  switch (kind) {
    case "rule":
      return makeRule(name, await contentOf(request), { fields: options, to });
    case "workflow":
      return makeWorkflow(name, await contentOf(request), { description: options.description, to });
    case "skill":
      return await addSkill(request);
    case "hook":
      return isScaffold(name) ? await scaffoldHook(name, request) : ownHook(request);
    case "mcp":
      return makeServer(name, await serverOf(request), { to });
    default:
      return await addInstructions(request);
  }
}

async function addInstructions(request: Request): Promise<Artifact> {
  const { name, editor, to } = request;
  const { base, scope } = to.places;
  if (name !== "" && scope !== "project") {
    throw new AgentcliError("usage", `instructions with --scope ${scope} apply everywhere, not only to ${name}`, {
      hint: "omit the directory, or the scope",
    });
  }
  const place = name === "" ? base : resolve(editor.context.globals.cwd, name);
  const directory = relativeTo(base, place);
  const problem = place === base ? null : directoryProblem(place, directory, to);
  if (problem !== null) {
    throw new AgentcliError("usage", `${name} is not a place for instructions: ${problem}`, {
      hint: "name the directory they apply to; without a name, they apply to the project",
    });
  }
  const section = (directory.replace(/[^a-z0-9]+/gi, "-").replace(/^-|-$/g, "") || "notes").toLowerCase();
  return makeSection("instructions", section, { content: await contentOf(request), to, directory });
}

/** Returns why `AGENTS.md` cannot be created in a place; null where it can, and for the editor's old rules file. */
function directoryProblem(place: string, directory: string, { dialect }: Destination): string | null {
  if (directory === dialect.legacyRules) return null;
  const other = DIALECT_IDS.find((id) => DIALECTS[id].legacyRules === directory);
  if (other !== undefined) return `it is the rules file of another editor (--dialect ${other})`;
  const names = directory.toLowerCase().split("/");
  if (names.includes(".git")) return "it belongs to git";
  return names.at(-1) === "agents.md" || lstatSync(place)?.kind === "file" ? "it is a file" : null;
}

/** The text of `--file`, else of standard input unless that is a terminal. Throws `usage` where there is neither. */
async function contentOf({ options: { file }, editor }: Request, missing = "the content is missing"): Promise<string> {
  if (file !== undefined) return await readContent(file, editor);
  const text = editor.context.io.stdin.isTerminal ? "" : await readContent("-", editor);
  if (text.trim() !== "") return text;
  throw new AgentcliError("usage", missing, { hint: "give --file <path>, or pipe the content in" });
}

async function addSkill(request: Request): Promise<Artifact> {
  const { name, options, editor, to } = request;
  const directory = options.shared ? join(to.places.base, ".agents/skills") : undefined;
  if (options.dir !== undefined) return makeSkill(name, await readFolder(options.dir, editor), { to, directory });
  return makeSkill(name, skillFile(await contentOf(request, "a skill needs --dir, or the text of its SKILL.md")), {
    to,
    directory,
  });
}

/** Returns a skill that is only a text. */
function skillFile(text: string): BundledFile[] {
  return [{ path: "SKILL.md", bytes: new TextEncoder().encode(text), executable: false }];
}

/** A scaffolded hook of that name, on its own events or on the given ones. */
async function scaffoldHook(
  name: ScaffoldId,
  { options, to }: { options: Pick<Given, "set" | "event">; to: Destination },
): Promise<Artifact> {
  const { readParameters, scriptsOf } = await import("../../editor/hooks/scaffold.ts");
  const { events, guard, showOutput } = SCAFFOLDS[name];
  const named = options.event.length === 0 ? events : eventsOf(options.event);
  const wrong = named.find((event) => !isFor(name, event));
  if (wrong !== undefined) {
    throw new AgentcliError("usage", `${name} does nothing on the event ${wrong}`, {
      hint: `it is for ${EVENTS.filter((event) => isFor(name, event)).join(", ")}`,
    });
  }
  const parameters = readParameters(name, options.set);
  // Where the directory of the editor is not committed, a new worktree has no guard.
  if (name === "setup-worktree" && !parameters.has("copy")) {
    parameters.set("copy", editorDirectories(to.dialect).join(","));
  }
  return makeScaffold(name, scriptsOf(name, parameters), { events: named, guard, showOutput, to });
}

function eventsOf(words: readonly string[]): HookEvent[] {
  return words.map((word) => {
    if (isEvent(word)) return word;
    throw new AgentcliError("usage", `unknown event "${word}"`, {
      hint: didYouMean(word, EVENTS) ?? `the events are ${EVENTS.join(", ")}`,
    });
  });
}

function ownHook({ name, options, to }: Request): Artifact {
  const meant = options.command === undefined && options.powershell === undefined
    ? didYouMean(name, SCAFFOLD_IDS)
    : undefined;
  if (meant !== undefined) {
    throw new AgentcliError("usage", `there is no built-in hook "${name}"`, { hint: meant });
  }
  const entry = {
    command: options.command ?? "",
    powershell: options.powershell ?? "",
    ...(options.showOutput ? { show_output: true } : {}),
    ...(options.workingDirectory === undefined ? {} : { working_directory: options.workingDirectory }),
  };
  return makeHook(name, entry, { events: eventsOf(options.event), to });
}

function pairs(words: readonly string[], option: string): Record<string, string> {
  return Object.fromEntries(words.map((word) => {
    const at = word.indexOf("=");
    if (at < 1) throw new AgentcliError("usage", `${option} takes NAME=VALUE`);
    return [word.slice(0, at), word.slice(at + 1)];
  }));
}

async function serverOf(request: Request): Promise<McpServer> {
  const { options } = request;
  if (options.file === undefined && options.serverUrl !== undefined) {
    return { serverUrl: options.serverUrl, headers: pairs(options.header, "--header") };
  }
  if (options.file === undefined && options.command !== undefined) {
    return { command: options.command, args: options.arg, env: pairs(options.env, "--env") };
  }
  return parseServer(await contentOf(request, "a server needs --command, --server-url or its JSON"));
}

/** A second run changes nothing. Exit 1 when a file of somebody else is in the way. */
export async function initEditor({ options, context }: Invocation<typeof CHANGE_OPTIONS>): Promise<number> {
  const editor = await openEditorContext(options, context);
  const to = { dialect: editor.dialect, places: editor.places("project") };
  const add: Artifact[] = [
    makeSection("instructions", "agentcli", { content: INSTRUCTIONS, to }),
    await guardOf(editor, to),
    makeWorkflow("agentcli-check", WORKFLOW, { description: undefined, to }),
    makeSkill("local-model", skillFile(SKILL), { to }),
  ];
  const code = await planAndApply({ add, force: options.force }, editor, options);
  const hasGuard = guardIn(await readLedger(editor.home), editor) !== undefined;
  if (hasGuard || options.dryRun) await warnMissingProgram(editor);
  if (hasGuard && !options.dryRun) await notice(context, "agentcli editor doctor shows that the guard blocks");
  if (hasGuard) await warnUnprotected(editor);
  return code;
}

function guardIn({ artifacts }: Ledger, { around, dialect }: EditorContext): Installed | undefined {
  return artifacts.find((one) =>
    artifactId(one) === "hook:no-cloud-guard" && one.base === around.root && one.dialect === dialect.id
  );
}

/** The guard; one that is installed here already keeps its parameters and events. */
async function guardOf(editor: EditorContext, to: Destination): Promise<Artifact> {
  const installed = guardIn(editor.ledger, editor);
  const upgraded = installed === undefined ? null : await scaffoldAsNow(installed);
  return upgraded ?? await scaffoldHook("no-cloud-guard", { options: { set: [], event: [] }, to });
}

/** The first line of the text, for a persona without a description. */
function firstLine(body: string): string {
  return body.split("\n").map((line) => line.replace(/^#+\s*/, "").trim()).find((line) => line !== "") ?? "";
}

/** Takes over name and description; fields that skills do not have are left out. */
export async function addPersona(
  { options, arguments: words, context }: Invocation<typeof PERSONA_OPTIONS>,
): Promise<number> {
  const [name = ""] = words;
  if (options.from === undefined) throw new AgentcliError("usage", "editor persona needs --from <file>");
  const editor = await openEditorContext(options, context);
  const matter = readFrontmatter(await readContent(options.from, editor));
  const description = (fieldText(matter, "description") || firstLine(matter.body)).slice(0, 900);
  const head = `---\nname: ${name}\ndescription: ${
    JSON.stringify(`${description} (Take this role when asked to act as ${name}.)`)
  }\n---\n\n`;
  const text = `${head}Take the following role for this task.\n\n${matter.body.trim()}\n`;
  const to = { dialect: editor.dialect, places: editor.places(options.scope ?? "project") };
  const add = [makeSkill(name, skillFile(text), { to })];
  return await planAndApply({ add, force: options.force }, editor, options);
}
