/** Asks servers where their models run, before each request, and hears what their responses say of it. */
import type { Io } from "../../platform/io.ts";
import type { HttpClient } from "../http/client.ts";
import type { Endpoint } from "../types.ts";
import type { ModelLocality } from "./backend.ts";
import { type Answer, countsFor, reasonFor, type Sign, signOfElsewhere } from "./elsewhere.ts";

export interface LocatedModel {
  endpoint: Endpoint;
  /** As the server knows it. */
  model: string;
  /** The provider entry says `local: true`: the user's word for a server that cannot tell. */
  trusted: boolean;
}

export interface Localities {
  /**
   * Returns where the model runs, asked anew each time: a server can be another one the next moment. `here` takes an
   * answer of the server to every question; no answer in time, or a failure, is `remote`. Throws only the signal's
   * reason.
   */
  of(located: LocatedModel, signal?: AbortSignal): Promise<ModelLocality>;
  /**
   * Takes in what a response says of where it comes from. From elsewhere: nothing at that address counts as local any
   * more while the program runs, and the reason is returned; else null.
   */
  hear(located: LocatedModel, answer: Answer): string | null;
}

/** Signs heard at an address, for each run of the program: sessions come and go in one. */
const HEARD = new WeakMap<Io["clock"], Map<string, Sign>>();

/** Creates what asks and hears through a client. */
export function createLocalities(client: HttpClient, { clock }: Pick<Io, "clock">): Localities {
  const heard = HEARD.get(clock) ?? new Map<string, Sign>();
  HEARD.set(clock, heard);
  return {
    async of(located, signal) {
      const { endpoint } = located;
      if (!endpoint.local) return { kind: "remote", reason: `the address of ${endpoint.provider} is not local` };
      const sign = heard.get(endpoint.baseUrl) ?? null;
      if (countsFor(located, sign)) {
        return { kind: "remote", reason: `it said in a response: ${reasonFor(located, sign)}` };
      }
      // Most sessions have nothing to protect, and never ask.
      const { locate } = await import("./model_locality.ts");
      return await locate(client, located, signal);
    },
    hear(located, answer) {
      const sign = located.endpoint.local ? signOfElsewhere(answer) : null;
      if (!countsFor(located, sign)) return null;
      heard.set(located.endpoint.baseUrl, sign);
      return reasonFor(located, sign);
    },
  };
}
