/** MCP servers in the chat: the list of them, their prompts as commands, and their resources by name. */
import type { Label } from "../../../boundary/policy/label.ts";
import { serverClass } from "../../../mcp/server_admission.ts";
import { AgentcliError } from "../../../errors.ts";
import { failureOf } from "../../../mcp/link.ts";
import type { McpOffer } from "../../../mcp/offer.ts";
import type { McpServer } from "../../../mcp/server.ts";
import { readBlocks } from "../../../mcp/result.ts";
import { counted, grouped } from "../../../platform/number.ts";
import { fieldsOf, membersOf } from "../../../platform/record.ts";
import { clean } from "../../../terminal/clean.ts";
import type { Candidate, CompletionQuery } from "../../../terminal/editor_text.ts";
import { type Row, row, span } from "../../../terminal/style.ts";
import { fit } from "../../../terminal/table.ts";
import { wrap } from "../../../terminal/wrap.ts";
import { entryRows, textRows } from "../view/event_rows.ts";

/** Tools of one server that are listed. */
const MOST_TOOLS = 40;
/** Cells of the names of prompts and resources. */
const NAMES = 26;

/** The servers of a session, their cost, and their problems. */
export function mcpRows(offer: McpOffer | null, width: number): Row[] {
  const dimmed = (text: string) => textRows(text, { width, style: "dim" });
  if (offer === null) return dimmed("no MCP server is configured: agentcli mcp add, or agentcli mcp import");
  const { tools, budget } = offer.exposed;
  return [
    ...offer.hub.states.filter(({ server }) => server.enabled).flatMap(({ server, manifest, problem, isRunning }) => {
      const own = tools.filter((tool) => tool.server === server.name);
      const state = problem ?? (isRunning ? "running" : "starts with its first call");
      const tokens = own.reduce((sum, one) => sum + one.tokens, 0);
      const head = [
        span(`  ${clean(server.name)}`, "bold"),
        span(`  ${serverClass(server)}, `, "dim"),
        span(clean(state), problem === null ? "dim" : "warning"),
        span(manifest === null ? "" : `, ${counted(own.length, "tool")}, ${counted(tokens, "token")}`, "dim"),
      ];
      const called = [
        ...(manifest?.prompts ?? []).map(({ name, description }) => [`/${server.name}:${name}`, description] as const),
        ...(manifest?.resources ?? []).slice(0, MOST_TOOLS).map(({ uri, name }) =>
          [`@${server.name}:${uri}`, name] as const
        ),
      ];
      return [
        ...wrap(head, { width, indent: [span("    ")] }),
        ...own.slice(0, MOST_TOOLS).map(({ tool, exposure, tokens }): Row => {
          const figures = `    ${exposure.padEnd(6)} ${String(tokens).padStart(5)}  `;
          return [span(figures, "dim"), span(fit(clean(tool.name), width - figures.length))];
        }),
        ...own.length > MOST_TOOLS ? [row(`    … ${own.length - MOST_TOOLS} more`, "dim")] : [],
        ...called.flatMap(([name, what]) => entryRows(clean(name), clean(what), { column: NAMES, width })),
      ];
    }),
    ...dimmed(`direct tools may take ${grouped(budget)} tokens; the others are found by McpFind`),
  ];
}

/** The prompts of the servers as commands: `/server:prompt`. */
export function serverCommands({ hub }: McpOffer): { server: McpServer; name: string; brief: string; hint: string }[] {
  return hub.states.filter(({ server }) => server.enabled).flatMap(({ server, manifest }) =>
    (manifest?.prompts ?? []).map(({ name, description, arguments: words }) => ({
      server,
      name: `${server.name}:${name}`,
      brief: clean(description),
      hint: words.map((one) => `${clean(one.name)}=…`).join(" "),
    }))
  );
}

/** Returns the candidates of the servers for an incomplete word: prompts after `/`, resources after `@`. */
export function serverCandidates({ kind, word }: CompletionQuery, offer: McpOffer): Candidate[] {
  if (kind === "command") {
    return serverCommands(offer).filter(({ name }) => name.startsWith(word))
      .map(({ name, brief }) => ({ text: clean(`/${name}`), note: brief }));
  }
  return offer.hub.states.filter(({ server }) => server.enabled).flatMap(({ server, manifest }) =>
    (manifest?.resources ?? []).filter(({ uri }) => word !== "" && `${server.name}:${uri}`.startsWith(word))
      .map(({ uri, name }) => ({ text: clean(`@${server.name}:${uri}`), note: clean(name) }))
  );
}

/** The text of a server for a prompt of the person. */
interface ServerText {
  text: string;
  label: Label;
}

/** Reads `/server:prompt words`; null for a line that names no prompt of a server. Throws `usage` for missing words. */
export async function serverPrompt(
  line: string,
  offer: McpOffer | null,
  signal: AbortSignal,
): Promise<ServerText | null> {
  const [, server, name, words = ""] = /^\/([A-Za-z0-9_-]+):(\S+)(?:\s+([^]*))?$/.exec(line.trim()) ?? [];
  const state = offer?.hub.states.find((one) => one.server.name === server);
  if (offer === null || server === undefined || state === undefined) return null;
  const prompts = state.manifest?.prompts ?? [];
  const found = prompts.find((one) => one.name === name);
  if (found === undefined) {
    throw new AgentcliError("usage", `the MCP server ${server} has no prompt ${JSON.stringify(name)}`, {
      hint: prompts.length === 0 ? "see /mcp" : `prompts: ${prompts.map((one) => one.name).join(", ")}`,
    });
  }
  const args = promptArguments(words, found.arguments.map((one) => one.name));
  const missing = found.arguments.find((one) => one.required && (args[one.name] ?? "") === "");
  if (missing !== undefined) {
    throw new AgentcliError("usage", `/${server}:${name} needs ${missing.name}`, {
      hint: `/${server}:${name} ${found.arguments.map((one) => `${one.name}=…`).join(" ")}`,
    });
  }
  const answer = await asked(offer, server, { method: "prompts/get", params: { name, arguments: args }, signal });
  const blocks = membersOf(answer.messages).map((message) => fieldsOf(message).content);
  const { text } = await readBlocks(blocks.flat(), { name: `${server}:${name}` });
  return { text, label: await offer.hub.labelOf(server, text) };
}

/** `name=value` by name, quoted where it has spaces; without names the whole text is the first argument. */
function promptArguments(words: string, names: readonly string[]): Record<string, string> {
  const pairs = [...words.matchAll(/(?<=^|\s)([\w-]+)=(?:"([^"]*)"|(\S*))/g)].filter(([, name = ""]) =>
    names.includes(name)
  );
  if (pairs.length > 0) {
    return Object.fromEntries(pairs.map(([, name = "", quoted, bare = ""]) => [name, quoted ?? bare]));
  }
  const [first] = names;
  return first === undefined || words.trim() === "" ? {} : { [first]: words.trim() };
}

/** Resources of one line that are read. */
const MOST_RESOURCES = 5;
/** Characters of one resource that go with a prompt. */
const RESOURCE_LIMIT = 60_000;

/** Reads what `@server:uri` names in a text: the texts to go with it, and what could not be read. */
export async function serverResources(
  text: string,
  offer: McpOffer | null,
  signal: AbortSignal,
): Promise<{ parts: ServerText[]; problems: string[] }> {
  const found: { parts: ServerText[]; problems: string[] } = { parts: [], problems: [] };
  if (offer === null) return found;
  const named = [...text.matchAll(/(?<=^|[\s(])@([A-Za-z0-9_-]+):(\S+?)(?=[,;!?)]*(?:\s|$))/g)].slice(
    0,
    MOST_RESOURCES,
  );
  for (const [, server = "", uri = ""] of named) {
    const state = offer.hub.states.find((one) => one.server.name === server);
    if (state === undefined) continue;
    try {
      const answer = await asked(offer, server, { method: "resources/read", params: { uri }, signal });
      const read = await readBlocks(membersOf(answer.contents), { name: uri });
      const cut = read.text.length > RESOURCE_LIMIT ? `${read.text.slice(0, RESOURCE_LIMIT)}\n[cut]` : read.text;
      const label = await offer.hub.labelOf(server, read.text);
      found.parts.push({ text: `Resource ${server}:${uri}:\n${cut}`, label });
    } catch (error) {
      if (!(error instanceof AgentcliError)) throw error;
      found.problems.push(`@${server}:${uri} is not attached: ${error.message}`);
    }
  }
  return found;
}

async function asked(
  { hub }: McpOffer,
  server: string,
  { method, params, signal }: { method: string; params: Record<string, unknown>; signal: AbortSignal },
) {
  const forbidden = await hub.forbidden(server, params);
  if (forbidden !== null) throw new AgentcliError("policy_refused", forbidden, { hint: "see /mcp" });
  try {
    return await hub.request(server, method, params, { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new AgentcliError("turn_failed", `the MCP server ${server} ${failureOf(error)}`, { hint: "see /mcp" });
  }
}
