/** The beginning of a connection: versions, capabilities, and what stands for signing in. */
import { AgentcliError } from "../../errors.ts";
import { fieldsOf } from "../../platform/record.ts";
import type { RpcParams } from "../../rpc/message.ts";
import type { Context } from "../command.ts";
import { VERSION } from "../version.ts";
import { invalidParams } from "./errors.ts";

/** The one version that is spoken. */
const PROTOCOL_VERSION = 1;

/** The capabilities of the client, as far as they are used. */
export interface ClientCapabilities {
  /** Answers `fs/read_text_file`: with what its editor holds, unsaved changes too. */
  readsFiles: boolean;
  /** Shows updates of the kind `notice`. */
  notices: boolean;
  /** Shows updates of the kind `compaction_update`. */
  compaction: boolean;
}

export const NO_CAPABILITIES: ClientCapabilities = { readsFiles: false, notices: false, compaction: false };

/** Looks for model servers on this machine: there are no accounts. */
const SETUP_LOCAL = {
  id: "setup-local",
  name: "Use the model servers of this machine",
  description:
    "Looks for running model servers on the usual ports and adds them to providers.yaml. No account, no key.",
};

const SETUP_TERMINAL = {
  type: "terminal",
  id: "setup",
  name: "Find or add a model server",
  description: "Runs agentcli init-providers in a terminal.",
  args: ["--setup"],
};

/** Answers `initialize`. Throws for a version that is no number. */
export function initialize(
  { protocolVersion, clientCapabilities }: RpcParams,
): { client: ClientCapabilities; result: Record<string, unknown> } {
  if (typeof protocolVersion !== "number" || !Number.isInteger(protocolVersion)) {
    throw invalidParams("protocolVersion is not a whole number");
  }
  const given = fieldsOf(clientCapabilities);
  const session = fieldsOf(given.session);
  const client = {
    readsFiles: fieldsOf(given.fs).readTextFile === true,
    notices: isOffered(session.notices),
    compaction: isOffered(session.compaction),
  };
  const result = {
    protocolVersion: PROTOCOL_VERSION,
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: { list: {}, delete: {}, resume: {}, close: {}, additionalDirectories: {} },
    },
    authMethods: [SETUP_LOCAL, ...fieldsOf(given.auth).terminal === true ? [SETUP_TERMINAL] : []],
    agentInfo: { name: "agentcli", title: "agentcli", version: VERSION },
  };
  return { client, result };
}

function isOffered(capability: unknown): boolean {
  return capability !== undefined && capability !== null;
}

/** Answers `authenticate`: looks for model servers, and adds those that are new. Throws where there is none to use. */
export async function authenticate({ methodId }: RpcParams, { io }: Context): Promise<Record<string, never>> {
  if (methodId !== SETUP_LOCAL.id) throw invalidParams(`unknown method of authentication; there is ${SETUP_LOCAL.id}`);
  const { findLocalServers } = await import("../init_providers/run.ts");
  const providers = await findLocalServers(io);
  if (providers > 0) return {};
  throw new AgentcliError("no_provider", "no model server answers on this machine, and none is configured", {
    hint: "start one, for example with `agentcli local-model serve`, or add one with `agentcli providers add`",
  });
}
