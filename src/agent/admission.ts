/**
 * Admission of prompts and requests: every prompt passes here on its way into a session, and every request on its way
 * to a model. Source: specification of the boundary, "Letting out".
 */
import { admitItems, type Label, labelOf } from "../boundary/policy/label.ts";
import type { UserItem } from "../session/item.ts";
import type { Session, SessionModel } from "./session.ts";
import type { Tool } from "../tools/tool.ts";
import { raiseLabels, sessionLabel, textsOfItem } from "./labels.ts";
import { AgentcliError } from "../errors.ts";
import type { Localities, LocatedModel } from "../provider/backends/localities.ts";
import { providerLabel } from "../config/base_url.ts";
import { ProviderFailure } from "../provider/failure.ts";
import type { Chat, ChatRequest } from "../provider/types.ts";

const PROMPT = {
  name: "the prompt",
  hint: "use a local model, or send it all the same, this once, with --allow-protected-prompt",
};

const SYSTEM_PROMPT = {
  name: "the system prompt",
  hint: "use a local model, or take that text out of --system-prompt, --append-system-prompt, AGENTS.md and the " +
    "descriptions of a client's tools",
};

/**
 * A prompt that may become part of a session, and why: the user let a `released` one go to this provider at
 * this address, and it is never stored.
 */
export interface AdmittedPrompt {
  readonly item: UserItem;
  readonly admitted: Label | "released";
}

/**
 * Labels a prompt, and the system message, by what stands in them: for a local model content of a protected file makes
 * them protected, and so does anything protected that the session holds. Throws `policy_refused` for a provider that is
 * not local, before the prompt is part of the session, and `usage` for images that the model is known not to see.
 * `allowed` is the user's word for this one prompt (`--allow-protected-prompt`): it makes a protected one `released`.
 * Source: specification of the boundary, "Letting out".
 */
export async function admitPrompt(
  session: Session,
  item: UserItem,
  { allowed }: { allowed: boolean },
): Promise<AdmittedPrompt> {
  const { model, scanner, system } = session;
  if (item.images !== undefined) {
    const { requireVision } = await import("./context/vision.ts");
    await requireVision(session, item);
  }
  raiseLabels(session);
  const { provider, local } = model;
  // A client writes the descriptions of its tools, and they stand before every message as the system message does.
  const standing = [system.text, JSON.stringify(session.schemas), ...system.files];
  if (await scanner?.checkPart(standing, SYSTEM_PROMPT, model) === "no-cloud") system.label = "no-cloud";
  // Content that the user lets through is treated as it would be for a local model.
  const destination = { provider, local: local || allowed };
  const found = await scanner?.checkPart(textsOfItem(item), PROMPT, destination) ?? "open";
  if ((found !== "open" && local) || sessionLabel(session) !== "open") item.label = "no-cloud";
  admitItems({ kind: "provider", name: provider, local }, [system, ...session.items, item]);
  if (found === "open" || local) return { item, admitted: found };
  return { item: { ...item, releasedTo: placeOf(model) }, admitted: "released" };
}

/** Returns what a released prompt is bound to: another address under the same name is another place. */
function placeOf({ provider, baseUrl }: Pick<SessionModel, "provider" | "baseUrl">): string {
  return `${provider} ${baseUrl}`;
}

/**
 * Reads the markers again and applies them to what the session holds: before each request, and before what a person
 * says or does between two of them is judged.
 */
export async function applyMarkers(session: Session, signal?: AbortSignal): Promise<void> {
  await session.workspace.refresh(signal);
  raiseLabels(session);
  session.model.local &&= session.workspace.local;
}

interface RequestTarget {
  located: LocatedModel;
  localities: Localities;
  /** Whether the model of a role was found to be local; absent for the session's own, which stays remote once it is. */
  isLocal?: boolean;
  /** Called once, when the session's own model is found to be remote although it counted as local. */
  onRemote?(reason: string): void;
}

/**
 * Returns `chat` with an admission before each attempt. A response from elsewhere ends a request that was admitted
 * because the model counted as local. What a server says of a failure is redacted if it holds protected content.
 * `session` is called at each attempt: it may not exist before.
 */
export function admitted(chat: Chat, target: RequestTarget, session: () => Session): Chat {
  const { located, localities } = target;
  // A server may repeat what it received in another session.
  const isHeld = async (texts: readonly string[]) => await session().scanner?.holds(texts) === true;
  const redacted = `${
    providerLabel(located.endpoint.provider)
  } failed (redacted: what it says holds protected content)`;
  return async (request, options) => {
    let wentAsLocal = false;
    const sent = chat(request, {
      ...options,
      ...options.onRetry && {
        onRetry: async (notice) =>
          await options.onRetry?.(await isHeld([notice.reason]) ? { ...notice, reason: redacted } : notice),
      },
      async beforeSend() {
        wentAsLocal = await admitRequest(request, { session: session(), target, signal: options.signal }) === "local";
      },
      onAnswer(answer) {
        const reason = localities.hear(located, answer);
        if (reason === null || !wentAsLocal) return;
        const had = sessionLabel(session()) === "open" ? "nothing protected" : "what this session has read";
        throw notLocal(located, `it answers that ${reason}; ${had} had been sent there before, and nothing more goes`);
      },
    });
    return await sent.catch(async (error: unknown) => {
      if (!(error instanceof ProviderFailure) || !await isHeld([error.message, error.hint ?? ""])) throw error;
      throw new ProviderFailure(error.code, redacted, { ...error.facts, hint: "look at the server's log" });
    });
  };
}

/** Returns why a provider does not count as local, as a sentence. */
export function notLocalText(provider: string, why: string): string {
  return `"${provider}" does not count as local: ${why}`;
}

function notLocal({ endpoint: { provider } }: LocatedModel, why: string): AgentcliError {
  return new AgentcliError("policy_refused", notLocalText(provider, why), {
    hint: "choose a model that runs on this machine",
  });
}

/**
 * Lets a request go, as one that may hold protected content (`local`) or not, or throws `policy_refused`. Where nothing
 * is protected, everything goes, and the server is not asked. A model that counts as local is asked about again: proven
 * to run here it gets everything. Any other gets nothing protected, and its whole body is scanned, after a walk of the
 * whole project for markers.
 */
async function admitRequest(
  request: ChatRequest,
  { session, target, signal }: { session: Session; target: RequestTarget; signal: AbortSignal },
): Promise<"local" | "open"> {
  const { workspace, model, system, items } = session;
  const { located, localities, isLocal } = target;
  const { provider, baseUrl } = located.endpoint;
  const isOwn = isLocal === undefined;
  await applyMarkers(session, signal);
  const counts = (isLocal ?? model.local) && workspace.countsAsLocal(baseUrl);
  const isOpen = () => sessionLabel(session) === "open";
  // A program started before could carry away what the model writes from now on.
  if (!isOpen()) await session.memory.commands?.endAll();
  if (isOpen() && !await mayHoldBack(session)) return "open";
  const place = counts ? await localities.of(located, signal) : null;
  if (place?.kind === "here") return "local";
  const outgoing = [system, ...items];
  if (place !== null) {
    const isKept = [...outgoing, ...labeled(session.tools)].some((one) => labelOf(one) !== "open");
    // What a model of a role sees of the project was made for a local one.
    if (isKept || !isOwn) throw notLocal(located, `${place.reason}; what this session has read stays here`);
    target.onRemote?.(place.reason);
    model.isInDoubt = place.inDoubt;
  }
  if (isOwn && model.local) {
    // A remote model reads nothing that they copied before it is scanned.
    await session.memory.commands?.endAll();
    workspace.becomeRemote();
    model.local = false;
  }
  if (!workspace.protection.any && isOpen()) return "open";
  admitItems({ kind: "provider", name: provider, local: false }, outgoing);
  const released = items.filter((item) => item.kind === "user")
    .filter(({ releasedTo, origin }) => releasedTo === placeOf(located.endpoint) && origin !== "summary");
  await session.scanner?.checkRequest(request, { provider, released, signal });
  return "open";
}

/**
 * Returns whether anything may have to be kept from a model elsewhere: of this project, a tool's server, or other
 * projects.
 */
async function mayHoldBack({ scanner, tools, workspace, sandbox }: Session): Promise<boolean> {
  return labeled(tools).length > 0 || (scanner?.mayFind() ?? workspace.protection.any) ||
    await sandbox?.protectsElsewhere() === true;
}

/** Returns the tools whose declarations are for local models alone. */
function labeled(tools: Session["tools"]): Pick<Tool, "label">[] {
  return tools.filter(({ label = "open" }) => label !== "open");
}
