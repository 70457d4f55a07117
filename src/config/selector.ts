/** `<provider>[:<model_or_alias>]`, the words it is made of, and what may be a provider name. */
import { AgentcliError } from "../errors.ts";

/** What a provider may be called. No colon: the selector is split there. */
export const PROVIDER_NAME = /^[a-z0-9][a-z0-9_.-]{0,63}$/;
export const PROVIDER_NAME_RULE = "lower-case letters, digits, `_`, `.` and `-`, at most 64, first a letter or digit";

/** The scripted stand-in that is always there and never chosen by itself. */
export const DEMO = "demo";

/** A selector, split. */
export interface Selector {
  provider: string;
  /** A model id or an alias. */
  model?: string;
}

/** Splits at the first colon: model ids contain colons (`qwen3:8b`). Null when one side is empty. */
export function splitSelector(text: string): Selector | null {
  const colon = text.indexOf(":");
  if (colon < 0) return text === "" ? null : { provider: text };
  const provider = text.slice(0, colon);
  const model = text.slice(colon + 1);
  return provider === "" || model === "" ? null : { provider, model };
}

/** Like {@link splitSelector}, for what a person typed: `usage` says where (`--model`) and what is wrong. */
export function readSelector(text: string, where: string): Selector {
  const selector = splitSelector(text.trim());
  if (selector) return selector;
  throw new AgentcliError("usage", `${where}: expected <provider>[:<model or alias>]`, {
    hint: "for example runtime_a:qwen3:8b; `agentcli providers list` shows what is configured",
  });
}
