/** Edits providers.yaml: under a lock, checked before it is written, everything else in the file kept. */
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";
import { emptyConfiguration, PROVIDERS_FILE, removeCopy } from "./load.ts";
import {
  aliasesOf,
  checkFile,
  keyPathText,
  parseConfiguration,
  readYaml,
  toConfiguration,
  withoutEmpty,
} from "./parse.ts";
import { jsonSchema, KEYS, type ModelRecord, type ProviderRecord, type ProvidersFile } from "./schema.ts";
import type { Configuration } from "./types.ts";
import { didYouMean } from "./suggest.ts";
import {
  commentLines,
  editYaml,
  isCommented,
  isSameContent,
  type ReadText,
  withComment,
  withoutComment,
  type YamlEdit,
} from "./yaml_edit.ts";

const SCHEMA_FILE = "providers.schema.json";

export interface EditResult {
  /** The text before; empty when there was no file. */
  before: string;
  /** The text after; equal to `before` when nothing changed. */
  after: string;
  /** True if there was a file. */
  existed: boolean;
  configuration: Configuration;
}

/** The JSON Schema of providers.yaml as it is printed and stored. */
export function schemaText(): string {
  return JSON.stringify(jsonSchema(), null, 2) + "\n";
}

function checkedConfiguration(text: string, path: string): Configuration {
  const { errors, file } = checkFile(readYaml(text, path).value);
  const first = errors[0];
  if (!first) return toConfiguration(file, path);
  // No line and column: they would be those of a text that is not written.
  const name = keyPathText(first.path) || "the file";
  throw new AgentcliError("config_invalid", `${name}: ${first.message}`, { hint: "nothing was written" });
}

async function edited(
  home: Home,
  change: (document: ProvidersDocument) => void | Promise<void>,
): Promise<EditResult> {
  const path = home.file(PROVIDERS_FILE);
  const stored = await home.read(PROVIDERS_FILE);
  const before = stored ?? "";
  // A file that cannot be used is never overwritten: the error says where it is wrong.
  if (stored !== null) parseConfiguration(stored, path);
  const start = before.trim() === "" ? NEW_FILE : before;
  const document = openDocument(start, path);
  await change(document);
  const existed = stored !== null;
  if (document.text === start) {
    const configuration = existed ? parseConfiguration(before, path) : emptyConfiguration(path);
    return { before, after: before, existed, configuration };
  }
  return { before, after: document.text, existed, configuration: checkedConfiguration(document.text, path) };
}

/**
 * Applies `change` to providers.yaml and writes it, atomically and under a lock: concurrent edits lose nothing. What
 * the change does not concern stays byte for byte. Nothing is written when `change` throws, when the result fails the
 * check (`config_invalid`, with the key path), when nothing changed, or with `dryRun`; a file that does not parse is
 * never overwritten. The schema is kept beside the file.
 */
export async function editProviders(
  home: Home,
  change: (document: ProvidersDocument) => void | Promise<void>,
  options: { dryRun?: boolean } = {},
): Promise<EditResult> {
  if (options.dryRun) return await edited(home, change);
  return await home.locked(PROVIDERS_FILE, async () => {
    const result = await edited(home, change);
    if (result.after === result.before) return result;
    const schema = schemaText();
    if (await home.read(SCHEMA_FILE).catch(() => null) !== schema) await home.write(SCHEMA_FILE, schema);
    await home.write(PROVIDERS_FILE, result.after);
    await removeCopy(home);
    return result;
  });
}

/** The first line of a new file: editors complete with the schema beside it. */
const NEW_FILE = "# yaml-language-server: $schema=./providers.schema.json\nversion: 1\n";

/** Some of a model's fields by the names of the file; the id says which model. */
export type ModelChange = Pick<ModelRecord, "id"> & Partial<ModelRecord>;

/** A provider that does not exist yet; the note says when it does. */
interface CommentedProvider {
  name: string;
  provider: ProviderRecord;
  note: string;
}

/** The file in the hands of an edit. Names are those of the file (`context_window`). */
export interface ProvidersDocument {
  readonly text: string;
  /** The content as it is now: changes so far included. */
  value(): ProvidersFile;
  /** Sets `default_model`, `sandbox.mode`, … */
  setSetting(key: string, value: unknown): void;
  /** Returns whether it was set. */
  unsetSetting(key: string): boolean;
  /** Adds a provider; an existing name is `config_invalid` unless it is replaced as a whole. */
  addProvider(name: string, provider: ProviderRecord, options?: { replace?: boolean }): void;
  /**
   * Writes a provider as a comment, with a note after its name; whether that was done. Not where one of that name
   * exists already, even as a comment, nor where the layout has no place for it.
   */
  commentProvider(entry: CommentedProvider): boolean;
  /** Removes what {@link commentProvider} wrote and nobody changed. */
  uncommentProvider(entry: CommentedProvider): void;
  /** Sets one field of a provider (`base_url`); undefined removes it. */
  setProviderField<K extends keyof ProviderRecord>(name: string, field: { key: K; value: ProviderRecord[K] }): void;
  /** Returns whether it was there. */
  removeProvider(name: string): boolean;
  /** Adds a model, or updates the fields given. An unknown provider is `unknown_provider`. */
  addModel(provider: string, model: ModelChange): "added" | "updated" | "unchanged";
  /** Removes one field of a model; whether it was there. */
  unsetModelField(provider: string, field: { id: string; key: keyof ModelRecord }): boolean;
  /** Removes a model by id or alias; gives its id, or null when it was not there. */
  removeModel(provider: string, name: string): string | null;
}

/** Opens a text for editing; `path` is for messages. A text that is not YAML is `config_invalid`. */
export function openDocument(start: string, path: string): ProvidersDocument {
  let read: ReadText = readYaml(start, path);
  let value = contentOf(read);
  const edit = (change: YamlEdit): boolean => {
    const after = editYaml(read, change);
    if (after === read) return false;
    read = after;
    value = contentOf(read);
    return true;
  };
  const editComments = (change: (text: string) => string): boolean => {
    const { text } = read.parsed;
    const after = change(text);
    if (after === text) return false;
    try {
      const next = readYaml(after, path);
      if (!isSameContent(contentOf(next), value)) return false;
      read = next;
      return true;
    } catch (error) {
      // A layout that allows no comment there, such as JSON.
      if (error instanceof AgentcliError && error.code === "config_invalid") return false;
      throw error;
    }
  };
  const linesOf = ({ name, provider, note }: CommentedProvider) => commentLines([name, ordered(provider)], note);
  const has = (name: string) => Object.hasOwn(value.providers ?? {}, name);
  const providerOf = (name: string): ProviderRecord => {
    const found = has(name) ? value.providers?.[name] : undefined;
    if (found) return found;
    const names = Object.keys(value.providers ?? {});
    throw new AgentcliError("unknown_provider", `unknown provider ${name}`, {
      hint: didYouMean(name, names) ?? `configured: ${names.slice(0, 20).join(", ") || "none"}`,
    });
  };
  const indexOf = (provider: string, name: string): number => {
    const models = providerOf(provider).models ?? [];
    const byId = models.findIndex((model) => model.id === name);
    return byId >= 0 ? byId : models.findIndex((model) => aliasesOf(model.alias).includes(name));
  };
  const remove = (path: (string | number)[]) => edit({ kind: "remove", path });
  const unset = (path: readonly [string, ...string[]]): boolean => {
    if (!remove([...path])) return false;
    // A bare `roles: {}` would be litter; one with a comment stays.
    if (path.length > 1 && new RegExp(`^${path[0]}: \\{\\}\\r?$`, "m").test(read.parsed.text)) remove([path[0]]);
    return true;
  };

  return {
    get text() {
      return read.parsed.text;
    },
    value: () => value,
    setSetting: (key, setting) => void edit({ kind: "set", path: key.split("."), value: setting, order: KEYS.file }),
    unsetSetting: (key) => unset(key.split(".") as [string, ...string[]]),
    addProvider(name, provider, options = {}) {
      const exists = has(name);
      if (exists && !options.replace) {
        throw new AgentcliError("config_invalid", `there is a provider ${name} already`, {
          hint: "pass --replace to replace it as a whole, or choose another name",
        });
      }
      edit({ kind: "set", path: ["providers", name], value: ordered(provider), order: exists ? [] : KEYS.file });
    },
    commentProvider: (entry) =>
      !has(entry.name) && !isCommented(read.parsed.text, entry.name) &&
      editComments((text) => withComment(text, linesOf(entry))),
    uncommentProvider: (entry) => void editComments((text) => withoutComment(text, linesOf(entry))),
    setProviderField(name, field) {
      providerOf(name);
      const path = ["providers", name, field.key];
      if (field.value === undefined) remove(path);
      else edit({ kind: "set", path, value: field.value, order: KEYS.provider });
    },
    removeProvider: (name) => has(name) && remove(["providers", name]),
    addModel(provider, model) {
      const models = providerOf(provider).models ?? [];
      const index = models.findIndex((entry) => entry.id === model.id);
      const given = ordered(model);
      if (index < 0) {
        const path = ["providers", provider, "models", models.length];
        edit({ kind: "set", path, value: given, order: KEYS.provider });
        return "added";
      }
      let changed = false;
      for (const [key, field] of Object.entries(given)) {
        const path = ["providers", provider, "models", index, key];
        changed = edit({ kind: "set", path, value: field, order: KEYS.model }) || changed;
      }
      return changed ? "updated" : "unchanged";
    },
    unsetModelField(provider, field) {
      const index = indexOf(provider, field.id);
      return index >= 0 && remove(["providers", provider, "models", index, field.key]);
    },
    removeModel(provider, name) {
      const index = indexOf(provider, name);
      const id = providerOf(provider).models?.[index]?.id;
      if (id === undefined) return null;
      remove(["providers", provider, "models", index]);
      return id;
    },
  };
}

function contentOf(read: ReadText): ProvidersFile {
  // The file was checked when it was opened and is checked again before it is written; in between it is ours.
  return withoutEmpty(read.value ?? {}) as ProvidersFile;
}

/** The fields in the order of the documentation, without those that are undefined. */
function ordered<T extends object>(record: T): T {
  const rank = (key: string) => {
    const found = [...KEYS.provider, ...KEYS.model].indexOf(key);
    return found < 0 ? Number.MAX_SAFE_INTEGER : found;
  };
  const entries = Object.entries(record).filter(([, field]) => field !== undefined);
  return Object.fromEntries(entries.sort(([a], [b]) => rank(a) - rank(b))) as T;
}
