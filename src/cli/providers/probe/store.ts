/** `--write`: what was found, into providers.yaml. */
import { editProviders } from "../../../config/edit.ts";
import type { Home } from "../../../platform/home.ts";
import type { Learnt } from "../../../provider/probe/findings.ts";

/** One field that was, or already had been, as it was found. */
export interface StoredField {
  field: "context_window" | "tool_calls" | "reasoning";
  old: string | number | null;
  new: string | number;
}

/** What came of storing: all fields that were found, in the order of the file. */
export interface Stored {
  provider: string;
  model: string;
  path: string;
  /** Whether the file changed. */
  changed: boolean;
  fields: StoredField[];
}

/** Stores the fields that were found, under the file's lock; a model that is not configured yet is added. */
export async function storeLearnt(
  home: Home,
  found: { provider: string; model: string; learnt: Learnt },
): Promise<Stored> {
  const { provider, model, learnt } = found;
  const fields: StoredField[] = [];
  const { before, after, configuration } = await editProviders(home, (document) => {
    const models = document.value().providers?.[provider]?.models ?? [];
    const entry = models.find(({ id }) => id === model);
    const wanted = {
      context_window: learnt.contextWindow,
      tool_calls: learnt.toolCalls,
      reasoning: learnt.reasoning,
    };
    for (const field of ["context_window", "tool_calls", "reasoning"] as const) {
      const value = wanted[field];
      if (value !== undefined) fields.push({ field, old: entry?.[field] ?? null, new: value });
    }
    if (fields.length > 0) document.addModel(provider, { id: model, ...wanted });
  });
  return { provider, model, path: configuration.path, changed: before !== after, fields };
}
