/** What was met, for eyes: one row an address, the models below each other. */
import type { Discovered, DiscoveredModel } from "../../provider/backends/discovery.ts";
import { clean } from "../../terminal/clean.ts";
import { table } from "../../terminal/table.ts";

/** Models that are shown for one server. */
const SHOWN = 12;
/** Characters of an id that are shown. */
const ID_SHOWN = 100;

/** The table with its heading; `width` as for {@link table}. Everything from servers is cleaned. */
export function discoveryTable(found: readonly Discovered[], options: { width: number }): string {
  const rows = found.flatMap((server) => {
    const [first = "", ...more] = modelLines(server.models);
    const label = server.runtime ?? "-";
    const known = server.server === null ? "" : clean(server.server.label);
    return [
      [label, `${clean(server.host)}:${server.port}`, stateText(server), known, first],
      ...more.map((line) => ["", "", "", "", line]),
    ];
  });
  return table([["LABEL", "ADDRESS", "STATE", "SERVER", "MODELS"], ...rows], options);
}

function stateText(server: Discovered): string {
  return server.detail === "" ? server.state : `${server.state} (${clean(server.detail)})`;
}

function modelLines(models: readonly DiscoveredModel[]): string[] {
  const shown = models.slice(0, SHOWN).map(modelText);
  return models.length > SHOWN ? [...shown, `and ${models.length - SHOWN} more`] : shown;
}

/** `qwen3:8b (32,768 tokens)`; the id alone where the window is unknown. */
export function modelText(model: DiscoveredModel): string {
  const id = modelName(model.id);
  return model.contextWindow === null ? id : `${id} (${model.contextWindow.toLocaleString("en-US")} tokens)`;
}

/** An id as it can be shown: cleaned, and cut when it is very long. */
export function modelName(id: string): string {
  const text = clean(id);
  return text.length > ID_SHOWN ? `${text.slice(0, ID_SHOWN)}…` : text;
}
