/** Tries the guards of assistants, as they are in their files now, with inputs as the assistants write them. */
import { type AssistantId, ASSISTANTS, isAssistant } from "../assistants.ts";
import { withTemporaryDirectory } from "../../platform/temporary.ts";
import type { Installed } from "../plan/ledger.ts";
import { resourceHash } from "../resources/artifact.ts";
import { dirname, join } from "../../platform/path.ts";
import { lookAt } from "../plan/disk.ts";
import { hashOnDisk, textsOnDisk } from "../plan/draft.ts";
import { handlersOf } from "../resources/hook_entry.ts";
import { makeTrialPlace, type TrialPlace } from "./trial_place.ts";
import { BLOCKED, commandOn, runLine, type TrialContext, untried } from "./try_hook.ts";
import type { Finding } from "./try_server.ts";

interface Guarded {
  id: AssistantId;
  scope: string;
  event: string;
  /** The line that runs; null: the entry or a script is missing or changed. */
  line: string | null;
}

type AssistantGuard = Installed & { dialect: AssistantId };

/** Returns whether an artifact is the guard of an assistant. */
export function isAssistantGuard(one: Installed): one is AssistantGuard {
  return one.kind === "hook" && isAssistant(one.dialect);
}

/** Runs each guard with something open, something protected, and an input that is cut. */
export async function tryAssistants(installed: readonly Installed[], context: TrialContext): Promise<Finding[]> {
  const own = installed.filter(isAssistantGuard);
  const off = own.flatMap((one) => switchedOff(one, context));
  const guards = (await Promise.all(own.map((one) => guardedEvents(one, context)))).flat();
  if (guards.length === 0) return off;
  return await withTemporaryDirectory(async (directory) => {
    const place = await makeTrialPlace(directory, { ...context, needsWorktree: false });
    const findings = [...new Map(off.map((one) => [one.message, one])).values()];
    for (const guard of guards) findings.push(await tryGuard(guard, { ...context, place }));
    return findings;
  }).catch(untried);
}

/** Returns the files in directories of an assistant that keep it from running any hook. */
export function filesWithoutHooks(id: AssistantId, directories: Iterable<string>): string[] {
  const { off } = ASSISTANTS[id].hooks;
  if (off === null) return [];
  const files = [...directories].flatMap((place) => off.files.map((name) => join(place, name)));
  return files.filter((path) => off.pattern.test(lookAt(path) ?? ""));
}

function switchedOff({ dialect, resources }: AssistantGuard, { root }: TrialContext): Finding[] {
  const { label, directory } = ASSISTANTS[dialect];
  const hooks = resources.find(({ resource }) => resource.kind === "item")?.resource.path;
  const directories = new Set([join(root, directory), ...hooks === undefined ? [] : [dirname(hooks)]]);
  return filesWithoutHooks(dialect, directories).map((path) => ({
    level: "failure",
    subject: `${label}, hooks`,
    message: `${path} switches all hooks off, so nothing is blocked`,
    fix: "take the switch out of the file",
  }));
}

async function guardedEvents({ dialect, scope, resources }: AssistantGuard, { io }: TrialContext): Promise<Guarded[]> {
  const texts = textsOnDisk();
  let isWhole = true;
  const events: Guarded[] = [];
  for (const { resource, written } of resources) {
    const now = await hashOnDisk(resource, texts);
    if (resource.kind === "file") isWhole &&= now === written;
    if (resource.kind !== "item") continue;
    const [handler] = now === await resourceHash(resource) ? handlersOf(resource.value) : [];
    const windows = io.os === "windows" ? ASSISTANTS[dialect].hooks.powershell : null;
    const line = handler?.[windows ?? "command"];
    events.push({ id: dialect, scope, event: resource.at.at(-1) ?? "", line: typeof line === "string" ? line : null });
  }
  return events.map((one) => isWhole ? one : { ...one, line: null });
}

async function tryGuard(
  { id, scope, event, line }: Guarded,
  { root, io, place, progress }: TrialContext & { place: TrialPlace },
): Promise<Finding> {
  const subject = `${ASSISTANTS[id].label}, ${event} (${scope})`;
  const fix = `agentcli mcp install ${id}${scope === "user" ? " --user" : ""} --force`;
  const failure = (message: string): Finding => ({ level: "failure", subject, message, fix });
  if (line === null) return failure("the guard is missing or was changed, so nothing shows that it blocks");
  await progress(`guard of ${subject}`);
  const environment = { ...io.environment(), CLAUDE_PROJECT_DIR: root, AGENTCLI_HOME: place.home };
  const ask = (input: string) => runLine(line, input, { cwd: root, root, io, environment });
  const touching = (path: string) => ask(payloadOf(id, event, { path, place }));
  const [harmless, secret, cut] = [await touching(place.open), await touching(place.secret), await ask("{")];
  if (harmless === null || secret === null || cut === null) return failure("the shell that runs it is not there");
  const why = harmless.stderr.trim().split("\n")[0]?.slice(0, 200) ?? "";
  if (harmless.code !== 0) return failure(`it does not let a harmless action pass (exit ${harmless.code}): ${why}`);
  if (secret.code !== BLOCKED) return failure(`it does not block a protected file (exit ${secret.code} instead of 2)`);
  if (cut.code !== BLOCKED) return failure(`it lets an input pass that it cannot read (exit ${cut.code} instead of 2)`);
  // Some of them treat an exit code without a reason as a failure, and continue.
  if (secret.stderr.trim() === "") {
    return failure("it blocks without a reason, which the assistant may not take for a refusal");
  }
  return { level: "ok", subject, message: "lets a harmless action pass, and blocks a protected file with its rule" };
}

/** Returns the input of an event that touches a path. */
function payloadOf(id: AssistantId, event: string, { path, place }: { path: string; place: TrialPlace }): string {
  const common = { hook_event_name: event, cwd: place.directory };
  if (/prompt/i.test(event)) return JSON.stringify({ ...common, prompt: `explain @${path}`, attachments: [] });
  const command = commandOn(path, place);
  switch (event) {
    case "beforeShellExecution":
      return JSON.stringify({ ...common, command });
    case "beforeMCPExecution":
      return JSON.stringify({ ...common, tool_name: "read_file", tool_input: JSON.stringify({ path }) });
    case "beforeReadFile":
    case "beforeTabFileRead":
      return JSON.stringify({ ...common, file_path: path, content: "" });
    default: {
      const call = id === "codex"
        ? { tool_name: "Bash", tool_input: { command } }
        : { tool_name: "Read", tool_input: { file_path: path } };
      return JSON.stringify({ ...common, ...call });
    }
  }
}
