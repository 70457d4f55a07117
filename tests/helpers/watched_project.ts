/**
 * A project whose commands are watched for undo, through the real code but without a model: each command is a line of
 * sh.
 */
import type { Session } from "../../src/agent/session.ts";
import { ContentScanner } from "../../src/agent/content_scanner.ts";
import { findMarkers } from "../../src/boundary/policy/path_rules.ts";
import { openWorkspace } from "../../src/boundary/workspace/disk.ts";
import type { Workspace } from "../../src/boundary/workspace/workspace.ts";
import type { Home } from "../../src/platform/home.ts";
import { watchCommands } from "../../src/runtime/command_changes.ts";
import { withoutProtected } from "../../src/runtime/rewind.ts";
import { openUndoStore, type ReplacedEntry, type UndoStore } from "../../src/session/undo.ts";
import { replacedBy, type Restored } from "../../src/session/undo_entry.ts";
import { testSession } from "./agent_session.ts";
import { toolHome } from "./tool_home.ts";
import { SESSION } from "./transcripts.ts";

/** One session in the project. */
export interface WatchedSession {
  session: Session;
  workspace: Workspace;
  /** Runs a command in a turn, watched; a function stands for one that does what no shell can. */
  command(line: string | (() => unknown), turn?: number): Promise<void>;
  /** Writes a file as the tools do. */
  tool(name: string, text: string, turn?: number): Promise<void>;
  /** Takes a turn back; returns names with what became of them, or why nothing did. */
  undo(turn?: number): Promise<Record<string, string>>;
  /** Makes what the last undo took back again. */
  redo(): Promise<Record<string, string>>;
  store(): Promise<UndoStore>;
  watch: ReturnType<typeof watchCommands>;
}

/** The project. */
export interface WatchedProject {
  root: string;
  home: Home;
  /** Opens a session, as a process of its own would. */
  open(options?: { id?: string; local?: boolean; additional?: readonly string[] }): Promise<WatchedSession>;
  sh(line: string): Promise<void>;
  /** What the project holds, by path: content, target of a link, or `dir`; with modes where `modes`. */
  tree(options?: { modes?: boolean }): Record<string, string>;
  /** All that the home's undo holds, as one text. */
  stored(): string;
}

/** Runs `work` in a fresh project with these files. */
export async function inWatchedProject(
  files: Record<string, string>,
  work: (project: WatchedProject) => Promise<void>,
): Promise<void> {
  await using place = await toolHome(null);
  const { home } = place;
  const root = await Deno.realPath(await Deno.makeTempDir());
  const sh = async (line: string) => {
    const { success, stderr } = await new Deno.Command("sh", { args: ["-c", line], cwd: root }).output();
    if (!success) throw new Error(`${line}: ${new TextDecoder().decode(stderr)}`);
  };
  try {
    for (const [name, text] of Object.entries(files)) {
      await Deno.mkdir(`${root}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
      await Deno.writeTextFile(`${root}/${name}`, text);
    }
    await work({
      root,
      home,
      sh,
      open: (options) => openSession({ root, home, sh }, options),
      tree: ({ modes = false } = {}) => Object.fromEntries(treeBelow(root, { below: "", modes })),
      stored: () => storedText(home.file("undo")),
    });
  } finally {
    await new Deno.Command("chmod", { args: ["-R", "u+rwX", root] }).output();
    await Deno.remove(root, { recursive: true }).catch(() => {});
  }
}

async function openSession(
  { root, home, sh }: Pick<WatchedProject, "root" | "home" | "sh">,
  { id = SESSION, local = true, additional = [] }: {
    id?: string;
    local?: boolean;
    additional?: readonly string[];
  } = {},
): Promise<WatchedSession> {
  const workspace = await openWorkspace({
    ...{ root, additional, cwd: root, home: home.path, localEndpoints: findMarkers(root).standingEndpoints },
    provider: { local, name: "test" },
  });
  const session = testSession(32_768, { id, workspace, scanner: new ContentScanner(workspace), model: { local } });
  const onTrouble = (text: string) => {
    throw new Error(text);
  };
  const kept = openUndoStore(home, { sessionId: id, activity: { home, root }, onTrouble });
  const store = async () => await withoutProtected(await kept, session);
  let now = 1;
  const watch = watchCommands({ session, home, undo: store, turn: () => now, warn: onTrouble });
  const told = (restored: readonly Restored[]) =>
    Object.fromEntries(
      restored.map((one) => [one.path.replace(`${root}/`, ""), one.outcome === "refused" ? one.reason : one.outcome]),
    );
  let replaced: ReplacedEntry[] = [];
  return {
    session,
    workspace,
    store,
    watch,
    async command(line, turn = 1) {
      now = turn;
      await watch.begin(new AbortController().signal);
      if (typeof line === "string") await sh(line);
      else await line();
      await watch.end();
    },
    async tool(name, text, turn = 1) {
      const path = `${root}/${name}`;
      const before = await Deno.readFile(path).catch(() => null);
      watch.note(path);
      const file = (bytes: Uint8Array<ArrayBuffer>) => ({ kind: "file", bytes, mode: null }) as const;
      await (await store()).record([{
        ...{ turn, path, label: "open" },
        before: before === null ? { kind: "absent" } : file(before),
        after: file(new TextEncoder().encode(text)),
      }]);
      await Deno.writeTextFile(path, text);
    },
    async undo(turn = 1) {
      const restored = await (await store()).undo(turn, workspace);
      replaced = replacedBy(restored);
      return told(restored);
    },
    async redo() {
      return told(await (await store()).redo(replaced, workspace));
    },
  };
}

function* treeBelow(
  root: string,
  { below, modes }: { below: string; modes: boolean },
): Generator<[string, string]> {
  const names = [...Deno.readDirSync(`${root}/${below}`)].map(({ name }) => name).sort();
  for (const name of names) {
    const path = `${below}${name}`;
    const status = Deno.lstatSync(`${root}/${path}`);
    const bits = modes && !status.isSymlink ? ` ${((status.mode ?? 0) & 0o7777).toString(8)}` : "";
    if (status.isSymlink) yield [path, `-> ${Deno.readLinkSync(`${root}/${path}`)}`];
    else if (status.isFile) yield [path, Deno.readTextFileSync(`${root}/${path}`) + bits];
    else if (status.isDirectory) {
      yield [path, `dir${bits}`];
      yield* treeBelow(root, { below: `${path}/`, modes });
    }
  }
}

function storedText(directory: string): string {
  let text = "";
  try {
    for (const { name, isDirectory } of Deno.readDirSync(directory)) {
      const path = `${directory}/${name}`;
      text += `${name}\n${isDirectory ? storedText(path) : Deno.readTextFileSync(path)}\n`;
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return text;
}
