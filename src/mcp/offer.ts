/** The offer to the model: which tools of servers are found, which are functions of their own, and what names mean. */
import { highestLabel, type Label } from "../boundary/policy/label.ts";
import { closest } from "../config/suggest.ts";
import { checkArguments, type CheckedArguments } from "../provider/check_arguments.ts";
import { type ExposedTools, exposeTools } from "./exposure.ts";
import { callName, findTools, type FoundServer, READ_RESOURCE, toolLine } from "./find.ts";
import type { McpHub } from "./hub.ts";
import type { ServerState } from "./session_server.ts";
import type { Manifest, McpTool } from "./tool_info.ts";

export interface MeantTool {
  server: string;
  tool: McpTool;
  /** It reads a resource: a tool of this program over what the server provides. */
  isResource: boolean;
}

type KnownServer = ServerState & { manifest: Manifest };

const RESOURCE_TOOL: McpTool = {
  name: READ_RESOURCE,
  description: "Read a resource of the server.",
  schema: { type: "object", properties: { uri: { type: "string" } }, required: ["uri"] },
  readOnly: true,
};

/** The tools of one session. They stay as they are until it ends. */
export class McpOffer {
  readonly exposed: ExposedTools;
  readonly #servers: KnownServer[];
  readonly #found: FoundServer[];

  /** `window` is that of the model, in tokens. */
  constructor(readonly hub: McpHub, window: number) {
    this.#servers = hub.states.filter((state): state is KnownServer =>
      state.server.enabled && state.problem === null && state.manifest !== null &&
      hub.refusal(state.server.name) === null
    );
    this.exposed = exposeTools(this.#servers, window);
    const searched = new Set(
      this.exposed.tools.filter(({ exposure }) => exposure === "search").map(({ server, tool }) =>
        callName(server, tool.name)
      ),
    );
    this.#found = this.#servers.map(({ server, manifest }) => ({
      name: server.name,
      description: server.description ?? manifest.title,
      manifest,
      isOffered: ({ name }) => searched.has(callName(server.name, name)),
    }));
  }

  /** Whether there is something to find, so that the two tools for it are worth their space. */
  get hasSearch(): boolean {
    return this.exposed.tools.some(({ exposure }) => exposure === "search") ||
      this.exposed.tools.length === 0 && this.#servers.some(({ manifest }) => manifest.resources.length > 0);
  }

  get serverNames(): string[] {
    return this.#servers.map(({ server }) => server.name);
  }

  find(query: string): string {
    return findTools(query, this.#found);
  }

  /** Returns the label of what was found: the resources of a server are named after what it holds. */
  labelOf(text: string): Label {
    const named = this.#servers.filter(({ server }) => text.includes(server.name));
    return highestLabel(named.map(({ server }) => server.label ?? "open"));
  }

  /** Returns the tool of a name: `server.tool`, as a rule writes it, or the tool alone where only one server has it. */
  meant(name: string): MeantTool | { problem: string } {
    const wanted = name.trim().replace(/^mcp__(.+?)__/, "$1.");
    const all = this.#all();
    const exact = all.get(wanted) ?? all.get(wanted.toLowerCase());
    if (exact !== undefined) return exact;
    const alone = [...all].filter(([known, { tool }]) =>
      tool.name === wanted ||
      known.replace(/[^a-z0-9]/gi, "").toLowerCase() === wanted.replace(/[^a-z0-9]/gi, "").toLowerCase()
    );
    if (alone.length === 1 && alone[0] !== undefined) return alone[0][1];
    const named = closest(wanted, all.keys());
    const last = wanted.split(".").at(-1) ?? wanted;
    const near = named.length > 0 ? named : closest(last, [...all.values()].map(({ tool }) => tool.name))
      .flatMap((one) => [...all].filter(([, { tool }]) => tool.name === one).map(([known]) => known)).slice(0, 3);
    const hint = near.length > 0
      ? `Did you mean ${near.join(" or ")}?`
      : `Call McpFind with words that say what you need; servers: ${this.serverNames.join(", ")}.`;
    return { problem: `There is no tool "${wanted.slice(0, 100)}". ${hint}` };
  }

  /** Checks the arguments of a tool; a problem repeats how it is called. */
  check({ server, tool }: MeantTool, args: Record<string, unknown>): CheckedArguments {
    const checked = checkArguments(tool.schema, args);
    return "value" in checked ? checked : { problem: `${checked.problem} Usage: ${toolLine(server, tool)}` };
  }

  #all(): Map<string, MeantTool> {
    const offered = this.exposed.tools.filter(({ exposure }) => exposure !== "off");
    const all = new Map(
      offered.map((
        { server, tool },
      ): [string, MeantTool] => [callName(server, tool.name), { server, tool, isResource: false }]),
    );
    for (const { server, manifest } of this.#servers) {
      const name = callName(server.name, READ_RESOURCE);
      // A tool of that name on the server takes precedence.
      if (manifest.resources.length > 0 && !all.has(name)) {
        all.set(name, { server: server.name, tool: RESOURCE_TOOL, isResource: true });
      }
    }
    return all;
  }
}
