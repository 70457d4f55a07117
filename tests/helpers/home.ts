/** Fresh directories for one test, and the configuration in them. */
import { join, resolve } from "../../src/platform/path.ts";

/** A fresh set of directories; `await using` removes it. */
export interface TemporaryHome extends AsyncDisposable {
  /** Holds all the others. */
  root: string;
  /** HOME of the child. */
  home: string;
  /** AGENTCLI_HOME of the child; not made yet. */
  agentcliHome: string;
  /** Working directory of the child, empty. */
  project: string;
  tmp: string;
  /** Writes a file of the project, parents included; gives its absolute path. */
  write(name: string, content: string | Uint8Array): Promise<string>;
  /** Text of a file of the project. */
  read(name: string): Promise<string>;
  dispose(): Promise<void>;
}

/** Makes the directories. The root's path is real (no links), so that paths of messages can be compared. */
export async function temporaryHome(): Promise<TemporaryHome> {
  const root = await Deno.realPath(await Deno.makeTempDir({ prefix: "agentcli test " }));
  const place = (name: string) => join(root, name);
  const [home, project, tmp] = [place("home"), place("project"), place("tmp")];
  for (const directory of [home, project, tmp]) await Deno.mkdir(directory);
  const dispose = () => Deno.remove(root, { recursive: true }).catch(() => {});
  return {
    root,
    home,
    agentcliHome: join(home, ".agentcli"),
    project,
    tmp,
    async write(name, content) {
      const path = join(project, name);
      await Deno.mkdir(resolve(path, ".."), { recursive: true });
      await (typeof content === "string" ? Deno.writeTextFile(path, content) : Deno.writeFile(path, content));
      return path;
    },
    read: (name) => Deno.readTextFile(join(project, name)),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}

/** A provider of `configure`. */
export interface ConfiguredProvider {
  baseUrl: string;
  /** `api_key`; default `local`. */
  apiKey?: string;
  /** Model ids, or whole entries as JSON; default one model `fake`. */
  models?: (string | Record<string, unknown>)[];
  /** Further keys of the block. */
  more?: Record<string, unknown>;
}

/** Writes `providers.yaml` (as JSON, which YAML includes). `settings` are further keys of the file. */
export async function configure(
  home: TemporaryHome,
  providers: Record<string, ConfiguredProvider>,
  settings: Record<string, unknown> = {},
): Promise<void> {
  const blocks = Object.entries(providers).map(([name, provider]) => [name, {
    type: "openai_compat",
    base_url: provider.baseUrl,
    api_key: provider.apiKey ?? "local",
    models: (provider.models ?? ["fake"]).map((model) => typeof model === "string" ? { id: model } : model),
    ...provider.more,
  }]);
  const file = { version: 1, ...settings, providers: Object.fromEntries(blocks) };
  await Deno.mkdir(home.agentcliHome, { recursive: true, mode: 0o700 });
  await Deno.writeTextFile(join(home.agentcliHome, "providers.yaml"), JSON.stringify(file, null, 2), { mode: 0o600 });
}
