/** Shows the settings of a run's requests and where each comes from. Sends no request. */
import { grouped } from "../../platform/number.ts";
import { estimateOf, sideFields } from "../../agent/chat_request.ts";
import type { Session, WindowSource } from "../../agent/session.ts";
import { AgentSession } from "../../runtime/agent_session.ts";
import { clean } from "../../terminal/clean.ts";
import type { Invocation } from "../command.ts";
import { hostOf } from "../output.ts";
import { print } from "../result.ts";
import type { RUN_OPTIONS } from "./command.ts";

const WINDOW_SOURCES: Record<WindowSource, string> = {
  configured: "context_window in providers.yaml",
  found: "reported by the server",
  learned: "error message of the server",
  assumed: "assumed: the server does not report it",
  guessed: "a request that the server rejected",
};

/** `agentcli run --explain`. */
export async function explain({ options, context }: Invocation<typeof RUN_OPTIONS>): Promise<number> {
  const { globals } = context;
  const asked = { ...options, noSessionPersistence: true };
  const agent = new AgentSession(asked, hostOf(context, { isSingleTurn: true }));
  try {
    const { session } = await agent.ready();
    const server = await session.server.recognize();
    const json = globals.json || options.outputFormat === "json";
    await print({ ...context, globals: { ...globals, json } }, {
      json: asJson(session, server),
      table: rowsOf(session, server).map((row) => row.map((cell) => clean(cell))),
    });
    return 0;
  } finally {
    await agent.close();
  }
}

function rowsOf(session: Session, server: string | null): string[][] {
  const { model, profile, context } = session;
  const tokens = (count: number) => `${grouped(count)} tokens`;
  return [
    ["SETTING", "VALUE", "SOURCE"],
    ["model", `${model.provider}:${model.entry.id}`, model.local ? "local" : "remote"],
    ["server", server ?? "unknown", ""],
    ["window", tokens(model.contextWindow), WINDOW_SOURCES[model.windowSource]],
    ["response limit", tokens(model.maxTokens), limitSource(session)],
    ["first prompt", `about ${tokens(estimateOf(session))} without your words`, ""],
    ["tool calls", context.toolProtocol, model.entry.toolCalls === undefined ? "" : "tool_calls in providers.yaml"],
    ...profile.rows.map(({ name, value, why }) => [name, value, why]),
  ];
}

function limitSource({ model: { askedMaxTokens, entry } }: Session): string {
  if (askedMaxTokens !== undefined) return "--max-tokens";
  return entry.maxTokens === undefined ? "from the window" : "max_tokens in providers.yaml";
}

function asJson(session: Session, server: string | null): Record<string, unknown> {
  const { model, profile, context } = session;
  return {
    provider: model.provider,
    model: model.entry.id,
    local: model.local,
    server,
    context_window: model.contextWindow,
    window_source: model.windowSource,
    max_tokens: model.maxTokens,
    tool_calls: context.toolProtocol,
    profile: Object.fromEntries(profile.rows.map(({ name, value, why }) => [name.replace(" ", "_"), { value, why }])),
    fields: profile.fields,
    side_fields: sideFields(session),
  };
}
