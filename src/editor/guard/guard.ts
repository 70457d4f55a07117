/**
 * The no-cloud guard: decides whether an action of an editor's assistant touches what `.agentclisecret` protects. An
 * editor's assistant counts as remote, whatever model it uses. The rules are those of the boundary itself.
 */
import { MARKER_NAME } from "../../boundary/policy/marker.ts";
import { findProjectRoot } from "../../boundary/policy/project.ts";
import { statSync } from "../../platform/files.ts";
import { AgentcliError } from "../../errors.ts";
import { homePath } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { dirname, isWithin, join, resolve } from "../../platform/path.ts";
import { exists, quietly, realOrNamed } from "../../platform/real_path.ts";
import { stringsOf } from "../../platform/record.ts";
import { isOwnTool } from "../../mcp/own_server.ts";
import type { Action, Question } from "./payloads.ts";
import type { CommandPlace } from "./sandboxed.ts";
import { TamperCheck } from "./tamper_check.ts";
import { ProtectedLookup } from "./lookup.ts";

interface GuardPlace {
  cwd: string;
  userHome: string | undefined;
  io: Pick<Io, "env" | "os" | "clock">;
  /** How the hook calls this program. */
  program?: string | undefined;
  /** Whether a sandbox can be made here; asked at most once. */
  hasSandbox(): Promise<boolean>;
}

/** Why an action is blocked, and what the assistant should do, each without a period. */
interface Refusal {
  reason: string;
  instead: string;
}

/**
 * Returns why the action is blocked; null when nothing speaks against it. Throws for input that cannot be checked:
 * callers block then too.
 */
export async function judge({ actions, cwd: named }: Question, place: GuardPlace): Promise<Refusal | null> {
  const cwd = named === null || named === "" ? place.cwd : resolve(place.cwd, named);
  const userHome = place.userHome === undefined ? null : realOrNamed(place.userHome);
  const root = findProjectRoot(place.cwd, place.userHome);
  const roots = isProject(root) || !holdsEverything(root, userHome) ? [root] : [];
  // A command may run elsewhere: what is protected there counts too. A missing directory has nothing to protect.
  const other = cwd === place.cwd ? null : quietly(() => findProjectRoot(cwd, place.userHome));
  if (other !== null && isProject(other) && !roots.includes(other)) roots.push(other);
  const lookup = await ProtectedLookup.open({ roots, cwd, userHome }, place.io, { create: true });
  const path = place.io.env("PATH") ?? "";
  const tamperCheck = new TamperCheck(lookup, { agentcliHome: agentcliHome(place.io), path });
  const commands = { program: place.program ?? "agentcli", path, cwd, roots };
  const context: Context = { lookup, tamperCheck, commands, hasSandbox: place.hasSandbox };
  let found: string | Refusal | null = null;
  for (const action of actions) found ??= await checkAction(action, context);
  const { damaged } = lookup.set;
  const reason = damaged === null
    ? found
    : `${damaged.marker} cannot be used (${damaged.damaged}), so everything is protected`;
  return typeof reason === "string" ? { reason, instead: "Go on without it" } : reason;
}

function isProject(root: string): boolean {
  return exists(join(root, ".git")) || exists(join(root, MARKER_NAME));
}

/**
 * The disk, or the user's home: walking it takes longer than an editor waits, and no marker says that it is a project.
 */
function holdsEverything(root: string, userHome: string | null): boolean {
  return dirname(root) === root || (userHome !== null && isWithin(root, userHome));
}

function agentcliHome(io: Pick<Io, "env" | "os">): string | null {
  try {
    return realOrNamed(homePath(io));
  } catch (error) {
    // Without a home there is nothing in it either.
    if (error instanceof AgentcliError) return null;
    throw error;
  }
}

interface Context {
  lookup: ProtectedLookup;
  tamperCheck: TamperCheck;
  commands: CommandPlace;
  hasSandbox(): Promise<boolean>;
}

async function checkAction(action: Action, context: Context): Promise<string | Refusal | null> {
  const { lookup } = context;
  switch (action.kind) {
    case "read":
      return await checkRead(action.path, lookup, "read single files of it");
    case "search":
      return searchAdvice(await checkRead(action.path, lookup, "search in single files of it"), context);
    case "list":
      return checkNamed(action.path, lookup);
    case "write":
      return await checkWrite(action.path, context) ?? await checkTexts(action.texts, { lookup, named: null });
    case "command":
      return await checkCommand(action.line, action.given, context);
    case "tool":
      // What its tools give is bounded by the server itself.
      return isOwnTool(action) ? null : await checkTool(action.given, action.name, context);
    case "prompt":
      return await checkTexts([action.text], { lookup, named: "prose" });
    case "texts":
      return await checkTexts(action.texts, { lookup, named: null });
  }
}

/** Returns what a path may mean. Throws `usage` for anything else: the editor may still read something by it. */
function meaningsOf(word: string, lookup: ProtectedLookup): string[] {
  const found = lookup.meanings(word);
  if (found.length === 0) throw new AgentcliError("usage", "the path is empty or holds a NUL byte");
  return found;
}

function checkNamed(word: string, lookup: ProtectedLookup): string | null {
  for (const path of meaningsOf(word, lookup)) {
    const rule = lookup.ruleAt(path) ?? lookup.ruleOfGit(path);
    if (rule !== null) return lookup.describe(path, rule);
  }
  return null;
}

/** `instead`: what to do with a directory that holds protected content. */
async function checkRead(word: string, lookup: ProtectedLookup, instead: string): Promise<string | null> {
  const named = checkNamed(word, lookup);
  if (named !== null) return named;
  for (const path of meaningsOf(word, lookup)) {
    const real = realOrNamed(path);
    if (statSync(real)?.kind !== "directory") continue;
    const inside = await lookup.insideOf(real);
    if (inside !== null) return `${lookup.describeInside(inside)}; ${instead}`;
  }
  return null;
}

/** A command searches everything else, where what is protected is not there. */
async function searchAdvice(
  reason: string | null,
  { commands, hasSandbox }: Context,
): Promise<string | Refusal | null> {
  if (reason === null || !await hasSandbox()) return reason;
  const { sandboxAdvice } = await import("./sandboxed.ts");
  return { ...sandboxAdvice("grep -rn PATTERN .", commands), reason };
}

/** Some tools remove a directory or a link by the path that others write. */
async function checkWrite(word: string, { lookup, tamperCheck }: Context): Promise<string | null> {
  for (const path of meaningsOf(word, lookup)) {
    const rule = lookup.ruleAt(path);
    if (rule !== null) return lookup.describe(path, rule);
    const protection = tamperCheck.reasonOfWrite(path) ?? tamperCheck.reasonInside(path);
    if (protection !== null) return `${word} may not be written: ${protection}; only the user changes it`;
    const inside = await lookup.reasonInside(path);
    if (inside !== null) return inside;
  }
  return null;
}

async function checkCommand(
  line: string,
  given: unknown,
  context: Context,
): Promise<string | Refusal | null> {
  const { lookup } = context;
  const call = { lines: [line], given, isShell: false };
  return await checkTexts([line], { lookup, named: null }) ??
    await onlySandboxed(call, context, () => read(line, context));
}

/** Returns what the reader of shell words finds: the only check where no sandbox can be made. */
async function read(line: string, { lookup, tamperCheck }: Context): Promise<string | null> {
  const { findPathReference, findTampering } = await import("./path_references.ts");
  const found = await findPathReference(line, "command", lookup);
  return found === null ? findTampering(line, { lookup, tamperCheck }) : lookup.describe(found.path, found.rule);
}

/**
 * Where something is protected and a sandbox can be made, lines pass only as commands in it, with nothing that
 * could change what they run; else they are read. What both let pass does not need the test for a sandbox.
 */
async function onlySandboxed(
  { lines, given, isShell }: { lines: readonly string[]; given: unknown; isShell: boolean },
  { lookup, commands, hasSandbox }: Context,
  read: () => Promise<string | null>,
): Promise<string | Refusal | null> {
  if (lines.length === 0 || !lookup.set.any) return await read();
  const { isSandboxed, sandboxAdvice } = await import("./sandboxed.ts");
  const { strangeMember } = await import("./arguments.ts");
  const bare = lines.find((line) => !isSandboxed(line, commands));
  const strange = strangeMember(given, { isShell });
  const reason = await read();
  if ((bare === undefined && strange === null && reason === null) || !await hasSandbox()) return reason;
  // A variable can look like a line: where the command itself is fine, the reason names what is not.
  const isWell = lines.some((line) => isSandboxed(line, commands));
  if (bare !== undefined && (strange === null || !isWell)) {
    const advice = sandboxAdvice(bare, commands);
    // What it names is reported too: in the sandbox it is not there.
    return reason === null ? advice : { ...advice, reason: `${reason}; ${advice.reason}` };
  }
  if (strange === null) return null;
  return {
    reason: `"${strange}" could change what the command runs, such as by variables of its environment`,
    instead: "Make the call without it: only the command, its directory, a timeout and a description",
  };
}

async function checkTool(plain: unknown, tool: unknown, context: Context): Promise<string | Refusal | null> {
  const { lookup, tamperCheck, commands } = context;
  const { commandsIn, isShellTool, checkArguments, shellLinesIn, unwrapped } = await import("./arguments.ts");
  const { isOnPath } = await import("./sandboxed.ts");
  const given = unwrapped(plain);
  const found = await checkArguments(given, { tool, lookup, tamperCheck }) ??
    await checkTexts([...stringsOf(given)], { lookup, named: "prose" });
  if (found !== null) return found;
  const isShell = isShellTool(tool);
  const lines = [...shellLinesIn(given, { isShell, isProgram: (name) => isOnPath(name, commands) })];
  return await onlySandboxed({ lines, given, isShell }, context, async () => {
    for (const line of commandsIn(given)) {
      const reason = await read(line, context);
      if (reason !== null) return reason;
    }
    return null;
  });
}

/** Names of protected files (`named`: how the texts are read), and fragments of their content. */
async function checkTexts(
  texts: readonly string[],
  { lookup, named }: { lookup: ProtectedLookup; named: "prose" | null },
): Promise<string | null> {
  if (texts.length === 0) return null;
  if (named !== null) {
    const { findPathReference } = await import("./path_references.ts");
    for (const text of texts) {
      const found = await findPathReference(text, named, lookup);
      if (found !== null) return lookup.describe(found.path, found.rule);
    }
  }
  // Asked last: a name can lead to a marker that was not seen before.
  if (!lookup.set.any) return null;
  const { LeakScanner } = await import("../../boundary/scan/leak_scanner.ts");
  const scanner = new LeakScanner(lookup.set, { root: lookup.root });
  const hit = await scanner.check(texts);
  return hit === null ? null : `it holds ${scanner.describe(hit)}`;
}
