/** Runs the installed hooks with recorded input, starts the servers, and says what does not load. */
import { type Finding, tryHooks } from "../../editor/doctor/try_hook.ts";
import { tryServer } from "../../editor/doctor/try_server.ts";
import { inspect } from "../../editor/inspect.ts";
import { readLedger } from "../../editor/ledger.ts";
import { LIMITS } from "../../editor/limits.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice } from "../say.ts";
import type { Invocation } from "../verb.ts";
import { openScene } from "./scene.ts";
import type { PLACE_OPTIONS } from "./verb.ts";

/** Exit 1 when a hook does not do its work, or something does not load. */
export async function run({ options, context }: Invocation<typeof PLACE_OPTIONS>): Promise<number> {
  const { io, globals } = context;
  const scene = await openScene(options, context);
  const { found, problems } = inspect(scene.dialect, scene.around, await readLedger(scene.home));
  const findings: Finding[] = problems.map((message) => ({ level: "failure", subject: "place", message }));
  for (const one of found) {
    for (const message of one.problems) {
      findings.push({ level: "failure", subject: `${one.kind} ${one.name}`, message });
    }
  }
  const hooks = found.filter(({ kind, entry }) => kind === "hook" && typeof entry === "object" && entry !== null);
  findings.push(...await tryHooks(hooks, scene.around.root, io));
  if (!hooks.some(({ entry }) => JSON.stringify(entry).includes("no-cloud-guard"))) {
    findings.push({
      level: "warning",
      subject: "guard",
      message: "no no-cloud-guard is installed: run agentcli editor add hook no-cloud-guard",
    });
  }
  let tools = 0;
  for (const server of found.filter(({ kind, problems }) => kind === "mcp" && problems.length === 0)) {
    const trial = await tryServer(server, scene.around.root, io);
    tools += trial.tools ?? 0;
    findings.push(trial.finding);
  }
  if (tools > LIMITS.activeTools) {
    const message = `${tools} tools are active; the editor takes at most ${LIMITS.activeTools}`;
    findings.push({ level: "failure", subject: "servers", message });
  }
  const failed = findings.some(({ level }) => level === "failure");
  if (globals.json) await io.stdout.write(jsonText({ ok: !failed, dialect: scene.dialect.id, findings }));
  else {
    const lines = findings.map(({ level, subject, message }) => `${level}: ${clean(subject)}: ${clean(message)}\n`);
    await io.stdout.write(lines.join(""));
    await notice(context, failed ? "something does not do its work" : "everything that was tried does its work");
  }
  return failed ? 1 : 0;
}
