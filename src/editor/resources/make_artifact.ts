/** Artifacts from a person's input: checked here, before anything is planned. */
import { AgentcliError } from "../../errors.ts";
import { isWithin, join, relativeTo, resolve } from "../../platform/path.ts";
import type { Assistant } from "../assistants.ts";
import { type Artifact, hookItem, type Resource, textFile } from "./artifact.ts";
import type { ArtifactKind, Dialect } from "../dialect.ts";
import { type HookEvent, WORKTREE_EVENT } from "../hooks/events.ts";
import {
  fieldText,
  globsProblem,
  readFrontmatter,
  ruleProblems,
  skillProblems,
  type Trigger,
  workflowProblems,
  writeFrontmatter,
} from "./markdown.ts";
import { checkName, lengthProblem, LIMITS } from "../limits.ts";
import type { Places } from "../places.ts";
import type { Scripts } from "../hooks/scaffold.ts";
import { powershellQuoted, shellQuoted } from "../../shell/quote.ts";
import { ownMarks } from "./section.ts";
import { argumentsWithKey, holdsKey, isLiteralKey } from "./servers.ts";

export interface Destination {
  dialect: Dialect;
  places: Places;
}

/** Throws `usage` with the first of the problems. */
function refuse(problems: readonly (string | null)[], what: string, { hint }: { hint?: string } = {}): void {
  const found = problems.find((problem) => problem !== null);
  if (found !== undefined && found !== null) throw new AgentcliError("usage", `${what}: ${found}`, { hint });
}

/** Returns an artifact of an editor or of an assistant. Throws `usage` for a name that cannot be one. */
export function artifact(
  kind: ArtifactKind,
  name: string,
  { to: { dialect, places }, resources }: {
    to: { dialect: Pick<Dialect | Assistant, "id">; places: Pick<Artifact, "scope" | "base"> };
    resources: Resource[];
  },
): Artifact {
  checkName(name, kind);
  return { kind, name, scope: places.scope, dialect: dialect.id, base: places.base, resources };
}

/** The frontmatter of a rule. Undefined: as in its own text. */
interface RuleFields {
  trigger?: Trigger | undefined;
  globs?: string | undefined;
  description?: string | undefined;
}

/** Returns a rule; in the user's scope a section of the global rules. Throws `usage` for one that would not load. */
export function makeRule(
  name: string,
  text: string,
  { fields, to }: { fields: RuleFields; to: Destination },
): Artifact {
  const matter = readFrontmatter(text);
  if (to.places.rules === null) return makeSection("rule", name, { content: matter.body.trim(), to });
  const globs = fields.globs ?? fieldText(matter, "globs") ?? undefined;
  const trigger = fields.trigger ?? fieldText(matter, "trigger") ?? (globs === undefined ? "always_on" : "glob");
  if (trigger === "glob") refuse([globsProblem((globs ?? "").replace(/(?<!\s)\s*,\s*/g, ","))], `rule ${name}`);
  const description = fields.description ?? fieldText(matter, "description") ?? undefined;
  const whole = writeFrontmatter({ trigger, globs: globs?.replace(/(?<!\s)\s*,\s*/g, ","), description }, matter.body);
  refuse(ruleProblems(whole), `rule ${name}`);
  return artifact("rule", name, { to, resources: [textFile(join(to.places.rules, `${name}.md`), whole)] });
}

/** Returns a workflow. Throws `usage` for one that is too long or not described. */
export function makeWorkflow(
  name: string,
  text: string,
  { description, to }: { description: string | undefined; to: Destination },
): Artifact {
  const matter = readFrontmatter(text);
  const described = description ?? fieldText(matter, "description") ?? undefined;
  const whole = writeFrontmatter({ description: described }, matter.body);
  refuse(workflowProblems(whole), `workflow ${name}`, described === undefined ? { hint: "give --description" } : {});
  return artifact("workflow", name, { to, resources: [textFile(join(to.places.workflows, `${name}.md`), whole)] });
}

/** A file that a skill bundles; `path` relative to the skill. */
export interface BundledFile {
  path: string;
  bytes: Uint8Array;
  executable: boolean;
}

/**
 * Returns a skill with what it bundles; `directory` instead of the dialect's own, for one copy that serves several
 * assistants.
 */
export function makeSkill(
  name: string,
  files: readonly BundledFile[],
  { to, directory }: { to: Destination; directory?: string | undefined },
): Artifact {
  const main = files.find(({ path }) => path === "SKILL.md");
  if (main === undefined) throw new AgentcliError("usage", `skill ${name}: it has no SKILL.md`);
  refuse(skillProblems(new TextDecoder().decode(main.bytes), name), `skill ${name}`, {
    hint: `its SKILL.md begins with the lines ---, name: ${name}, description: …, ---`,
  });
  const own = join(directory ?? to.places.skills, name);
  const resources = files.map(({ path, bytes, executable }): Resource => {
    const place = join(own, path);
    if (!isWithin(own, place) || place === own) {
      throw new AgentcliError("usage", `skill ${name}: ${path} leaves the skill`);
    }
    return { kind: "file", path: place, content: bytes.toBase64(), executable };
  });
  return artifact("skill", name, { to, resources });
}

/** One entry of `hooks.json`. */
interface HookEntry {
  command: string;
  powershell: string;
  show_output?: boolean;
  working_directory?: string;
}

/** Returns a hook with command lines of the user's own. */
export function makeHook(
  name: string,
  entry: HookEntry,
  { events, to }: { events: readonly HookEvent[]; to: Destination },
): Artifact {
  if (events.length === 0) throw new AgentcliError("usage", `hook ${name} needs an event`, { hint: "add --event" });
  if (entry.command === "" || entry.powershell === "") {
    throw new AgentcliError("usage", `hook ${name} needs a command line for both shells`, {
      hint: "give --command (bash) and --powershell",
    });
  }
  if (entry.working_directory?.startsWith("~")) {
    throw new AgentcliError("usage", "the editor does not know ~ in a working directory", {
      hint: "write the whole path",
    });
  }
  const resources = [...new Set(events)].map((event) => hookItem(to.places.hooks, event, entry));
  return artifact("hook", name, { to, resources });
}

/** Returns the scripts of a hook in a directory. */
export function scriptResources(
  name: string,
  { bash, powershell }: Scripts,
  { directory }: { directory: string },
): Resource[] {
  return [
    textFile(join(directory, `${name}.sh`), bash, { executable: true }),
    textFile(join(directory, `${name}.ps1`), powershell),
  ];
}

/** Returns a scaffolded hook: two scripts, and an entry for each event that runs them. */
export function makeScaffold(
  name: string,
  scripts: Scripts,
  { events, guard, showOutput, to }: {
    events: readonly HookEvent[];
    guard: boolean;
    showOutput: boolean;
    to: { dialect: Dialect; places: Pick<Places, "scope" | "base" | "hooks" | "scripts"> };
  },
): Artifact {
  const { places } = to;
  const [bash, powershell] = [join(places.scripts, `${name}.sh`), join(places.scripts, `${name}.ps1`)];
  const items = events.map((event) =>
    hookItem(places.hooks, event, {
      command: `bash ${scriptPath(bash, event, places).bash} ${event}${guard ? " || exit 2" : ""}`,
      powershell: powershellLine(scriptPath(powershell, event, places).powershell, event, { guard }),
      show_output: showOutput,
    })
  );
  const resources = [...scriptResources(name, scripts, { directory: places.scripts }), ...items];
  return artifact("hook", name, { to, resources });
}

/** Returns a script's path as the lines of an event name it. */
function scriptPath(path: string, event: HookEvent, { scope, base }: Pick<Places, "scope" | "base">): Scripts {
  // A project's hooks run at its root, and the project may be somewhere else for the next person.
  const named = scope === "project" ? relativeTo(base, path) : path;
  const [bash, powershell] = [shellQuoted(named), powershellQuoted(named)];
  if (named === path || event !== WORKTREE_EVENT) return { bash, powershell };
  return {
    bash: `"\${ROOT_WORKSPACE_PATH:-.}"/${bash}`,
    // Without double quotes, which a program that starts the shell may lose; an unset variable leaves the name as it
    // is.
    powershell: `([IO.Path]::Combine([string]$env:ROOT_WORKSPACE_PATH, ${powershell}))`,
  };
}

/**
 * Runs a script's text in the shell that is there, since an execution policy forbids files and a second shell would
 * cost a third of a second. A missing script leaves no exit code, which is not 0 either. `tells`: a failure is written
 * to standard error; without that some assistants do not treat it as a refusal.
 */
export function powershellLine(
  script: string,
  words: string,
  { guard, tells = false }: { guard: boolean; tells?: boolean },
): string {
  const code = guard ? 2 : 1;
  const failed = tells ? `[Console]::Error.WriteLine($_); exit ${code}` : `exit ${code}`;
  const block = `[scriptblock]::Create((Get-Content -Raw -Encoding UTF8 -LiteralPath ${script}))`;
  return `$ErrorActionPreference = 'Stop'; try { $input | & (${block}) ${words} } catch { ${failed} }; ` +
    `if ($LASTEXITCODE -ne 0) { exit ${code} }`;
}

/** Returns a value with `$NAME` and `${NAME}` written as the editors read it. */
function withReferences(value: string): string {
  return value.replace(/\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g, (_, braced, plain) => `\${env:${braced ?? plain}}`);
}

function keyed(values: Readonly<Record<string, string>>, { name, inHeader }: { name: string; inHeader: boolean }) {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => {
      const written = withReferences(value);
      if (isLiteralKey(key, written, { inHeader })) {
        throw new AgentcliError("usage", `server ${name}: ${key} holds a literal key`, {
          hint: `write a reference, such as ${key}='\${env:NAME}', and set the variable where the editor starts`,
        });
      }
      return [key, written];
    }),
  );
}

/** A server from a person's input. */
export type McpServer =
  & { disabled?: boolean; disabledTools?: string[] }
  & (
    | { command: string; args: readonly string[]; env: Readonly<Record<string, string>> }
    | { serverUrl: string; headers: Readonly<Record<string, string>> }
  );

/** Returns an MCP server. Throws `usage` where the scope has none, and for literal keys. */
export function makeServer(name: string, server: McpServer, { to }: { to: Destination }): Artifact {
  if (to.places.mcp === null) {
    throw new AgentcliError("usage", `the editor reads no MCP servers in the scope ${to.places.scope}`, {
      hint: "use --scope user",
    });
  }
  const { disabled, disabledTools } = server;
  const isOpen = "command" in server
    ? argumentsWithKey([server.command, ...server.args]).length > 0
    : holdsKey(server.serverUrl);
  if (isOpen) {
    throw new AgentcliError("usage", `server ${name}: its command line or address holds a literal key`, {
      hint: "give the key through --env or --header as ${env:NAME}",
    });
  }
  const value = {
    ..."command" in server
      ? { command: server.command, args: server.args, env: keyed(server.env, { name, inHeader: false }) }
      : { serverUrl: server.serverUrl, headers: keyed(server.headers, { name, inHeader: true }) },
    ...(disabled === undefined ? {} : { disabled }),
    ...(disabledTools === undefined ? {} : { disabledTools }),
  };
  return artifact("mcp", name, {
    to,
    resources: [{ kind: "member", path: to.places.mcp, at: ["mcpServers", name], value }],
  });
}

/**
 * Returns a section of `AGENTS.md` (in `directory` of the project), of the old file of rules, or of the user's global
 * rules.
 */
export function makeSection(
  kind: "instructions" | "rule",
  name: string,
  { content, to, directory }: { content: string; to: Destination; directory?: string | undefined },
): Artifact {
  const file = to.places.instructions;
  if (file === null) throw new AgentcliError("usage", `there are no instructions in the scope ${to.places.scope}`);
  // From the base on, so that an absolute path does not count as one of the project.
  const place = directory === undefined ? "." : resolve(to.places.base, directory);
  const isLegacy = to.dialect.legacyRules !== null && place === join(to.places.base, to.dialect.legacyRules);
  const inDirectory = isLegacy ? place : join(place, "AGENTS.md");
  const path = directory === undefined || place === to.places.base ? file : inDirectory;
  if (!isWithin(to.places.base, path)) throw new AgentcliError("usage", `${directory} is not in the project`);
  const limit = to.places.scope === "user" ? LIMITS.globalRules : null;
  if (limit !== null) refuse([lengthProblem(content, limit)], `${kind} ${name}`);
  const text = content.replaceAll("\r\n", "\n").trim();
  const { begin, end } = ownMarks(name);
  if (text.includes(begin) || text.includes(end)) {
    throw new AgentcliError("usage", `${kind} ${name}: its text contains the markers of its own section`, {
      hint: "give the text without them",
    });
  }
  return artifact(kind, name, { to, resources: [{ kind: "section", path, name, content: text, limit }] });
}
