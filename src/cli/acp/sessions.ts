/** The sessions of one connection, and those that are stored. */
import { projectRootOf } from "../../boundary/policy/project.ts";
import { AgentcliError } from "../../errors.ts";
import type { Configuration } from "../../config/types.ts";
import { openHome } from "../../platform/home.ts";
import { isAbsolute } from "../../platform/path.ts";
import { statSync } from "../../platform/files.ts";
import { quietly } from "../../platform/real_path.ts";
import type { McpServer } from "../../mcp/server.ts";
import type { RpcParams } from "../../rpc/message.ts";
import type { RpcCall } from "../../rpc/peer.ts";
import { findSession, listSessions, type SessionScope, type SessionSummary } from "../../session/list.ts";
import { deleteSession } from "../../session/open_transcript.ts";
import { isSessionId } from "../../session/paths.ts";
import { usualModel } from "../protocol/client_models.ts";
import { AcpSession, titleOfPrompt } from "./acp_session.ts";
import { offeredModels } from "./config_options.ts";
import { invalidParams } from "./wire.ts";
import type { Connection } from "./server.ts";
import { configured } from "../result.ts";

/** Sessions of one answer of `session/list`. */
const PAGE = 50;

/** Where a session works, as the client says it. */
export interface SessionPlace {
  cwd: string;
  directories: string[];
  mcpServers: readonly McpServer[];
  /** The problems of servers of the client that are left out. */
  problems: readonly string[];
}

/** The open sessions by id. */
export class SessionTable {
  readonly #connection: Connection;
  readonly #open = new Map<string, AcpSession>();

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** The session that a request names. Throws `unknown_session`. */
  find({ sessionId }: RpcParams): AcpSession {
    const id = typeof sessionId === "string" ? sessionId : "";
    const session = this.#open.get(id);
    if (session !== undefined) return session;
    throw new AgentcliError("unknown_session", `no session "${id.slice(0, 64)}" is open here`, {
      hint: "open it with session/new, session/load or session/resume",
    });
  }

  /** Begins a session. It is opened once the client has its id: until then no server is asked. */
  async create(params: RpcParams, call: RpcCall): Promise<Record<string, unknown>> {
    const session = await this.#make(await placeOf(params), { id: crypto.randomUUID(), resumes: false });
    this.#open.set(session.id, session);
    call.afterAnswer(() => Promise.resolve(session.prepare()));
    return { sessionId: session.id, ...session.settings() };
  }

  /** Continues a stored session, and sends its history first where that is wanted. */
  async load(
    params: RpcParams,
    call: RpcCall,
    { replays }: { replays: boolean },
  ): Promise<Record<string, unknown>> {
    const place = await placeOf(params);
    const id = typeof params.sessionId === "string" ? params.sessionId.toLowerCase() : "";
    if (!isSessionId(id)) throw new AgentcliError("unknown_session", `no session "${id.slice(0, 64)}"`);
    await this.#end(id);
    const session = await this.#make(place, { id, resumes: true });
    this.#open.set(id, session);
    try {
      await session.open(call.signal);
      if (replays) await session.replay();
    } catch (error) {
      await this.#end(id);
      throw error;
    }
    call.afterAnswer(() => Promise.resolve(session.prepare()));
    return session.settings();
  }

  /** Lists the stored sessions, last used first: of a directory's project, or all. */
  async list({ cwd, cursor }: RpcParams): Promise<Record<string, unknown>> {
    const { io } = this.#connection.context;
    const home = await openHome(io);
    if (cwd !== undefined && cwd !== null && (typeof cwd !== "string" || !isAbsolute(cwd))) {
      throw invalidParams("cwd is not an absolute path");
    }
    const scope = typeof cwd === "string" ? this.#scope(cwd) : "all";
    const stored = await listSessions(home, scope);
    const begin = cursor === undefined || cursor === null ? 0 : stored.findIndex(({ id }) => id === cursor) + 1;
    if (cursor !== undefined && cursor !== null && begin === 0) throw invalidParams("the cursor is not known");
    const page = stored.slice(begin, begin + PAGE);
    const last = page.at(-1);
    const isMore = begin + PAGE < stored.length && last !== undefined;
    const sessions = page.flatMap((summary) => sessionInfo(summary, typeof cwd === "string" ? cwd : null));
    return { sessions, ...isMore ? { nextCursor: last.id } : {} };
  }

  /** Removes a stored session; a missing one counts as removed. */
  async remove({ sessionId }: RpcParams): Promise<Record<string, never>> {
    const id = typeof sessionId === "string" ? sessionId.toLowerCase() : "";
    if (!isSessionId(id)) return {};
    await this.#end(id);
    const home = await openHome(this.#connection.context.io);
    const found = (await listSessions(home, "all")).find((summary) => summary.id === id);
    if (found !== undefined) await deleteSession(home, found);
    return {};
  }

  /** Ends a session as a cancel does, and forgets it; it stays stored. */
  async close(params: RpcParams): Promise<Record<string, never>> {
    await this.#end(this.find(params).id);
    return {};
  }

  /** Ends the turn of a session; an unknown one has none. */
  cancel({ sessionId }: RpcParams): void {
    if (typeof sessionId === "string") this.#open.get(sessionId)?.cancel();
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.#end(id)));
  }

  async #end(id: string): Promise<void> {
    const session = this.#open.get(id);
    this.#open.delete(id);
    await session?.close();
  }

  /** The model that a stored session had: its server, which may not run now, need not be asked for one then. */
  async #storedModel(id: string, { cwd }: SessionPlace, configuration: Configuration): Promise<string | null> {
    const home = await openHome(this.#connection.context.io);
    const { model, provider } = await findSession(home, id, this.#scope(cwd));
    return configuration.providers.some(({ name }) => name === provider) ? `${provider}:${model}` : null;
  }

  #scope(cwd: string): SessionScope {
    return { projectRoot: projectRootOf(cwd, this.#connection.context.io) };
  }

  async #make(place: SessionPlace, { id, resumes }: { id: string; resumes: boolean }): Promise<AcpSession> {
    const { options, context: { io } } = this.#connection;
    const { configuration } = await configured({ io });
    if (configuration.providers.length === 0 && options.model === undefined && !io.env("AGENTCLI_MODEL")) {
      throw new AgentcliError("no_provider", "no model server is configured", {
        hint: "run `agentcli init-providers`, or start the agent with --model demo",
      });
    }
    const models = offeredModels(configuration, io);
    const usual = options.model ?? await usualModel(configuration, io);
    const model = usual ?? (resumes ? await this.#storedModel(id, place, configuration) : null) ??
      models.find(({ isLocal }) => isLocal)?.value ?? null;
    const showProtected = configuration.acp?.showProtected ?? true;
    const isChosen = usual === null;
    return new AcpSession(this.#connection, { ...place, id, resumes, models, model, isChosen, showProtected });
  }
}

/** Reads where a session works. Throws for paths that are not absolute, or lead to no directory. */
async function placeOf({ cwd, additionalDirectories, mcpServers }: RpcParams): Promise<SessionPlace> {
  const directories = Array.isArray(additionalDirectories) ? additionalDirectories : [];
  for (const path of [cwd, ...directories]) {
    if (typeof path !== "string" || !isAbsolute(path)) throw invalidParams("cwd and directories are absolute paths");
    const found = quietly(() => statSync(path));
    if (found?.kind !== "directory") throw invalidParams(`${path} is not a directory`);
  }
  if (mcpServers !== undefined && mcpServers !== null && !Array.isArray(mcpServers)) {
    throw invalidParams("mcpServers is not a list");
  }
  const given: readonly unknown[] = mcpServers ?? [];
  const none = { servers: [], problems: [] };
  const { servers, problems } = given.length === 0 ? none : (await import("../mcp_config.ts")).clientServers(given);
  return { cwd: cwd as string, directories, mcpServers: servers, problems };
}

function sessionInfo({ id, projectRoot, title: named, firstPrompt, updated }: SessionSummary, cwd: string | null) {
  if (projectRoot === null) return [];
  const title = titleOfPrompt(named || firstPrompt);
  const info = { sessionId: id, cwd: cwd ?? projectRoot, updatedAt: new Date(updated).toISOString() };
  return [{ ...info, ...title === "" ? {} : { title } }];
}
