/** Changing providers.yaml: under a lock, checked before it is written, everything else in the file kept. */
import { AgentcliError } from "../errors.ts";
import type { Home } from "../platform/home.ts";
import { removeCopy } from "./cache.ts";
import { NEW_FILE, openDocument, type ProvidersDocument } from "./document.ts";
import { emptyConfiguration, PROVIDERS_FILE } from "./load.ts";
import { checkFile, keyPathText, parseConfiguration, readYaml, toConfiguration } from "./parse.ts";
import { jsonSchema } from "./schema.ts";
import type { Configuration } from "./types.ts";

export type { CommentedProvider, ModelChange, ModelRecord, ProviderRecord, ProvidersDocument } from "./document.ts";

const SCHEMA_FILE = "providers.schema.json";

/** What an edit came to. */
export interface EditResult {
  /** The text before; empty when there was no file. */
  before: string;
  /** The text after; equal to `before` when nothing changed. */
  after: string;
  /** Whether there was a file. */
  existed: boolean;
  /** The configuration after the edit. */
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
    await writeSchema(home);
    await home.write(PROVIDERS_FILE, result.after);
    await removeCopy(home);
    return result;
  });
}

async function writeSchema(home: Home): Promise<void> {
  const text = schemaText();
  if (await home.read(SCHEMA_FILE).catch(() => null) !== text) await home.write(SCHEMA_FILE, text);
}
