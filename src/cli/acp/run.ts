/** Serves one client on standard input and output until it ends its input, or a signal comes. */
import { AgentcliError } from "../../errors.ts";
import { OutputClosed } from "../../platform/io.ts";
import { RpcPeer } from "../../rpc/peer.ts";
import { serveUntilStopped } from "../serving.ts";
import type { Invocation } from "../command.ts";
import { reexecWithoutLeaks } from "../reexec.ts";
import type { ACP_OPTIONS } from "./command.ts";
import { AcpServer } from "./server.ts";

/** Runs the command. Where sessions will be is told later: then every project may have protected paths. */
export async function run({ options, context }: Invocation<typeof ACP_OPTIONS>): Promise<number> {
  const { io } = context;
  if (options.setup) {
    const setup = await import("../init_providers/run.ts");
    await setup.run({ options: { host: [], timeout: undefined, dryRun: false }, arguments: [], context });
    return 0;
  }
  const again = await reexecWithoutLeaks(io, "anywhere");
  if (again !== null) return again;
  const log = (text: string) => io.stderr.write(`agentcli: ${text}\n`);
  const stream = { read: () => io.stdin.read(), write: (text: string) => io.stdout.write(text) };
  const server = new AcpServer(options, context);
  const peer = new RpcPeer(stream, server, {
    cancel: { method: "$/cancel_request", isAnswered: true },
    broken: { isAnswered: true, hear: (problem) => log(`a line of standard input is ignored: ${problem}`) },
    failed(error, method) {
      // A client that has gone is no bug.
      if (error instanceof OutputClosed || error instanceof AgentcliError) return;
      return log(`internal error in ${method} (${error instanceof Error ? error.name : "unknown"})`);
    },
  });
  server.connect(peer);
  return await serveUntilStopped(io, async (stopped) => {
    try {
      await Promise.race([peer.run(), stopped]);
    } finally {
      peer.close();
      await server.close();
    }
  });
}
