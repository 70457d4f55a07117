/** The options that a client shows for a session: mode, model and thinking. */
import { type Configuration, PERMISSION_MODES, type PermissionMode } from "../../config/types.ts";
import { AgentcliError } from "../../errors.ts";
import type { Io } from "../../platform/io.ts";
import { THINKING, type Thinking } from "../../provider/profiles/profile.ts";
import { type ConfiguredModel, configuredModels } from "../protocol/client_models.ts";
import { type ConfigOption, invalidParams, type ModeState } from "./wire.ts";

const MODES: Readonly<Record<PermissionMode, { name: string; description: string }>> = {
  default: { name: "Ask", description: "Reads run; changes of files and commands are asked about" },
  acceptEdits: { name: "Accept edits", description: "Changes of files run too; commands are asked about" },
  plan: { name: "Plan", description: "Reads only" },
  bypassPermissions: { name: "Bypass permissions", description: "Everything runs without a question" },
};

/** The values to choose from, and what is chosen now. */
export interface Choices {
  mode: PermissionMode;
  models: readonly ConfiguredModel[];
  /** A value of `models`; null where it is not known yet. */
  model: string | null;
  /** Undefined for the model's default. */
  thinking: Thinking | undefined;
  /** The session holds protected content: remote models cannot be chosen. */
  isProtected: boolean;
  /** A file that it came from, with its rule, where that is known. */
  source: { path: string; rule: string } | undefined;
}

/** The models of the configuration, local ones first. */
export function offeredModels(configuration: Configuration, io: Io): ConfiguredModel[] {
  return configuredModels(configuration, io)
    .map((model) => model.isLocal ? model : { ...model, displayName: `${model.displayName} (remote)` })
    .sort((one, other) => Number(other.isLocal) - Number(one.isLocal));
}

/** The settings as the client shows them. */
export function configOptions({ mode, models, model, thinking, isProtected }: Choices): ConfigOption[] {
  const offered = models.filter(({ isLocal, value }) => isLocal || !isProtected || value === model);
  const known = offered.some(({ value }) => value === model) || model === null
    ? offered
    : [{ value: model, displayName: model, description: "" }, ...offered];
  return [
    {
      id: "mode",
      name: "Mode",
      description: "What runs without asking",
      category: "mode",
      type: "select",
      currentValue: mode,
      options: PERMISSION_MODES.map((value) => ({ value, ...MODES[value] })),
    },
    ...model === null ? [] : [{
      id: "model" as const,
      name: "Model",
      description: isProtected ? "Local models only: this session holds protected content" : "",
      category: "model" as const,
      type: "select" as const,
      currentValue: model,
      options: known.map(({ value, displayName: name, description }) => ({ value, name, description })),
    }],
    {
      id: "thinking",
      name: "Thinking",
      description: "How much a model that can reason does so before it answers",
      category: "thought_level",
      type: "select",
      currentValue: thinking ?? "default",
      options: [
        { value: "default", name: "As the model does" },
        ...THINKING.map((value) => ({ value, name: value[0]?.toUpperCase() + value.slice(1) })),
      ],
    },
  ];
}

/** The modes for clients without the settings. */
export function modeState(mode: PermissionMode): ModeState {
  return { currentModeId: mode, availableModes: PERMISSION_MODES.map((id) => ({ id, ...MODES[id] })) };
}

/** Reads a mode. Throws for any other value. */
export function readMode(value: unknown): PermissionMode {
  const mode = PERMISSION_MODES.find((known) => known === value);
  if (mode === undefined) throw invalidParams(`unknown mode; the modes are: ${PERMISSION_MODES.join(", ")}`);
  return mode;
}

/** Reads how much to reason; undefined for `default`. Throws for any other value. */
export function readThinking(value: unknown): Thinking | undefined {
  const thinking = THINKING.find((known) => known === value);
  if (thinking === undefined && value !== "default") {
    throw invalidParams(`unknown thinking; there are: default, ${THINKING.join(", ")}`);
  }
  return thinking;
}

/**
 * Reads a model: its selector, or its id or alias where only one has it. Throws `unknown_model` and `policy_refused`.
 */
export function readModel(value: unknown, { models, isProtected, source, model: current }: Choices): string {
  if (typeof value !== "string") throw invalidParams("the value is not a text");
  if (value === current) return value;
  const named = models.filter(({ value: selector, displayName }) =>
    selector === value || selector.endsWith(`:${value}`) || displayName.replace(/ \(remote\)$/, "") === value
  );
  const [found] = named.some((model) => model.value === value) ? named.filter((model) => model.value === value) : named;
  if (found === undefined || (named.length > 1 && found.value !== value)) {
    const known = models.map((model) => model.value).join(", ");
    throw new AgentcliError("unknown_model", `there is no model ${JSON.stringify(value.slice(0, 100))}`, {
      hint: known === "" ? "add one with `agentcli providers add`" : `configured: ${known}`,
    });
  }
  if (isProtected && !found.isLocal) {
    const what = source === undefined ? "no-cloud content" : `${source.path} (${source.rule})`;
    throw new AgentcliError(
      "policy_refused",
      `this session has read ${what}, and ${found.value} is remote, so it cannot continue there`,
      { hint: "choose a local model, or begin a new session" },
    );
  }
  return found.value;
}
