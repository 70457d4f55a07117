/** llama-server of llama.cpp: one model, or a router of several that it loads on request. */
import { countOf, fieldsOf, membersOf } from "../../platform/record.ts";
import {
  type Backend,
  booleanOf,
  type Inquiry,
  listsAny,
  type ModelFacts,
  rowsIn,
  serverHeader,
  traitsOf,
  type Windows,
  windowsOf,
} from "./backend.ts";
import { rawEntries } from "./model_list.ts";
import type { TemplateNeeds, ToolCallFallback } from "./model_metadata.ts";

/** Most loaded models of a router that are requested one by one. */
const ROUTER_LIMIT = 8;

export const llamaCpp: Backend = {
  id: "llama.cpp",
  label: "llama.cpp",
  ports: [8080, 9931],
  owners: ["llamacpp"],
  shows: (facts) => serverHeader(facts) === "llama.cpp" || listsTwice(facts.body),
  // Until August 2026 the list was open to everybody.
  guardedPath: "/props",
  window: slotWindows,
  widen: (_, tokens) => `start llama-server with -c ${tokens} (it is divided by --parallel)`,
  keepCache: {
    evicted: "start llama-server with --cache-ram 8192, or with --parallel 2 for two clients",
    rewound: "start llama-server with --ctx-checkpoints 32 --checkpoint-min-step 1024 (older versions: --swa-full)",
  },
  vision: supportsImages,
  traits({ list }) {
    const entries = list === null ? [] : rawEntries(list.json);
    const traits = new Map(entries.map(({ id, meta }) => [id, traitsOf({ bytes: fieldsOf(meta)["size"] })]));
    return Promise.resolve(traits);
  },
  templateNeeds,
  facts,
  sampling: { topK: "top_k", minP: "min_p", repeat: "repeat_penalty", zeros: true },
  templateKwargs: true,
  // A new conversation is given the last of the slots that were never used: the first is free the longest.
  slotField: "id_slot",
  requestFields: { return_progress: true },
  reasoningCap: {
    fields: (tokens) => ({
      reasoning_budget_tokens: tokens,
      reasoning_budget_message: "\nThat is enough reasoning. Now I act or answer.\n",
    }),
  },
  readCalls: () => "start llama-server with --jinja and the model's own chat template",
  errors: {
    context: ["exceed_context_size", "context size has been exceeded"],
    no_tools: ["requires --jinja", "cannot use tools with stream"],
    no_images: ["mmproj", "image input is not supported"],
    tool_parse: ["failed to parse input at pos"],
    loading: ["loading"],
    // The content of the request makes it fail: the same request fails again.
    request: ["mmproj", "failed to parse (?:messages|tool call arguments)", "json\\.exception"],
    // Older versions name a position in the template.
    template: ["jinja", "at row \\d+, column \\d+"],
  },
};

/** It gives the list in its own form and in that of OpenAI, in one answer. */
function listsTwice(body: unknown): boolean {
  const fields = fieldsOf(body);
  return Array.isArray(fields["models"]) && membersOf(fields["data"]).length > 0;
}

/** A router gets the name and `autoload=false`: otherwise the request itself loads the model. */
function propsOf(model: string): string {
  return `/props?model=${encodeURIComponent(model)}&autoload=false`;
}

/** The list of a router has states. */
function isRouter({ list }: Inquiry): boolean {
  return list?.models.some(({ state }) => state !== undefined) === true;
}

/** One window for all: `/props` gives the part of one slot. Of a router, loaded models only. */
async function slotWindows(inquiry: Inquiry, models: readonly string[]): Promise<Windows> {
  if (!isRouter(inquiry)) {
    const window = slotWindow(await inquiry.get("/props"));
    return windowsOf(models, () => window, { source: "/props" });
  }
  const states = new Map(inquiry.list?.models.map((model) => [model.id, model.state]));
  const windows = new Map<string, unknown>();
  for (const model of models.filter((one) => states.get(one) === "loaded").slice(0, ROUTER_LIMIT)) {
    windows.set(model, slotWindow(await inquiry.get(propsOf(model))));
  }
  return windowsOf(models, (model) => windows.get(model), { source: "/props" });
}

function slotWindow(props: unknown): unknown {
  const fields = fieldsOf(props);
  // The router's own answer carries a placeholder.
  if (fields["role"] === "router") return undefined;
  return fieldsOf(fields["default_generation_settings"])["n_ctx"];
}

async function supportsImages(inquiry: Inquiry, model: string): Promise<boolean | null> {
  const router = isRouter(inquiry);
  const props = fieldsOf(await inquiry.get(router ? propsOf(model) : "/props"));
  const vision = booleanOf(fieldsOf(props["modalities"])["vision"]);
  if (vision !== null || router) return vision;
  // Servers before `modalities`: the list in the form of Ollama names what the model can do.
  const [entry] = rowsIn(inquiry.list?.json, "models");
  return listsAny(entry?.["capabilities"], ["multimodal", "vision"]);
}

/** Needs that follow from a false capability of the template; the first match decides. */
const TEMPLATE_NEEDS: readonly { capability: string; toolCalls: ToolCallFallback }[] = [
  { capability: "supports_tools", toolCalls: "text" },
  { capability: "supports_tool_calls", toolCalls: "text" },
  { capability: "supports_parallel_tool_calls", toolCalls: "single" },
];

/** Its own sampling values; others come from the command line or from the model's file. */
const BUILT_IN: Readonly<Record<string, number>> = { temperature: 0.8, top_k: 40, top_p: 0.95, min_p: 0.05 };
/** It writes numbers of four bytes in decimal. */
const ROUNDING = 0.001;

async function facts(inquiry: Inquiry, model: string): Promise<ModelFacts | null> {
  const props = await propsFor(inquiry, model);
  const settings = fieldsOf(props["default_generation_settings"]);
  // Older versions have no list of parameters of its own.
  const values = { ...settings, ...fieldsOf(settings["params"]) } as Record<string, unknown>;
  const preserves = booleanOf(fieldsOf(props["chat_template_caps"])["supports_preserve_reasoning"]);
  const slots = countOf(props["total_slots"]);
  const samples = Object.entries(BUILT_IN).some(([name, builtIn]) => {
    const value = values[name];
    return typeof value === "number" && Math.abs(value - builtIn) > ROUNDING;
  });
  return {
    ...(preserves === null ? {} : { preservesReasoning: preserves }),
    ...(slots === null ? {} : { slots }),
    ...(samples ? { samples } : {}),
  };
}

/** A router has no template of its own. */
async function propsFor({ get }: Inquiry, model: string): Promise<Record<string, unknown>> {
  const fields = fieldsOf(await get("/props"));
  return fields["role"] === "router" ? fieldsOf(await get(propsOf(model))) : fields;
}

/**
 * The server tries its template when it starts, and reports the outcome in `chat_template_caps`; tools that a template
 * does not support are dropped silently.
 */
async function templateNeeds(inquiry: Inquiry, model: string): Promise<TemplateNeeds | null> {
  const capabilities = fieldsOf((await propsFor(inquiry, model))["chat_template_caps"]);
  const lacking = TEMPLATE_NEEDS.find(({ capability }) => capabilities[capability] === false);
  if (lacking !== undefined) return lacking.toolCalls;
  return TEMPLATE_NEEDS.every(({ capability }) => capabilities[capability] === true) ? "native" : null;
}
