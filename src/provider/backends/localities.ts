/** Asks servers where their models run before each request, and reads what their responses say of it. */
import { isLocal } from "../../boundary/policy/locality.ts";
import type { Io } from "../../platform/io.ts";
import { portOf } from "../../platform/text.ts";
import type { HttpClient } from "../http/client.ts";
import type { Endpoint } from "../types.ts";
import type { ModelLocality } from "./backend.ts";
import { type Answer, countsFor, namesCloudModel, reasonFor, type Sign, signOfElsewhere } from "./elsewhere.ts";

export interface LocatedModel {
  endpoint: Endpoint;
  /** As the server knows it. */
  model: string;
  /** The provider entry says `local: true`: the user's word for a server that does not say. */
  trusted: boolean;
}

/** A server, and {@link Sign.ofServer}. */
export type HeardElsewhere = [server: string, ofServer: boolean];

/** Signs from servers while the program runs: sessions come and go in it. */
export class HeardSigns {
  readonly #signs = new Map<string, Sign>();
  onNew: (heard: HeardElsewhere) => void = () => {};

  from(baseUrl: string): Sign | null {
    return this.#signs.get(serverAt(baseUrl)) ?? null;
  }

  /** One of a model is not replaced by one of the server, which a user's word outweighs. */
  add(baseUrl: string, sign: Sign): void {
    this.#put(serverAt(baseUrl), sign);
  }

  /** Returns the signs for another process, without the server's words. */
  heardElsewhere(): HeardElsewhere[] {
    return [...this.#signs].map(([server, { ofServer }]) => [server, ofServer]);
  }

  take(heard: readonly HeardElsewhere[]): void {
    for (const [server, ofServer] of heard) this.#put(server, { reason: "its model runs elsewhere", ofServer });
  }

  #put(server: string, sign: Sign): void {
    const known = this.#signs.get(server);
    if (known?.ofServer === false || known?.ofServer === sign.ofServer) return;
    this.#signs.set(server, sign);
    this.onNew([server, sign.ofServer]);
  }
}

/** Tells servers apart by the port on loopback, whose names mean one machine, and elsewhere by host and port. */
function serverAt(baseUrl: string): string {
  const url = new URL(baseUrl);
  return `${isLocal(baseUrl, []) ? "" : url.hostname}:${portOf(url)}`;
}

const HEARD = new WeakMap<Io["clock"], HeardSigns>();

/** Returns the signs of a run of the program, which has one clock. */
export function heardSigns({ clock }: Pick<Io, "clock">): HeardSigns {
  const heard = HEARD.get(clock) ?? new HeardSigns();
  HEARD.set(clock, heard);
  return heard;
}

/** Where models run, as far as it is known or servers say so through a client. */
export class Localities {
  readonly #client: HttpClient;
  readonly #heard: HeardSigns;

  constructor(client: HttpClient, io: Pick<Io, "clock">) {
    this.#client = client;
    this.#heard = heardSigns(io);
  }

  /**
   * Returns where the model counts as running as far as that is known without a question: by its address, its name and
   * the signs of its server.
   */
  byAddress(located: LocatedModel): ModelLocality {
    const { endpoint, model } = located;
    const remote = (reason: string): ModelLocality => ({ kind: "remote", reason });
    if (!endpoint.local) return remote(`the address of ${endpoint.provider} is not local`);
    if (namesCloudModel(model)) return remote(`${model} is a cloud model by its name`);
    const sign = this.#heard.from(endpoint.baseUrl);
    return countsFor(located, sign) ? remote(`it said in a response: ${reasonFor(located, sign)}`) : { kind: "here" };
  }

  /**
   * Returns where the model runs, asked each time: the next moment it can be another server. `here` takes an
   * answer of the server to every question; no answer in time, or a failure, is `remote`. Throws only the signal's
   * reason.
   */
  async of(located: LocatedModel, signal?: AbortSignal): Promise<ModelLocality> {
    const known = this.byAddress(located);
    if (known.kind === "remote") return known;
    // Most sessions have nothing to protect, and never ask.
    const { locate } = await import("./model_locality.ts");
    return await locate(this.#client, located, signal);
  }

  /**
   * Takes in what a response says of where it comes from. From elsewhere: nothing of that server, however its address
   * is written, counts as local again while the program runs, and the reason is returned; else null.
   */
  hear(located: LocatedModel, answer: Answer): string | null {
    const sign = located.endpoint.local ? signOfElsewhere(answer) : null;
    if (!countsFor(located, sign)) return null;
    this.#heard.add(located.endpoint.baseUrl, sign);
    return reasonFor(located, sign);
  }
}
