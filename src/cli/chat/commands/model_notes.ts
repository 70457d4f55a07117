/** Notes beside the name of a model: size, quantization, window, loaded or not. Loaded with the first list. */
import type { ProviderEntry } from "../../../config/types.ts";
import type { HttpClient } from "../../../provider/http/client.ts";
import { backendOf } from "../../../provider/backends/backends.ts";
import { findWindows, inquire } from "../../../provider/backends/inquiry.ts";
import type { ModelList } from "../../../provider/backends/model_list.ts";
import { recognize } from "../../../provider/backends/recognize.ts";
import type { Endpoint } from "../../../provider/types.ts";
import { clean } from "../../../terminal/clean.ts";
import { tokensText } from "../../run/text_output.ts";

/** Models of one server that are asked about beyond its list. */
const MOST_MODELS = 200;

/** Quantization in the name of a model or of its file. */
const QUANTIZED =
  /(?:^|[-_.:/@])((?:UD-)?I?Q[1-8](?:_[A-Z0-9]+)*|[BF]F?16|FP8|MXFP4|NVFP4|AWQ|GPTQ|[48]bit)(?=$|[-_.:/@])/i;

/** Returns a note for each model of a server that answered, in their order. Throws only the signal's reason. */
export async function modelNotes(
  client: HttpClient,
  endpoint: Endpoint,
  { list, provider, timeoutMs, signal }: {
    list: ModelList;
    provider: ProviderEntry;
    timeoutMs: number;
    signal: AbortSignal;
  },
): Promise<string[]> {
  const limits = { timeoutMs, signal };
  const server = (await recognize(client, endpoint, { answer: list, ...limits }))?.server ?? null;
  const inquiry = inquire(client, endpoint, { list, ...limits });
  const models = list.models.slice(0, MOST_MODELS).map(({ id }) => id);
  const [traits, windows] = await Promise.all([
    backendOf(server)?.traits?.(inquiry),
    findWindows(inquiry, server, models),
  ]);
  return list.models.map(({ id, state }) => {
    const entry = provider.models.find((model) => model.id === id);
    const { bytes, quantization, isLoaded, tools, vision } = traits?.get(id) ?? {};
    const window = entry?.contextWindow ?? windows.get(id)?.tokens;
    const loaded = state === undefined ? isLoaded : state === "loaded";
    return [
      bytes === undefined ? "" : sizeText(bytes),
      clean(quantization ?? QUANTIZED.exec(id)?.[1] ?? ""),
      window === undefined ? "" : `${tokensText(window)} window`,
      loaded === undefined ? "" : loaded ? "loaded" : "not loaded",
      tools === undefined ? "" : tools ? "tools" : "no tools",
      (vision ?? entry?.images) === true ? "vision" : "",
    ].filter((part) => part !== "").join(" · ");
  });
}

/** Bytes as people say them of models: `4.7 GB`. */
function sizeText(bytes: number): string {
  const gigabytes = bytes / 1e9;
  return gigabytes >= 1 ? `${gigabytes.toFixed(1)} GB` : `${Math.max(1, Math.round(bytes / 1e6))} MB`;
}
