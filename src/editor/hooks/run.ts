/** Runs the scaffolded hooks when the editor calls them. */
import { AgentcliError } from "../../errors.ts";
import { homePath } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { INPUT_LIMIT, isEvent, parseHookInput } from "./events.ts";
import { isFor, isScaffold } from "./scaffold_ids.ts";

/** The outcome of a hook. `blocked`: why the action must not be done, and what to do. */
export type HookOutcome = { kind: "pass"; output: string } | { kind: "blocked"; reason: string; instead: string };

async function readInput(io: Pick<Io, "stdin">): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text = "";
  let size = 0;
  for (let bytes = await io.stdin.read(); bytes !== null; bytes = await io.stdin.read()) {
    size += bytes.length;
    if (size > INPUT_LIMIT) throw new AgentcliError("usage", "the hook's input is too long");
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/**
 * Runs one hook. Throws for everything that is not as it should be: an unknown name, an event that the hook is not for,
 * input that cannot be read. The caller blocks then.
 */
export async function runHook(
  { scaffold, event, settings, cwd }: { scaffold: string; event: string; settings: readonly string[]; cwd: string },
  io: Io,
): Promise<HookOutcome> {
  if (!isScaffold(scaffold)) throw new AgentcliError("usage", "there is no such hook");
  if (!isEvent(event) || !isFor(scaffold, event)) {
    throw new AgentcliError("usage", `${scaffold} is not for the event "${event}"`);
  }
  const input = parseHookInput(await readInput(io), event);
  const userHome = io.env(io.os === "windows" ? "USERPROFILE" : "HOME");
  const parameters = new Map(settings.map((setting) => {
    const at = setting.indexOf("=");
    return [setting.slice(0, at), setting.slice(at + 1)] as const;
  }));
  if (scaffold === "no-cloud-guard") {
    const { judge } = await import("../guard/guard.ts");
    const program = parameters.get("agentcli");
    const refusal = await judge(input, { cwd, userHome, io, program, hasSandbox: () => hasSandbox(io) });
    // The scripts let nothing pass without this word: other programs end with 0 too.
    return refusal === null
      ? { kind: "pass", output: `${scaffold}: pass ${event}\n` }
      : { kind: "blocked", ...refusal };
  }
  const { runPostHook } = await import("./post.ts");
  return { kind: "pass", output: await runPostHook({ scaffold, input, parameters, cwd, userHome }, io) };
}

async function hasSandbox(io: Io): Promise<boolean> {
  const { findCheckedBackend } = await import("../../boundary/sandbox/self_check.ts");
  return "backend" in await findCheckedBackend({ os: io.os, home: homePath(io) });
}
