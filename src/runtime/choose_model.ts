/** Which model a session runs with, and where that is; the stand-in server is started where it is chosen. */
import { selectModel, type WantedModel } from "../config/select.ts";
import type { Configuration, ModelEntry, ProviderEntry } from "../config/types.ts";
import type { Demo } from "../demo/server.ts";
import type { Io } from "../platform/io.ts";
import type { Endpoint } from "../provider/types.ts";
import type { ProviderReach } from "./provider_reach.ts";

/** A model on its server. */
export interface ChosenModel {
  provider: ProviderEntry;
  entry: ModelEntry;
  endpoint: Endpoint;
  /** The stand-in server; null for all others. */
  demo: Demo | null;
  /** For stderr. */
  notices: string[];
}

/** Where models are looked for. */
export interface ModelSearch {
  io: Pick<Io, "env">;
  configuration: Configuration;
  reach: ProviderReach;
  /** Closes the stand-in server. */
  opened: AsyncDisposableStack;
  /** The model that the stored session had; undefined for a new one. */
  stored?: WantedModel["session"];
}

/**
 * The model of `--model`, else of `AGENTCLI_MODEL`, else of the configuration, else of the stored session. Throws what
 * {@link selectModel} and the key and certificates of its provider throw.
 */
export async function chooseModel(option: string | undefined, search: ModelSearch): Promise<ChosenModel> {
  const { io, configuration, reach, opened, stored } = search;
  const wanted = { option, environment: io.env("AGENTCLI_MODEL"), session: stored };
  const { selection, warning } = await selectModel(configuration, wanted, reach.servedModels);
  const demo = selection.provider.name === "demo" ? await startDemo(opened) : null;
  const provider = demo === null ? selection.provider : { ...selection.provider, baseUrl: demo.baseUrl };
  return {
    provider,
    entry: selection.model,
    endpoint: await reach.endpointOf(provider),
    demo,
    notices: warning === undefined ? [] : [warning],
  };
}

async function startDemo(opened: AsyncDisposableStack): Promise<Demo> {
  const server = await import("../demo/server.ts");
  const demo = await server.startDemo();
  opened.defer(() => demo.close());
  return demo;
}
