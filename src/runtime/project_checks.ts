/**
 * The commands that check what a turn changed: of the command line, of the project's AGENTS.md, of the configuration.
 */
import type { FindChecks, ProjectCheck } from "../agent/ending/turn_check.ts";
import type { Workspace } from "../boundary/workspace/workspace.ts";
import { CHECK_TIMEOUT, type Configuration } from "../config/types.ts";
import { sha256 } from "../platform/digest.ts";
import type { Home } from "../platform/home.ts";
import { join } from "../platform/path.ts";
import { quietly } from "../platform/real_path.ts";
import { fieldsOf, membersOf, parseJson } from "../platform/record.ts";
import { frontMatter } from "../platform/text.ts";
import type { SessionOptions } from "./session_options.ts";

/** The file of a project whose front matter may name a check. */
const PROJECT_FILE = "AGENTS.md";
/** Bytes of it that are read: front matter stands at the beginning. */
const FILE_LIMIT = 16 * 1024;
/** Longest command that a person can review, in characters. */
const COMMAND_LIMIT = 500;
/** The approved commands, as digests: a repository's command is stored nowhere. */
const APPROVED_FILE = "approved-checks.json";
const APPROVED_LIMIT = 1000;

/** Finds the checks of a session. What the user named goes; what the repository names waits for approval. */
export function projectChecks(
  options: Pick<SessionOptions, "check">,
  { home, configuration, workspace }: { home: Home; configuration: Configuration; workspace: Workspace },
): FindChecks {
  const { check } = options;
  const named = (command: string, timeout: number): ProjectCheck => ({
    command,
    timeoutMs: timeout * 1000,
    source: null,
    isApproved: true,
    answer: () => Promise.resolve(),
  });
  if (check !== undefined) return () => Promise.resolve([named(check, configuration.check?.timeout ?? CHECK_TIMEOUT)]);
  const configured = configuration.check === undefined
    ? []
    : [named(configuration.check.command, configuration.check.timeout)];
  const declined = new Set<string>();
  return async () => {
    const command = await commandOfProject(workspace);
    if (command === null || declined.has(command)) return configured;
    const digest = await sha256(`${workspace.root}\0${command}`);
    const ofProject: ProjectCheck = {
      command,
      timeoutMs: (configuration.check?.timeout ?? CHECK_TIMEOUT) * 1000,
      source: PROJECT_FILE,
      isApproved: (await approved(home)).includes(digest),
      async answer(isApproved) {
        if (!isApproved) declined.add(command);
        else {
          await home.locked(APPROVED_FILE, async () => {
            const others = (await approved(home)).filter((other) => other !== digest);
            await home.write(APPROVED_FILE, JSON.stringify([...others, digest].slice(-APPROVED_LIMIT)));
          });
        }
      },
    };
    return [ofProject, ...configured];
  };
}

/** The command in the front matter of the project's file; null where there is none that can be shown and run. */
async function commandOfProject(workspace: Workspace): Promise<string | null> {
  const resolved = await workspace.resolve(join(workspace.root, PROJECT_FILE));
  if ("refused" in resolved) return null;
  const content = await workspace.read(resolved, { limit: FILE_LIMIT });
  // The content of a protected file is shown to nobody, so nobody can approve it.
  if ("refused" in content || content.label !== "open") return null;
  const front = frontMatter(new TextDecoder().decode(content.bytes));
  if (front === null) return null;
  const { parseYaml, plainValue } = await import("../config/yaml.ts");
  const { check } = fieldsOf(quietly(() => plainValue(parseYaml(front.matter))));
  const isUsable = typeof check === "string" && check.length <= COMMAND_LIMIT &&
    /^[^\p{C}]*\S[^\p{C}]*$/u.test(check);
  return isUsable ? check.trim() : null;
}

async function approved(home: Home): Promise<string[]> {
  const stored = await home.read(APPROVED_FILE).catch(() => null);
  return membersOf(parseJson(stored ?? "")).filter((entry) => typeof entry === "string");
}
