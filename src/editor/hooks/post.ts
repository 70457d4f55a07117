/** The hooks that follow an action. None of them can stop anything; none of them writes protected content anywhere. */
import { findProjectRoot } from "../../boundary/policy/project.ts";
import { LeakScanner } from "../../boundary/scan/leak_scanner.ts";
import { hideKeys } from "../../config/hide_keys.ts";
import { AgentcliError } from "../../errors.ts";
import { sha256 } from "../../platform/digest.ts";
import { type Home, openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { appendLines } from "../../platform/journal.ts";
import { dirname, isWithin, join, relativeTo, resolve } from "../../platform/path.ts";
import { stringsOf } from "../../platform/record.ts";
import { joined } from "../../platform/text.ts";
import { FILE_LIMIT, linkOnTheWay, readFound } from "../plan/disk.ts";
import { DIALECT_IDS, DIALECTS } from "../dialect.ts";
import { type HookInput, optionalField, type ScaffoldId, textField, WORKTREE_EVENT } from "./events.ts";
import { ProtectedLookup } from "../guard/lookup.ts";
import { readRegularFile } from "../../boundary/reader.ts";
import { listSync, lstatSync, makeDirectory, writeAtomically } from "../../platform/files.ts";
import { exists, realOrNamed } from "../../platform/real_path.ts";

interface PostHook {
  scaffold: ScaffoldId;
  input: HookInput;
  parameters: ReadonlyMap<string, string>;
  cwd: string;
  userHome: string | undefined;
}

interface Context {
  root: string;
  lookup: ProtectedLookup;
  io: Io;
}

/** Runs it, and returns the text for standard output. */
export async function runPostHook(hook: PostHook, io: Io): Promise<string> {
  const root = await findProjectRoot(workspaceOf(hook), hook.userHome);
  const lookup = await ProtectedLookup.open({ roots: [root], cwd: hook.cwd, userHome: null }, io);
  const context = { root, lookup, io };
  switch (hook.scaffold) {
    case "audit-log":
      await audit(hook, context);
      return "";
    case "setup-worktree":
      return await setUp(hook, io);
    case "format-on-write":
      return fileToFormat(hook, context);
    default:
      await note(hook, context);
      return "";
  }
}

/** Returns where the hook belongs: a new worktree is logged in the project that it was made from. */
function workspaceOf({ input, cwd }: PostHook): string {
  const from = input.event === WORKTREE_EVENT ? optionalField(input, "root_workspace_path") : null;
  return from === null || !exists(from) ? cwd : realOrNamed(from);
}

/** Returns whether a text may be kept: it holds no fragment of a protected file. */
async function isOpen(text: string, { root, lookup }: Context): Promise<boolean> {
  return lookup.set.damaged === null && await new LeakScanner(lookup.set, { root }).check([text]) === null;
}

const REDACTED = "(protected)";
/** The log of a project, in the directory of its editor. */
const AUDIT_LOG = "audit-log.jsonl";

/** The fields that the log stores as text; of all others it stores the length. */
const LOGGED = [
  "file_path",
  "command_line",
  "cwd",
  "mcp_server_name",
  "mcp_tool_name",
  "transcript_path",
  "worktree_path",
];

async function audit({ input: { event, trajectory, info }, parameters, userHome }: PostHook, context: Context) {
  const record: Record<string, unknown> = {
    time: new Date(context.io.clock.now()).toISOString(),
    event,
    trajectory: trajectory === null ? null : await logged(trajectory, context),
  };
  // A client writes the names as it writes the values.
  for (const [name, value] of Object.entries(info)) {
    const texts = [...stringsOf(value)];
    const length = await isOpen(texts.join("\n"), context) ? texts.join("").length : REDACTED;
    const isShown = LOGGED.includes(name) && typeof value === "string";
    record[await logged(isShown ? name : `${name}_length`, context)] = isShown ? await logged(value, context) : length;
  }
  const line = JSON.stringify(record) + "\n";
  const home = await openHome(context.io);
  const directory = parameters.get("log") === "project" ? editorDirectoryOf(context) : null;
  if (directory !== null) {
    return await appendText(home, { base: context.root, path: join(directory, AUDIT_LOG), text: line });
  }
  const name = (await sha256(userHome === undefined ? context.root : relativeTo(userHome, context.root))).slice(0, 16);
  await appendLines(home, { name: `editor/audit/${name}.jsonl`, lines: line });
}

/** Returns the directory of an editor in the project, first one that has these hooks; null where there is none. */
function editorDirectoryOf({ root }: Context): string | null {
  const directories = DIALECT_IDS.map((id) => join(root, DIALECTS[id].projectDirectory));
  return directories.find((path) => exists(join(path, "hooks/audit-log.sh"))) ?? directories.find(exists) ?? null;
}

/** Values that follow the name of a key, and long runs without a break: keys look like that. */
const KEY_VALUE =
  /((?:key|token|secret|passw\w*|authorization|bearer|credential)\w*["']?(?:\s*[=:]\s*|\s+))("[^"]*"|'[^']*'|\S+)/gi;
const LONG_SIGN = /\b(?:sk|gh[pousr]|xox[a-z]|AKIA|eyJ)[-_A-Za-z0-9.]{12,}/g;

/** Returns a text as the log may hold it: one that names a protected path or holds protected content is left out. */
async function logged(text: string, context: Context): Promise<string> {
  const { lookup } = context;
  const { findPathReference } = await import("../guard/path_references.ts");
  const isNamed = lookup.meanings(text).some((path) => lookup.ruleAt(path) !== null) ||
    lookup.set.any && await findPathReference(text, "command", lookup) !== null;
  if (isNamed || !await isOpen(text, context)) return REDACTED;
  return hideKeys(hideArguments(text)).replace(KEY_VALUE, "$1(hidden)").replace(LONG_SIGN, "(hidden)");
}

async function setUp({ input, parameters, userHome }: PostHook, io: Io): Promise<string> {
  const [from, to] = [textField(input, "root_workspace_path"), textField(input, "worktree_path")];
  const root = realOrNamed(from);
  const lookup = await ProtectedLookup.open({ roots: [root], cwd: root, userHome: userHome ?? null }, io);
  const names = (parameters.get("copy") ?? "").split(",").map((name) => name.trim()).filter((name) => name !== "");
  const copied = await copyInto(realOrNamed(to), { root, names, lookup });
  return copied.map((line) => `${line}\n`).join("");
}

/** Returns the file to format: inside of the project, there, and not protected. Empty: none. */
function fileToFormat({ input, cwd }: PostHook, { root, lookup }: Context): string {
  const path = resolve(cwd, textField(input, "file_path"));
  const real = realOrNamed(path);
  if (!isWithin(root, real) || !exists(real) || lookup.ruleAt(path) !== null) return "";
  return /[\r\n]/.test(real) ? "" : `${real}\n`;
}

async function note({ input, parameters }: PostHook, context: Context): Promise<void> {
  const path = resolve(context.root, parameters.get("file") ?? "session-notes.md");
  if (!isWithin(context.root, path)) throw new AgentcliError("usage", "the notes lie outside of the project");
  if (context.lookup.ruleAt(path) !== null) {
    throw new AgentcliError("policy_refused", "the file of the notes is protected");
  }
  const response = optionalField(input, "response") ?? `transcript: ${textField(input, "transcript_path")}`;
  if (response.trim() === "") return;
  const text = await isOpen(response, context) ? response : "(left out: it holds protected content)";
  const time = new Date(context.io.clock.now()).toISOString();
  const home = await openHome(context.io);
  await appendText(home, { base: context.root, path, text: `\n## ${time}\n\n${text.trim()}\n` });
}

/** Most files of one call. */
const FILE_COUNT = 50_000;

/**
 * Copies the named files and directories of `root` to the same place below `target`, and reports the result for each
 * name. What is there already stays; links are skipped; what is protected is copied only where it is named itself.
 */
async function copyInto(
  target: string,
  { root, names, lookup }: { root: string; names: readonly string[]; lookup: ProtectedLookup },
): Promise<string[]> {
  const lines: string[] = [];
  let left = FILE_COUNT;
  for (const name of names) {
    const start = resolve(root, name);
    if (!isWithin(root, start) || start === root) {
      lines.push(`${name}: not below the project`);
      continue;
    }
    let [copied, skipped] = [0, 0];
    const waiting = [start];
    for (let path = waiting.pop(); path !== undefined && left > 0; path = waiting.pop()) {
      const kind = lstatSync(path)?.kind;
      // A log belongs to the place whose actions it records.
      if (path?.endsWith(`/${AUDIT_LOG}`)) continue;
      if (path !== start && lookup.ruleAt(path) !== null) skipped += 1;
      else if (kind === "directory") {
        waiting.push(...(listSync(path) ?? []).map((entry) => join(path ?? "", entry.name)));
      } else if (kind === "file" && await copyFile(path, join(target, relativeTo(root, path)), { base: target })) {
        copied += 1;
        left -= 1;
      }
    }
    lines.push(`${name}: ${copied} copied${skipped === 0 ? "" : `, ${skipped} protected and left out`}`);
  }
  return lines;
}

async function copyFile(from: string, to: string, { base }: { base: string }): Promise<boolean> {
  if (linkOnTheWay(base, to) !== null || lstatSync(to) !== null) return false;
  const read = readRegularFile(from, { display: from });
  if ("refused" in read || read.more) return false;
  await makeDirectory(dirname(to));
  await writeAtomically(to, read.bytes, { mode: read.status.mode ?? 0o644 });
  return true;
}

const NEW_FILE_MODE = 0o644;

/**
 * Appends `text` to a file below `base`. A file that would grow beyond 4 MiB is renamed to `<path>.1` first. Throws
 * `usage` where a link stands in the way.
 */
async function appendText(
  home: Home,
  { base, path, text }: { base: string; path: string; text: string },
): Promise<void> {
  await home.locked("editor/append", async () => {
    const link = linkOnTheWay(base, path) ?? linkOnTheWay(base, `${path}.1`);
    if (link !== null) throw new AgentcliError("usage", `${link} is a link; nothing is written through links`);
    const found = readFound(path);
    const added = new TextEncoder().encode(text);
    let before = found?.bytes ?? new Uint8Array();
    if (before.length + added.length > FILE_LIMIT) {
      await writeAtomically(`${path}.1`, before, { mode: found?.mode ?? NEW_FILE_MODE });
      before = new Uint8Array();
    }
    await writeAtomically(path, joined([before, added]), { mode: found?.mode ?? NEW_FILE_MODE });
  });
}

const VALUE = String.raw`((?:"[^"]*"|'[^']*'|\\.|[^\s"'\\])+)`;

/** Programs, and their options that a password follows. Sources: their manual pages. */
const OPTIONS: readonly { program: RegExp; option: RegExp }[] = [
  // With a space between, it is the name of a database, and the password is asked for.
  { program: /(?:mysql|mariadb)/i, option: new RegExp(String.raw`(\s-p)${VALUE}`, "g") },
  {
    program: /\b(?:curl|wget|xh)\b|(?:^|[\s;|&(])https?\s/,
    option: new RegExp(String.raw`(\s(?:-[a-zA-Z]*[uU]|--user|--proxy-user)(?:\s+|=)?)${VALUE}`, "g"),
  },
  { program: /\bsshpass\b/, option: new RegExp(String.raw`(\s-p\s*)${VALUE}`, "g") },
  { program: /\blogin\b/, option: new RegExp(String.raw`(\s-p(?:\s+|=)?)${VALUE}`, "g") },
  { program: /\bredis-cli\b/, option: new RegExp(String.raw`(\s-a\s*)${VALUE}`, "g") },
];

/**
 * Returns a command line with such passwords as `(hidden)`, with the user's name where both are one word. An option of
 * that letter of another program of the line is hidden too: a command in a log is not there to be run again.
 */
export function hideArguments(line: string): string {
  return OPTIONS.reduce(
    (text, { program, option }) => program.test(line) ? text.replace(option, "$1(hidden)") : text,
    line,
  );
}
