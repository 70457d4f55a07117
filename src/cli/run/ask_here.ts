/** A loopback address may pass requests on: before protected content goes there, the server is asked where the model is. */
import type { AskModel } from "../../agent/turn.ts";
import type { Label } from "../../boundary/policy/label.ts";
import { type PlacedModel, type Placements, requireHere } from "../../provider/placement.ts";

/** What the check needs. */
export interface HereOptions {
  placements: Placements;
  placed: PlacedModel;
  /** Of everything the session holds, at the time of the request. */
  label(): Label;
}

/**
 * Asks like `ask`, but throws `policy_refused` for a protected session whose model turns out to run elsewhere (a cloud
 * model behind Ollama, a gateway). Costs nothing in sessions that hold nothing protected.
 */
export function askHere(ask: AskModel, { placements, placed, label }: HereOptions): AskModel {
  return async (request, asked) => {
    if (label() !== "open") {
      const placement = await placements.of(placed, asked.signal);
      requireHere(placement, { provider: placed.endpoint.provider, what: "what this session has read" });
    }
    return await ask(request, asked);
  };
}
