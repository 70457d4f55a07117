/** The forms of a server on their way to a person, and the answers on theirs to the server. */
import { protectedArgument, serverClass } from "./server_admission.ts";
import { stringsOf } from "../platform/record.ts";
import type { ServerAsks } from "./client.ts";
import { answerRecord, readForm } from "./elicit.ts";
import type { HubOptions } from "./session_server.ts";
import type { McpServer } from "./server.ts";

/**
 * Returns what answers the forms of a server; undefined where nobody is there. Scans what a person types into a form of a
 * server that could pass it on, like the arguments of a call.
 */
export function guardedForms(
  server: McpServer,
  { elicit, notify, scope }: Pick<HubOptions, "elicit" | "notify" | "scope">,
): ServerAsks["elicit"] {
  if (elicit === undefined) return undefined;
  return async (params, signal) => {
    const form = readForm(server.name, params);
    if ("problem" in form) {
      await notify(`the MCP server ${server.name} ${form.problem}: declined`);
      return { action: "decline" };
    }
    const answer = await elicit(form, signal);
    if (answer.action !== "accept" || serverClass(server) === "local-only") return answerRecord(answer);
    const texts = [...stringsOf(answer.content), JSON.stringify(answer.content)];
    const { found, workspace } = scope();
    if (!await found(texts, { isLeaving: true }) && protectedArgument(texts, workspace) === null) {
      return answerRecord(answer);
    }
    await notify(`the answer holds protected content, which the MCP server ${server.name} may not be told: declined`);
    return { action: "decline" };
  };
}
