/** What a client may ask at any time, and the answers. */
import { PERMISSION_MODES, type PermissionMode } from "../../config/types.ts";
import { asAgentcliError } from "../../errors.ts";
import type { ControlRequest } from "../../protocol/input.ts";
import { textOf } from "./fields.ts";
import type { ListedModel } from "./listed_models.ts";

/** What requests act on. */
export interface RequestTarget {
  initialize(fields: Record<string, unknown>): void;
  /** Ends the running turn. Gives the ids of messages that still wait. */
  interrupt(): string[];
  setModel(name: string | undefined): Promise<void>;
  setMode(mode: PermissionMode): void;
  servers(): { name: string; status: string }[];
  models(): Promise<ListedModel[]>;
}

/** An answer: fields of a success, or an error. */
export type RequestAnswer = { response: Record<string, unknown> } | { error: string; code?: string };

/** Does what is asked; never throws but for bugs. */
export async function answerRequest(request: ControlRequest, target: RequestTarget): Promise<RequestAnswer> {
  try {
    return await perform(request, target);
  } catch (error) {
    const { message, code } = asAgentcliError(error);
    return { error: message, code };
  }
}

async function perform({ subtype, fields }: ControlRequest, target: RequestTarget): Promise<RequestAnswer> {
  switch (subtype) {
    case "initialize":
      target.initialize(fields);
      return {
        response: {
          commands: [],
          agents: [],
          output_style: "default",
          available_output_styles: ["default"],
          models: await target.models(),
          account: {},
        },
      };
    case "interrupt":
      return { response: { still_queued: target.interrupt() } };
    case "set_model":
      await target.setModel(textOf(fields.model));
      return { response: {} };
    case "set_permission_mode": {
      const mode = PERMISSION_MODES.find((known) => known === fields.mode);
      if (mode === undefined) {
        return { error: `unknown mode; there are: ${PERMISSION_MODES.join(", ")}`, code: "usage" };
      }
      target.setMode(mode);
      return { response: { mode } };
    }
    case "mcp_status":
      return { response: { mcpServers: target.servers() } };
    case "list_models":
      return { response: { models: await target.models() } };
    case "mcp_message":
      // Servers of the client tell of changes this way; tools are fixed for a session.
      return { response: {} };
    default:
      return {
        error: `Unsupported control request subtype: ${subtype.slice(0, 100)}`,
        code: "unsupported_request",
      };
  }
}
