/** `--register`: the server and its models in providers.yaml. */
import { editProviders, type ProvidersDocument } from "../../config/edit.ts";
import { isLocal } from "../../boundary/policy/locality.ts";
import type { EngineModel } from "../../engine/asking.ts";
import { isAsked } from "./asked_model.ts";
import type { Task } from "./task.ts";

/** Models of one server that are written at most. */
const MODEL_LIMIT = 200;

/**
 * Adds the provider, or its new models to one that is there for the same address. Gives its name. A name that is taken
 * by another address gets the port behind it.
 */
export async function register(task: Task, models: readonly EngineModel[]): Promise<string> {
  let name = task.engine.id;
  await editProviders(task.home, (document) => {
    const baseUrl = writtenUrl(task.asking.endpoint.baseUrl);
    const known = Object.entries(document.value().providers ?? {});
    const same = known.find(([, provider]) => sameServer(provider.base_url, baseUrl));
    if (same === undefined) {
      const taken = new Set(known.map(([each]) => each));
      const choices = [task.engine.id, `${task.engine.id}-${task.checked.address.port}`];
      name = choices.find((choice) => !taken.has(choice)) ?? `${task.engine.id}-${crypto.randomUUID().slice(0, 8)}`;
      document.addProvider(name, { type: "openai_compat", base_url: baseUrl, api_key: keyField(task), models: [] });
    } else name = same[0];
    addModels(document, name, wanted(task, models));
  });
  return name;
}

function addModels(document: ProvidersDocument, provider: string, models: readonly EngineModel[]): void {
  for (const { id, contextWindow } of models.slice(0, MODEL_LIMIT)) {
    document.addModel(provider, contextWindow === null ? { id } : { id, context_window: contextWindow });
  }
}

/** The model that was asked for, where the list has it; else all. */
function wanted(task: Task, models: readonly EngineModel[]): readonly EngineModel[] {
  const found = models.filter(({ id }) => isAsked(id, task.checked));
  return found.length > 0 ? found : models;
}

/** As discovery writes it: `localhost` for this machine. */
function writtenUrl(baseUrl: string): string {
  return baseUrl.replace(/^http:\/\/127\.0\.0\.1:/, "http://localhost:");
}

function sameServer(one: string, other: string): boolean {
  const place = (url: string) => {
    const parsed = URL.parse(url);
    return parsed === null
      ? null
      : `${parsed.protocol}//${parsed.hostname.replace(/^127\.0\.0\.1$/, "localhost")}:${parsed.port}`;
  };
  return place(one) !== null && place(one) === place(other);
}

function keyField(task: Task): string {
  if (task.apiKey !== undefined) return task.apiKey;
  return isLocal(task.asking.endpoint.baseUrl, []) ? "local" : "none";
}
