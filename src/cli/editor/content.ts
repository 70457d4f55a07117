/**
 * Reads what an artifact is made from: a file, standard input, a folder, or the JSON of a server; and refuses options
 * without effect.
 */
import { TextProblem } from "../../editor/limits.ts";
import { isExecutable, readFound } from "../../editor/plan/disk.ts";
import { readWhole, utf8Text } from "../../platform/text.ts";
import type { BundledFile, McpServer } from "../../editor/resources/make_artifact.ts";
import { AgentcliError } from "../../errors.ts";
import { listSync } from "../../platform/files.ts";
import { join, relativeTo, resolve } from "../../platform/path.ts";
import type { Values } from "../command.ts";
import type { EditorContext } from "./context.ts";
import { isScaffold, SCAFFOLDS } from "../../editor/hooks/events.ts";
import { kebabCase } from "../command_line.ts";
import type { ADD_OPTIONS, CHANGE_OPTIONS } from "./command.ts";
import { dataOf, parseJsonTree } from "../../editor/resources/json_tree.ts";
import * as z from "../../config/zod.ts";

/** Most bytes of standard input, and most files of a skill. */
const INPUT_LIMIT = 4 * 1024 * 1024;
const FILE_COUNT = 500;

/**
 * The text of a file, or of standard input for `-`. Throws `usage` when it is absent or not text, `policy_refused` when
 * it is protected or holds protected content.
 */
export async function readContent(name: string, { context, protection }: EditorContext): Promise<string> {
  const path = resolve(context.globals.cwd, name);
  if (name !== "-") await (await protection()).refuseFile(path);
  const bytes = name === "-" ? await readWhole(context.io.stdin, INPUT_LIMIT) : readFound(path)?.bytes;
  if (bytes === null) throw new AgentcliError("usage", "standard input is too long");
  if (bytes === undefined) throw new AgentcliError("usage", `${name} does not exist`);
  const text = utf8Text(bytes, { stays: true });
  if (text === null) throw new AgentcliError("usage", `${name} is not UTF-8 text`);
  await (await protection()).refuseText(text);
  return text;
}

/**
 * The files of a skill's folder with their run bits. Throws `usage` for links and for more than 500 files,
 * `policy_refused` when one of them is protected or holds protected content: half a skill would be useless.
 */
export async function readFolder(name: string, { context, protection }: EditorContext): Promise<BundledFile[]> {
  const root = resolve(context.globals.cwd, name);
  const { refuseFile, refuseText } = await protection();
  const files: BundledFile[] = [];
  const waiting = [root];
  for (let directory = waiting.pop(); directory !== undefined; directory = waiting.pop()) {
    for (const entry of listSync(directory) ?? []) {
      const path = join(directory, entry.name);
      if (entry.kind === "directory" && entry.name !== ".git") waiting.push(path);
      else if (entry.kind === "symlink") {
        throw new AgentcliError("usage", `${path} is a link; a skill contains regular files only`);
      } else if (entry.kind === "file") {
        await refuseFile(path);
        const found = readFound(path);
        if (found === null) continue;
        await refuseText(new TextDecoder().decode(found.bytes));
        files.push({ path: relativeTo(root, path), bytes: found.bytes, executable: isExecutable(found) });
        if (files.length > FILE_COUNT) throw new AgentcliError("usage", `${name} has more than ${FILE_COUNT} files`);
      }
    }
  }
  return files.sort((one, other) => one.path < other.path ? -1 : 1);
}

/** The names, for messages, of everything that is made in its own way. */
const FORMS = {
  rule: "a rule",
  globalRule: "a rule with --scope user: it is a section of the global rules, which has no frontmatter",
  workflow: "a workflow",
  skill: "a skill",
  skillFolder: "a skill whose content is a folder",
  ownHook: "a custom hook",
  scaffold: "a built-in hook",
  server: "a server whose content is JSON",
  serverProgram: "a server that is a program",
  serverAddress: "a server at an address",
  instructions: "instructions",
} as const;

type Form = keyof typeof FORMS;

/** The options that do not apply to everything. A new option does not compile until it is listed here. */
const EFFECTS: Readonly<Record<Exclude<keyof typeof ADD_OPTIONS, keyof typeof CHANGE_OPTIONS | "scope">, Form[]>> = {
  file: ["rule", "globalRule", "workflow", "skill", "server", "instructions"],
  dir: ["skillFolder"],
  shared: ["skill", "skillFolder"],
  trigger: ["rule"],
  globs: ["rule"],
  description: ["rule", "workflow"],
  event: ["ownHook", "scaffold"],
  command: ["ownHook", "serverProgram"],
  powershell: ["ownHook"],
  showOutput: ["ownHook"],
  workingDirectory: ["ownHook"],
  set: ["scaffold"],
  arg: ["serverProgram"],
  env: ["serverProgram"],
  serverUrl: ["serverAddress"],
  header: ["serverAddress"],
};

function formOf(
  kind: string,
  name: string,
  { scope, dir, file, serverUrl, command }: Values<typeof ADD_OPTIONS>,
): Form {
  switch (kind) {
    case "rule":
      return scope === "user" ? "globalRule" : "rule";
    case "workflow":
      return "workflow";
    case "skill":
      return dir === undefined ? "skill" : "skillFolder";
    case "hook":
      return isScaffold(name) ? "scaffold" : "ownHook";
    case "mcp":
      if (file !== undefined) return "server";
      return serverUrl !== undefined ? "serverAddress" : command !== undefined ? "serverProgram" : "server";
    default:
      return "instructions";
  }
}

/** Throws `usage` for given options that have no effect on what is to be made. */
export function refuseIdleOptions(kind: string, name: string, options: Values<typeof ADD_OPTIONS>): void {
  const form = formOf(kind, name, options);
  const entries = Object.entries(EFFECTS).map(([key, forms]) => {
    const value = options[key as keyof typeof EFFECTS];
    const isGiven = typeof value === "object" ? value.length > 0 : value !== undefined && value !== false;
    return { shown: `--${kebabCase(key)}`, isGiven, hasEffect: forms.includes(form) };
  });
  const idle = entries.filter(({ isGiven, hasEffect }) => isGiven && !hasEffect).map(({ shown }) => shown);
  if (idle.length === 0) return;
  const others = entries.filter(({ hasEffect }) => hasEffect).map(({ shown }) => shown);
  const parameters = isScaffold(name) && form === "scaffold" ? SCAFFOLDS[name].parameters : null;
  const hint = parameters === null
    ? `it takes ${others.join(", ")}`
    : `set ${parameters.join(" or ")} of ${name} with --set name=value; a hook with another name runs a custom command`;
  throw new AgentcliError(
    "usage",
    `${idle.join(" and ")} ${idle.length === 1 ? "has" : "have"} no effect on ${FORMS[form]}`,
    {
      hint,
    },
  );
}

/** Reads the object. Throws `usage` for anything else; the message holds nothing of it. */
export function parseServer(text: string): McpServer {
  const texts = z.record(z.string(), z.string());
  const more = { disabled: z.boolean().optional(), disabledTools: z.array(z.string()).optional() };
  const schema = z.union([
    z.strictObject({ command: z.string(), args: z.array(z.string()).default([]), env: texts.default({}), ...more }),
    z.strictObject({ serverUrl: z.string(), headers: texts.default({}), ...more }),
  ]);
  try {
    const parsed = schema.safeParse(dataOf(parseJsonTree(text)));
    if (parsed.success) return parsed.data as McpServer;
  } catch (error) {
    if (!(error instanceof TextProblem)) throw error;
    throw new AgentcliError("usage", `the server is not valid JSON: ${error.message}`);
  }
  throw new AgentcliError("usage", "a server is an object with command, args, env, or with serverUrl, headers", {
    hint: "further fields: disabled, disabledTools",
  });
}
