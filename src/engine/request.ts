/** Checks a request against what an engine can do, and turns it into the values of its templates. */
import type { EngineTemplate } from "../config/types.ts";
import { runtimeCalled } from "../config/base_url.ts";
import { didYouMean } from "../config/suggest.ts";
import { AgentcliError } from "../errors.ts";
import { statSync } from "../platform/files.ts";
import { quietly } from "../platform/real_path.ts";
import { memoryBytes } from "../platform/runtime.ts";
import { basename, isAbsolute, resolve } from "../platform/path.ts";
import { commandsOf, contradictions, type Engine, usedValues, type ValueName, type Values } from "./engine.ts";
import { type Address, urlHost } from "./asking.ts";
import { AGENT_WINDOW, engines, hasModels } from "./table.ts";
import { toolParserOf } from "../provider/backends/backends.ts";

interface ServeRequest {
  model?: string | undefined;
  port?: number | undefined;
  host?: string | undefined;
  contextWindow?: number | undefined;
  parallel?: number | undefined;
  apiKey?: string | undefined;
  tensorParallel?: number | undefined;
  pipelineParallel?: number | undefined;
  ray: boolean;
  download: boolean;
  /** The engine's own flags. */
  own: readonly string[];
}

export interface Checked {
  address: Address;
  values: Values;
  /** The expected model id at the server; absent for none. */
  modelName?: string;
}

const DEFAULT_HOST = "127.0.0.1";

/** Returns all engines: those of the table, then the templates of the user. */
export function allEngines(templates: Readonly<Record<string, EngineTemplate>>): Engine[] {
  return [...engines(), ...Object.entries(templates).map(([id, template]) => ownEngine(id, template))];
}

/** Returns the engine of that id. Unknown ones, and templates under the id of a built-in one, are `usage`. */
export function engineNamed(id: string, templates: Readonly<Record<string, EngineTemplate>>): Engine {
  const all = allEngines(templates);
  const named = all.filter((engine) => engine.id === id);
  const called = runtimeCalled(id);
  const found = named.length > 0 ? named : all.filter((engine) => engine.id === called);
  if (found.length > 1) {
    throw new AgentcliError("usage", `${id} is built in, but providers.yaml has a template under that name too`, {
      hint: "give the template under `engines:` another name",
    });
  }
  const [engine] = found;
  if (engine !== undefined) return engine;
  const names = all.map((each) => each.id);
  throw new AgentcliError("usage", `there is no engine ${id}; there are: ${names.join(", ")}`, {
    hint: didYouMean(id, names) ??
      "see `agentcli local-model serve --help`; own ones go under `engines:` in providers.yaml",
  });
}

function usage(message: string, hint?: string): AgentcliError {
  return new AgentcliError("usage", message, { hint });
}

/**
 * Checks a request. Everything that does not fit is `usage`; only the existence of a model's file is checked on the
 * disk.
 */
export function checkRequest(
  engine: Engine,
  request: ServeRequest,
  { cwd }: { cwd: string },
): Checked {
  checkOptions(engine, request);
  checkOwnFlags(engine, request.own);
  const port = request.port ?? engine.port;
  if (port === null) throw usage(`${engine.id} has no port of its own: --port is needed`);
  const host = checkedHost(request.host ?? DEFAULT_HOST);
  const model = checkedModel(engine, request.model, cwd);
  const window = request.contextWindow ?? engine.contextWindow;
  const parallel = request.parallel ?? 1;
  const text = (value: number | undefined) => value === undefined ? undefined : String(value);
  const values: Values = {
    ...model,
    host,
    url_host: urlHost(host),
    port: String(port),
    context_window: text(window),
    context_total: text(window === undefined ? undefined : window * parallel),
    // One conversation at a time has the whole window where that is what slots share.
    parallel: engine.contextWindow === undefined ? text(request.parallel) : String(parallel),
    api_key: request.apiKey,
    tensor_parallel: text(request.tensorParallel),
    pipeline_parallel: text(request.pipelineParallel),
    ray: request.ray ? "ray" : undefined,
    tool_parser: model.model === undefined ? undefined : toolParserOf(model.model),
    cache_memory: String(cacheMemory()),
    offline: request.download ? undefined : "1",
  };
  return { address: { host, port }, values, modelName: values.name ?? values.model };
}

/** MiB: an eighth of the memory, up to the most that is useful. */
function cacheMemory(): number {
  return Math.min(Math.max(Math.floor(memoryBytes() / 1024 / 1024 / 8), 512), 32_768);
}

/** Options, and the values that have to appear in an engine's templates for them to do anything. */
const NEEDS: readonly { option: string; given: keyof ServeRequest; any: readonly ValueName[] }[] = [
  { option: "--host", given: "host", any: ["host", "url_host"] },
  { option: "--context-window", given: "contextWindow", any: ["context_window", "context_total"] },
  { option: "--parallel", given: "parallel", any: ["parallel"] },
  { option: "--api-key", given: "apiKey", any: ["api_key"] },
  { option: "--tensor-parallel", given: "tensorParallel", any: ["tensor_parallel"] },
  { option: "--pipeline-parallel", given: "pipelineParallel", any: ["pipeline_parallel"] },
  { option: "--ray", given: "ray", any: ["ray"] },
];

/** Returns the options of `serve` that have an effect for an engine, apart from `--model` and `--port`. */
export function applicableOptions(engine: Engine): string[] {
  const used = usedValues(engine);
  const options = NEEDS.filter(({ any }) => any.some((name) => used.has(name))).map(({ option }) => option);
  return mayDownload(engine) ? [...options, "--download"] : options;
}

function mayDownload(engine: Engine): boolean {
  return usedValues(engine).has("offline") ||
    commandsOf(engine).some(({ options }) => options.some((option) => option.needs === "offline"));
}

function checkOptions(engine: Engine, request: ServeRequest): void {
  const applicable = applicableOptions(engine);
  const given = NEEDS.filter(({ given }) => request[given] !== undefined && request[given] !== false).map((
    { option },
  ) => option);
  if (request.download) given.push("--download");
  const idle = given.filter((option) => !applicable.includes(option));
  if (idle.length === 0) return;
  throw usage(
    `${engine.product} (${engine.id}) takes no ${idle.join(", ")}`,
    `see: agentcli local-model serve --engine ${engine.id} --help`,
  );
}

function checkOwnFlags(engine: Engine, own: readonly string[]): void {
  const [first] = own;
  if (first === undefined) return;
  if (!first.startsWith("-")) {
    throw usage(`"${first}" is no option`, "options of the engine itself follow after --, for example: -- --threads 4");
  }
  if (engine.running.kind === "service") throw usage(`${engine.id} takes no options of its own after --`);
  const clashing = commandsOf(engine).flatMap((command) => contradictions(command, own));
  if (clashing.length === 0) return;
  throw usage(`${[...new Set(clashing)].join(", ")} cannot follow after --`, "agentcli sets it: use its own options");
}

function checkedHost(host: string): string {
  const bare = host.replace(/^\[(.*)\]$/, "$1").toLowerCase();
  const written = urlHost(bare);
  const fits = /^(?:[a-z0-9_](?:[a-z0-9._-]*[a-z0-9_])?|[0-9a-f:.]+)$/.test(bare) &&
    URL.parse(`http://${written}/`)?.hostname === written;
  if (fits) return bare;
  throw usage("--host takes an address or a host name", "for example: --host 127.0.0.1, --host ::1, --host 0.0.0.0");
}

/** Characters of a model's name or path. */
const MODEL_LIMIT = 4096;

function checkedModel(
  engine: Engine,
  model: string | undefined,
  cwd: string,
): Pick<Values, "model" | "model_path" | "model_id" | "name"> {
  if (model === undefined) {
    if (!engine.model.required) return {};
    throw usage(`${engine.product} (${engine.id}) needs --model`, modelHint(engine));
  }
  if (engine.own && !engine.model.required) {
    throw usage(`the template ${engine.id} has no {model}: --model would do nothing`);
  }
  // A first `-` would make it an option of the engine.
  // deno-lint-ignore no-control-regex -- control characters are what is searched for
  if (model === "" || model.startsWith("-") || model.length > MODEL_LIMIT || /[\u0000-\u001f\u007f]/.test(model)) {
    throw usage("--model takes an id or a path that does not start with -", modelHint(engine));
  }
  const isPath = isAbsolute(model) || /^(?:\.{1,2}[\\/]|~)/.test(model) || /\.gguf$/i.test(model);
  if (engine.model.takes === "id") {
    if (isPath) throw usage(`${engine.product} (${engine.id}) takes the id of a model, not a path`, modelHint(engine));
    return { model, model_id: model };
  }
  const path = resolve(cwd, model);
  const found = quietly(() => statSync(path));
  if (found === null && isPath) {
    throw usage(`there is no model at ${path}`, "check the path: ~ is for your shell to replace");
  }
  if (engine.model.takes === "file or id" && found?.kind === "directory" && isPath) {
    throw usage(`${path} is a directory: ${engine.product} takes a file`, modelHint(engine));
  }
  const usable = found?.kind === "file" || (found?.kind === "directory" && engine.model.takes === "path or id");
  if (!usable) return { model, model_id: model };
  // The parts of a large file are one model.
  const name = basename(path).replace(/\.gguf$/i, "").replace(/-\d{5}-of-\d{5}$/, "");
  return { model: path, model_path: path, name };
}

function modelHint(engine: Engine): string {
  const examples: Record<Engine["model"]["takes"], string> = {
    "id": "for example: --model qwen3:8b",
    "file or id": "for example: --model ./model.gguf, or --model user/repository:Q4_K_M",
    "path or id": "for example: --model ./model, or --model Qwen/Qwen3-8B",
  };
  return examples[engine.model.takes];
}

/** Where a template that names no path is asked. */
const READY_PATH = "/v1/models";

/**
 * Returns the engine of a template: its words are what is run, without any check of flags. What answers on its port
 * counts as it only while nothing else is recognized there.
 */
export function ownEngine(id: string, template: EngineTemplate): Engine {
  const [program = "", ...words] = template.command;
  const texts = [...template.command, ...Object.values(template.env ?? {})];
  const uses = (name: string) => texts.some((text) => text.includes(`{${name}}`));
  const install = "install it, or name its absolute path in `command`";
  return {
    id,
    product: program,
    port: template.port ?? null,
    servers: [],
    model: { required: uses("model"), takes: "path or id" },
    ...(uses("context_window") ? { contextWindow: AGENT_WINDOW } : {}),
    running: { kind: "child", commands: [{ programs: [program], words, options: [], help: [] }] },
    environment: template.env ?? {},
    ready: {
      path: template.ready ?? READY_PATH,
      proves: ({ status, json }) => status === 200 && (template.ready !== undefined || hasModels(json)),
    },
    install: { linux: install, darwin: install, windows: install },
    notes: [
      uses("host")
        ? "A template of yours."
        : "A template of yours. It has no {host}: make sure that it listens on 127.0.0.1 alone.",
    ],
    own: true,
  };
}
