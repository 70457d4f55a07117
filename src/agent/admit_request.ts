/**
 * The one question about a destination: may this body go there? Every request to a model asks it, at every attempt: of
 * the session's own model, of side models, after each retry. Source: specification of the boundary, second design §2.
 */
import { admit } from "../boundary/policy/gate.ts";
import { labelOf } from "../boundary/policy/label.ts";
import { AgentcliError } from "../errors.ts";
import type { LocalityCache, LocatedModel } from "../provider/backends/model_locality.ts";
import type { ChatRequest } from "../provider/types.ts";
import { type Session, sessionLabel } from "./session.ts";
import type { AskModel } from "./turn_options.ts";

/** The model that a request goes to. */
export interface RequestTarget {
  located: LocatedModel;
  localities: LocalityCache;
  /** Whether it is the session's own model, which stays remote for the session once it was found to be. */
  own: boolean;
  /** Called once, when the session's own model is found to be remote behind an address that looks local. */
  onRemote?(reason: string): void;
}

/** Returns `ask` with the question asked before each attempt. `session` is called then: it may not exist yet. */
export function admitted(ask: AskModel, target: RequestTarget, session: () => Session): AskModel {
  return (request, asked) =>
    ask(request, {
      ...asked,
      beforeSend: () => admitRequest(request, { session: session(), target, signal: asked.signal }),
    });
}

/**
 * Lets a request go, or throws `policy_refused`. Where nothing is protected and the session holds nothing protected,
 * everything goes; so that one need not ask the server. A model that is proven to run here gets everything. Any other gets
 * nothing protected, and its whole body is scanned, after a walk of the whole project for markers.
 */
async function admitRequest(
  request: ChatRequest,
  { session, target, signal }: { session: Session; target: RequestTarget; signal: AbortSignal },
): Promise<void> {
  const { workspace, model, system, items } = session;
  // Markers are read again for every request.
  await workspace.refresh(signal);
  model.local &&= workspace.local;
  const { located, localities } = target;
  const { provider, baseUrl } = located.endpoint;
  const looksLocal = located.endpoint.local && workspace.countsAsLocal(baseUrl);
  const { protection } = workspace;
  const isOpen = () => sessionLabel(session) === "open";
  const isProtected = looksLocal ? protection?.anySoon : protection?.any;
  if (isProtected === false && isOpen()) return;
  const locality = looksLocal ? await localities.of(located, signal) : null;
  if (locality?.kind === "here") return;
  if (protection?.any === false && isOpen()) return;
  const outgoing = [system, ...items];
  if (locality !== null && outgoing.some((item) => labelOf(item) !== "open")) {
    throw new AgentcliError(
      "policy_refused",
      `"${provider}" does not count as local: ${locality.reason}; what this session has read stays here`,
      { hint: "choose a model that runs on this machine" },
    );
  }
  if (target.own && model.local) {
    if (locality !== null) target.onRemote?.(locality.reason);
    workspace.becomeRemote();
    model.local = false;
  }
  admit({ kind: "provider", name: provider, local: false }, outgoing);
  const released = items.filter((item) => item.kind === "user").filter(({ isReleased }) => isReleased === true);
  await session.scanner?.checkRequest(request, { provider, released });
}
