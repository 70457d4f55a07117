/**
 * Serves clients over MCP: one on standard input and output until it ends its input, or all on a port of loopback;
 * until a signal comes. Each session is a process of its own, which is served here too.
 */
import { projectRootOf } from "../../boundary/policy/project.ts";
import { openHome } from "../../platform/home.ts";
import type { Io } from "../../platform/io.ts";
import { AgentcliError } from "../../errors.ts";
import { factsOf } from "../../private/facts.ts";
import { McpServer } from "../../private/mcp_server.ts";
import { bits, clientResult, costOfOutcome, type Outcome } from "../../private/outcome.ts";
import { PrivateService, type ServiceClock } from "../../private/service.ts";
import { openInProcess, type OpenPrivate, serveSession } from "../../private/session_process.ts";
import { startOwnProcess } from "../../platform/process.ts";
import { heardSigns } from "../../provider/backends/localities.ts";
import { RpcPeer } from "../../rpc/peer.ts";
import { serveUntilStopped } from "../result.ts";
import type { Context, Invocation } from "../command.ts";
import { VERSION } from "../version.ts";
import type { SERVE_OPTIONS, SESSION_OPTIONS } from "./command.ts";

/**
 * Runs the command. Standard error has lines of the start, over HTTP what waits for the user, and with `--audit` what
 * the client gets. `clock` is what answers are timed by, `open` how sessions are opened: in processes of their own
 * where the program can start itself.
 */
export async function serve(
  { options, context }: Invocation<typeof SERVE_OPTIONS>,
  { clock = { ...context.io.clock, hold: context.io.clock.sleep }, open = openApart(context, options.model) }: {
    clock?: ServiceClock;
    open?: OpenPrivate;
  } = {},
): Promise<number> {
  const { io } = context;
  const service = await openService(context, { model: options.model, clock, open });
  const port = options.http === undefined ? null : portOf(options.http);
  const heard = async (tool: string, outcome: Outcome) => {
    if (options.audit) await audit(context, tool, outcome);
    if (port !== null && outcome.kind === "held") await printHeld(context, outcome);
  };
  const make = () => new McpServer({ version: VERSION, service, heard });
  return await serveUntilStopped(io, async (stopped) => {
    const serving = port === null
      ? serveStreams(io, make(), { service, stopped })
      : serveHttp(context, { port, make, service, stopped });
    await serving.finally(() => service.close());
  });
}

interface Serving {
  /** Closed first: connections end after what they wait for. */
  service: PrivateService;
  stopped: Promise<void>;
}

/** Serves one client, until it ends its input. */
async function serveStreams({ stdin, stdout }: Io, server: McpServer, { service, stopped }: Serving): Promise<void> {
  const read = async () => {
    const bytes = await stdin.read();
    if (bytes === null) void service.close();
    return bytes;
  };
  const stream = { read, write: (text: string) => stdout.write(text) };
  const peer = new RpcPeer(stream, {
    request: (method, params, call) => service.steady(() => server.request(method, params, call)),
    notification: () => {},
  }, {
    cancel: { method: "notifications/cancelled", isAnswered: false },
    broken: { isAnswered: true, hear: () => service.steady(() => Promise.resolve()) },
  });
  await Promise.race([peer.run(), stopped]).finally(() => peer.close());
}

/** Serves all clients of this user that know the address. */
async function serveHttp(
  { io }: Context,
  { port, make, service, stopped }: Serving & { port: number; make: () => McpServer },
): Promise<void> {
  const { answerHttp, tokenIn, TOKEN_FILE } = await import("../../private/http_endpoint.ts");
  const { serveLoopback } = await import("../../platform/http_server.ts");
  const home = await openHome(io);
  const token = await tokenIn(home);
  const listening = () => {
    try {
      const server = serveLoopback(
        (request) => service.steady(() => answerHttp(request, { port: server.port, token, server: make })),
        { port },
      );
      return server;
    } catch (error) {
      throw new AgentcliError("usage", `the port ${port} of 127.0.0.1 cannot be used`, {
        hint: "choose another one",
        cause: error,
      });
    }
  };
  const server = listening();
  try {
    await io.stderr.write(
      `agentcli: serving http://127.0.0.1:${server.port}/mcp\n` +
        `agentcli: to clients that send "Authorization: Bearer TOKEN", with the token in ${home.file(TOKEN_FILE)}\n`,
    );
    await stopped;
  } finally {
    await service.close();
    await server.close();
  }
}

/** The port of `127.0.0.1:PORT`. Throws `usage` for another address. */
function portOf(address: string): number {
  const port = Number(/^127\.0\.0\.1:(\d{1,5})$/.exec(address)?.[1] ?? NaN);
  if (port >= 0 && port <= 65_535) return port;
  throw new AgentcliError("usage", "--http takes an address of loopback, as 127.0.0.1:7801", {
    hint: "with port 0 a free one is taken",
  });
}

async function openService(
  { io, globals }: Context,
  { model, clock, open }: { model: string | undefined; clock: ServiceClock; open: OpenPrivate },
): Promise<PrivateService> {
  const home = await openHome(io);
  const root = projectRootOf(globals.cwd, io);
  return new PrivateService({ home, root, clock, facts: () => factsOf(home, { io, root, model }), open });
}

/** Sessions in processes of their own. */
function openApart({ io, globals: { cwd } }: Context, model: string | undefined): OpenPrivate {
  const args = ["--cwd", cwd, "mcp", "session", ...model === undefined ? [] : ["--model", model]];
  return async (rights, signal) => {
    const process = startOwnProcess(args, io.environment());
    if (process === null) return await openHere({ io, cwd, model })(rights, signal);
    return await openInProcess(process, { rights, heard: heardSigns(io) }, signal);
  };
}

/** Sessions in this process. */
export function openHere({ io, cwd, model }: { io: Io; cwd: string; model: string | undefined }): OpenPrivate {
  return async (rights, signal) => {
    const { openPrivateSession } = await import("../../private/session.ts");
    return await openPrivateSession({ io, cwd, version: VERSION, model, rights }, signal);
  };
}

/** Runs `mcp session`: answers the server in a process of its own; one session, then it ends. */
export async function session(
  { options: { model }, context: { io, globals } }: Invocation<typeof SESSION_OPTIONS>,
): Promise<void> {
  await serveSession({ read: () => io.stdin.read(), write: (text) => io.stdout.write(text) }, {
    open: openHere({ io, cwd: globals.cwd, model }),
    heard: heardSigns(io),
  });
}

/**
 * Prints that an answer waits for the user. Only where standard error is theirs: a client that starts the server shows
 * it.
 */
async function printHeld({ io }: Context, { id }: { id: string }): Promise<void> {
  await io.stderr.write(`agentcli: ${id} waits for you: agentcli mcp release ${id}\n`);
}

/** One line for each outcome: what the client gets, and what it cost. */
async function audit({ io }: Context, tool: string, outcome: Outcome): Promise<void> {
  const { structuredContent, content } = clientResult(outcome);
  const line = { time: new Date(io.clock.now()).toISOString(), tool, bits: bits(costOfOutcome(outcome)) };
  await io.stderr.write(JSON.stringify({ ...line, told: structuredContent ?? content }) + "\n");
}
