/** Runs the scaffolded hooks when the editor calls them. */
import { AgentcliError } from "../../errors.ts";
import { homePath, userHomeOf } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { readWhole } from "../../platform/text.ts";
import { isAssistant } from "../assistants.ts";
import { SERVER_NAME } from "../../mcp/own_server.ts";
import type { Question } from "../guard/payloads.ts";
import { INPUT_LIMIT, isEvent, isFor, isScaffold, parseHookInput } from "./events.ts";

/** The outcome of a hook. `blocked`: why the action must not happen, and what to do. */
type HookOutcome = { kind: "pass"; output: string } | { kind: "blocked"; reason: string; instead: string };

interface HookCall {
  scaffold: string;
  event: string;
  assistant: string | undefined;
  settings: readonly string[];
  cwd: string;
}

/** Advice for an assistant whose action was blocked, without a period. */
const ASK_PRIVATE = `To find out something about protected files, use ask_private of the MCP server ${SERVER_NAME}`;

async function readInput(io: Pick<Io, "stdin">): Promise<string> {
  const bytes = await readWhole(io.stdin, INPUT_LIMIT);
  if (bytes === null) throw new AgentcliError("usage", "the hook's input is too long");
  return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
}

/**
 * Runs one hook. Throws for everything unexpected: an unknown name, an event that the hook is not for,
 * input that cannot be read. The caller blocks then. `assistant`: one whose hooks have events of their own.
 */
export async function runHook(call: HookCall, io: Io): Promise<HookOutcome> {
  const { scaffold, event, assistant, settings, cwd } = call;
  if (!isScaffold(scaffold)) throw new AgentcliError("usage", "there is no such hook");
  const userHome = userHomeOf(io);
  const parameters = new Map(settings.map((setting) => {
    const at = setting.indexOf("=");
    return [setting.slice(0, at), setting.slice(at + 1)] as const;
  }));
  const { questionOf, readPayload } = await import("../guard/payloads.ts");
  if (assistant !== undefined) {
    if (scaffold !== "no-cloud-guard" || !isAssistant(assistant)) {
      throw new AgentcliError("usage", `${scaffold} is not for "${assistant}"`);
    }
    const { root, ...question } = readPayload(assistant, event, { input: await readInput(io), env: io.env });
    return await askGuard(question, { ...call, cwd: root ?? cwd, userHome, parameters }, io);
  }
  if (!isEvent(event) || !isFor(scaffold, event)) {
    throw new AgentcliError("usage", `${scaffold} is not for the event "${event}"`);
  }
  const input = parseHookInput(await readInput(io), event);
  if (scaffold === "no-cloud-guard") return await askGuard(questionOf(input), { ...call, userHome, parameters }, io);
  const { runPostHook } = await import("./post.ts");
  return { kind: "pass", output: await runPostHook({ scaffold, input, parameters, cwd, userHome }, io) };
}

async function askGuard(
  question: Question,
  { scaffold, event, cwd, userHome, parameters }: HookCall & {
    userHome: string | undefined;
    parameters: ReadonlyMap<string, string>;
  },
  io: Io,
): Promise<HookOutcome> {
  const { judge } = await import("../guard/guard.ts");
  const program = parameters.get("agentcli");
  const refusal = await judge(question, { cwd, userHome, io, program, hasSandbox: () => hasSandbox(io) });
  // The scripts let nothing pass without this word: other programs end with 0 too.
  if (refusal === null) return { kind: "pass", output: `${scaffold}: pass ${event}\n` };
  if (parameters.get("ask_private") !== "yes") return { kind: "blocked", ...refusal };
  return { kind: "blocked", ...refusal, instead: `${refusal.instead}. ${ASK_PRIVATE}` };
}

async function hasSandbox(io: Io): Promise<boolean> {
  const { findCheckedBackend } = await import("../../boundary/sandbox/self_check.ts");
  return "backend" in await findCheckedBackend({ os: io.os, home: homePath(io) });
}
