/** The hooks that follow an action. None of them can stop anything; none of them writes protected content anywhere. */
import { findProjectRoot } from "../../boundary/policy/project.ts";
import { createLeakScanner } from "../../boundary/scan/leak_scanner.ts";
import { hideKeys } from "../../config/hide_keys.ts";
import { AgentcliError } from "../../errors.ts";
import { openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { openJournal } from "../../platform/journal.ts";
import { isWithin, join, relativeTo, resolve } from "../../platform/path.ts";
import { sha256 } from "../disk.ts";
import { type HookInput, optionalField, stringsIn, textField, WORKTREE_EVENT } from "../events.ts";
import { exists, realOrNamed } from "../../boundary/real_path.ts";
import { ProtectedView } from "../guard/view.ts";
import { appendText } from "./append.ts";
import { hideArguments } from "./hide_arguments.ts";
import { copyInto } from "./copy.ts";
import type { ScaffoldId } from "../scaffold_ids.ts";

/** One call. */
export interface PostHook {
  scaffold: ScaffoldId;
  input: HookInput;
  parameters: ReadonlyMap<string, string>;
  cwd: string;
  userHome: string | undefined;
}

interface Scene {
  root: string;
  view: ProtectedView;
  io: Io;
}

/** Does it, and gives what is for standard output. */
export async function runPostHook(hook: PostHook, io: Io): Promise<string> {
  const root = await findProjectRoot(workspaceOf(hook), hook.userHome);
  const view = await ProtectedView.open({ roots: [root], cwd: hook.cwd, userHome: null }, io);
  const scene = { root, view, io };
  switch (hook.scaffold) {
    case "audit-log":
      await audit(hook, scene);
      return "";
    case "setup-worktree":
      return await setUp(hook, io);
    case "format-on-write":
      return fileToFormat(hook, scene);
    default:
      await note(hook, scene);
      return "";
  }
}

/** Where the hook belongs: a new worktree is told of in the project that it was made from. */
function workspaceOf({ input, cwd }: PostHook): string {
  const from = input.event === WORKTREE_EVENT ? optionalField(input, "root_workspace_path") : null;
  return from === null || !exists(from) ? cwd : realOrNamed(from);
}

/** Whether a text may be kept: it holds no fragment of a protected file. */
async function isOpen(text: string, { root, view }: Scene): Promise<boolean> {
  return view.set.damaged === null && await createLeakScanner(view.set, { root }).check([text]) === null;
}

const WITHHELD = "(protected)";

/** What the log tells of each field; what is not here is told by its length alone. */
const TOLD = [
  "file_path",
  "command_line",
  "cwd",
  "mcp_server_name",
  "mcp_tool_name",
  "transcript_path",
  "worktree_path",
];

async function audit({ input, parameters, userHome }: PostHook, scene: Scene): Promise<void> {
  const told: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input.info)) {
    if (TOLD.includes(name) && typeof value === "string") told[name] = await redacted(name, value, scene);
    else told[`${name}_length`] = stringsIn(value).reduce((sum, text) => sum + text.length, 0);
  }
  const time = new Date(scene.io.clock.now()).toISOString();
  const line = JSON.stringify({ time, event: input.event, trajectory: input.trajectory, ...told }) + "\n";
  const home = await openHome(scene.io);
  if (parameters.get("log") === "project") {
    return await appendText(home, { base: scene.root, path: join(scene.root, ".agentcli-audit.jsonl"), text: line });
  }
  const name = (await sha256(userHome === undefined ? scene.root : relativeTo(userHome, scene.root))).slice(0, 16);
  const journal = await openJournal(home, `editor/audit/${name}.jsonl`);
  try {
    await journal.append(new TextEncoder().encode(line));
  } finally {
    journal.close();
  }
}

/** Values that follow a name which says that they are keys, and long signs without a break: keys look like that. */
const KEY_VALUE =
  /((?:key|token|secret|passw\w*|authorization|bearer|credential)\w*["']?(?:\s*[=:]\s*|\s+))("[^"]*"|'[^']*'|\S+)/gi;
const LONG_SIGN = /\b(?:sk|gh[pousr]|xox[a-z]|AKIA|eyJ)[-_A-Za-z0-9.]{12,}/g;

async function redacted(name: string, value: string, scene: Scene): Promise<string> {
  if (name === "file_path" && scene.view.meanings(value).some((path) => scene.view.ruleAt(path) !== null)) {
    return WITHHELD;
  }
  if (name === "command_line") {
    const { findMention } = await import("../guard/mentions.ts");
    if (scene.view.set.any && await findMention(value, "command", scene.view) !== null) return WITHHELD;
  }
  if (!await isOpen(value, scene)) return WITHHELD;
  const shown = name === "command_line" ? hideArguments(value) : value;
  return hideKeys(shown).replace(KEY_VALUE, "$1(hidden)").replace(LONG_SIGN, "(hidden)");
}

async function setUp({ input, parameters, userHome }: PostHook, io: Io): Promise<string> {
  const [from, to] = [textField(input, "root_workspace_path"), textField(input, "worktree_path")];
  const root = realOrNamed(from);
  const view = await ProtectedView.open({ roots: [root], cwd: root, userHome: userHome ?? null }, io);
  const names = (parameters.get("copy") ?? "").split(",").map((name) => name.trim()).filter((name) => name !== "");
  const copied = await copyInto(realOrNamed(to), { root, names, view });
  return copied.map((line) => `${line}\n`).join("");
}

/** The file to format: inside of the project, there, and not protected. Empty: none. */
function fileToFormat({ input, cwd }: PostHook, { root, view }: Scene): string {
  const path = resolve(cwd, textField(input, "file_path"));
  const real = realOrNamed(path);
  if (!isWithin(root, real) || !exists(real) || view.ruleAt(path) !== null) return "";
  return /[\r\n]/.test(real) ? "" : `${real}\n`;
}

async function note({ input, parameters }: PostHook, scene: Scene): Promise<void> {
  const path = resolve(scene.root, parameters.get("file") ?? "session-notes.md");
  if (!isWithin(scene.root, path)) throw new AgentcliError("usage", "the notes lie outside of the project");
  if (scene.view.ruleAt(path) !== null) throw new AgentcliError("policy_refused", "the file of the notes is protected");
  const said = optionalField(input, "response") ?? `transcript: ${textField(input, "transcript_path")}`;
  if (said.trim() === "") return;
  const text = await isOpen(said, scene) ? said : "(left out: it holds protected content)";
  const time = new Date(scene.io.clock.now()).toISOString();
  const home = await openHome(scene.io);
  await appendText(home, { base: scene.root, path, text: `\n## ${time}\n\n${text.trim()}\n` });
}
