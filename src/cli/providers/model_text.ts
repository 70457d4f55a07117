/** A model entry as the verbs show it. */
import type { ModelEntry } from "../../config/types.ts";
import { clean } from "../../terminal/clean.ts";

/** `32,768 tokens`; empty where the window is not configured. */
export function tokensText(tokens: number | undefined): string {
  return tokens === undefined ? "" : `${tokens.toLocaleString("en-US")} tokens`;
}

/** `qwen3:8b (coder, main, 32,768 tokens)`, cleaned. */
export function modelText(model: ModelEntry): string {
  const facts = [...model.aliases, model.role ?? "", tokensText(model.contextWindow)].filter((fact) => fact !== "");
  return clean(facts.length === 0 ? model.id : `${model.id} (${facts.join(", ")})`);
}

/** The same for programs. */
export function modelJson(model: ModelEntry): Record<string, unknown> {
  return {
    id: model.id,
    aliases: model.aliases,
    role: model.role ?? null,
    context_window: model.contextWindow ?? null,
  };
}
