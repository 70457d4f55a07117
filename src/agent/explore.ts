/**
 * Runs a search in a session of its own: another window, tools that only read, and one short answer for the session
 * that asked.
 */
import { AgentcliError } from "../errors.ts";
import { resolve } from "../platform/path.ts";
import type { ToolResult } from "../tools/tool.ts";
import { admitPrompt } from "./admission.ts";
import PROMPT from "./explore_prompt.md" with { type: "text" };
import { createSession, nextPosition, type Session, type SessionParts } from "./session.ts";
import { sessionLabel } from "./labels.ts";
import type { CallOptions } from "./tool_call.ts";
import { runTurn } from "./turn.ts";
import type { Chat } from "../provider/types.ts";

/** The tools of a search, as far as the session has them. */
const TOOLS: readonly string[] = ["Read", "Glob", "Grep"];
/** Responses that a search may take. */
const TURN_LIMIT = 15;
/** Longest answer, in characters: it stays in the window of the session that asked. */
const ANSWER_LIMIT = 1500;

/** Positions of a search's responses are counted from here, so that the ids of its calls are unique. */
const POSITIONS = { first: 400_000, each: 50 };

/** The model of searches, and what it may see: the session's own, or that of role `subagent`. */
export interface Explorer
  extends Pick<SessionParts, "model" | "server" | "profile" | "toolProtocol" | "workspace" | "scanner"> {
  /** Every request is admitted by what the session of the search holds. */
  chat(session: () => Session): Chat;
}

/**
 * Runs the search. The task has the label of the session that wrote it, the answer that of all that was read for it. If
 * the model of the search may not see something, the result says so. Throws the abort reason.
 */
export async function explore(
  session: Session,
  { task, callId }: { task: string; callId: string },
  options: CallOptions,
): Promise<ToolResult> {
  const { signal, hooks } = options;
  const label = sessionLabel(session);
  let searching: Session | undefined;
  try {
    if (session.explorer === undefined) throw new AgentcliError("usage", "no model is set for it");
    const explorer = await session.explorer({ ownOnly: session.context.isRefused });
    if (explorer === null) throw new AgentcliError("usage", "a model was refused something in this session");
    const { workspace } = explorer;
    const search = searching = createSession({
      ...explorer,
      id: session.id,
      system: { text: `${PROMPT.trimEnd()}\n\nProject root: ${workspace.root}`, label: "open", files: [], parts: [] },
      tools: session.tools.filter(({ name }) => TOOLS.includes(name)),
      policy: { ...session.policy, mode: "default" },
      secretVariables: session.secretVariables,
    });
    search.context.removed = POSITIONS.first + nextPosition(session) * POSITIONS.each;
    const prompt = { kind: "user", text: task, label } as const;
    const result = await runTurn(search, await admitPrompt(search, { ...prompt }, { allowed: false }), {
      io: options.io,
      chat: explorer.chat(() => search),
      signal,
      ask: () => Promise.resolve(null),
      emit: (event) => options.emit({ kind: "nested", callId, event }),
      maxTurns: TURN_LIMIT,
      ...hooks === undefined ? {} : { hooks: { ...hooks, end: () => Promise.resolve(null) } },
    });
    signal.throwIfAborted();
    const { turns, usage, outcome, errors, errorCode } = result;
    if (errorCode === "policy_refused") throw new AgentcliError(errorCode, errors.join("; "));
    const found = shortened(result.answer);
    const ended = outcome === "success" ? [] : [`[the search was ended: ${errors.join("; ")}]`];
    return {
      content: [...found === "" ? [] : [found], ...ended].join("\n"),
      isError: found === "",
      label: sessionLabel(search),
      details: { turns, promptTokens: usage.promptTokens, completionTokens: usage.completionTokens },
    };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof AgentcliError)) throw error;
    if (error.code === "policy_refused") {
      session.context.isRefused = true;
      // If a remote model could continue, its own turn has to end too.
      if (!session.model.local) throw error;
    }
    const content = `Explore cannot run: ${error.message}. Call Grep and Read instead.`;
    return { content, isError: true, label: searching === undefined ? label : sessionLabel(searching) };
  } finally {
    // The answer may hold what was read for it.
    const { root } = session.workspace;
    for (const item of searching?.items ?? []) {
      const files = item.kind === "assistant" ? [] : item.files ?? [];
      for (const path of files.map((file) => resolve(root, file))) session.workspace.noteUsed({ path, real: path });
    }
  }
}

function shortened(answer: string): string {
  const text = answer.trim();
  if (text.length <= ANSWER_LIMIT) return text;
  const note = "\n[cut; ask for less at once]";
  const kept = text.slice(0, ANSWER_LIMIT - note.length);
  const end = kept.lastIndexOf("\n");
  return (end > ANSWER_LIMIT / 2 ? kept.slice(0, end) : kept) + note;
}
