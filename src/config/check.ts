/** What the schema cannot say: rules between the values of providers.yaml. */
import { baseUrlProblem } from "./base_url.ts";
import type { ProviderRecord, ProvidersFile } from "./schema.ts";
import { DEMO, PROVIDER_NAME, PROVIDER_NAME_RULE, splitSelector } from "./selector.ts";
import { isAbsolute } from "../platform/path.ts";

/** A rule that is broken, and where. */
export interface RuleIssue {
  path: (string | number)[];
  /** What was expected; never the value of a key, a header or a URL. */
  message: string;
  /** It is the key that is wrong, not its value. */
  key?: true;
}

/** Aliases of a model record as a list. */
export function aliasesOf(alias: string | string[] | undefined): string[] {
  return alias === undefined ? [] : typeof alias === "string" ? [alias] : alias;
}

function* aliasIssues(name: string, provider: ProviderRecord): Generator<RuleIssue> {
  const models = provider.models ?? [];
  const ids = new Set(models.map((model) => model.id));
  const owners = new Map<string, string>();
  for (const [index, model] of models.entries()) {
    const path = ["providers", name, "models", index, "alias"];
    for (const alias of aliasesOf(model.alias)) {
      const owner = owners.get(alias) ?? (ids.has(alias) && alias !== model.id ? alias : undefined);
      if (owner !== undefined && owner !== model.id) {
        yield { path, message: `the alias ${alias} of ${model.id} already stands for ${owner}` };
      }
      owners.set(alias, model.id);
    }
  }
}

// A field name of HTTP (RFC 9110), and a value without control characters.
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;

function* providerIssues(name: string, provider: ProviderRecord): Generator<RuleIssue> {
  const path = ["providers", name];
  if (!PROVIDER_NAME.test(name)) yield { path, key: true, message: `a provider name is made of ${PROVIDER_NAME_RULE}` };
  if (name === DEMO) yield { path, key: true, message: `the name ${DEMO} is taken by the built-in demonstration` };
  const problem = baseUrlProblem(provider.base_url);
  if (problem !== null) yield { path: [...path, "base_url"], message: problem };
  for (const [header, value] of Object.entries(provider.headers ?? {})) {
    if (!HEADER_NAME.test(header)) {
      yield { path: [...path, "headers", header], key: true, message: "expected a header name" };
    } else if (typeof value !== "string" || !HEADER_VALUE.test(value)) {
      yield { path: [...path, "headers", header], message: "expected a text that a header can carry" };
    }
  }
  if (provider.ca_file !== undefined && !isAbsolute(provider.ca_file)) {
    yield { path: [...path, "ca_file"], message: "expected an absolute path" };
  }
  yield* aliasIssues(name, provider);
}

/** Every broken rule, in the order of the file. */
export function* ruleIssues(file: ProvidersFile): Generator<RuleIssue> {
  if (file.default_provider !== undefined && !PROVIDER_NAME.test(file.default_provider)) {
    yield { path: ["default_provider"], message: `expected a provider name: ${PROVIDER_NAME_RULE}` };
  }
  for (const [role, selector] of Object.entries(file.roles ?? {})) {
    const parts = splitSelector(selector);
    if (parts === null || !(PROVIDER_NAME.test(parts.provider))) {
      yield { path: ["roles", role], message: "expected <provider>[:<model or alias>]" };
    }
  }
  for (const name of Object.keys(file.engines ?? {})) {
    if (PROVIDER_NAME.test(name)) continue;
    yield { path: ["engines", name], key: true, message: `the name of an engine is made of ${PROVIDER_NAME_RULE}` };
  }
  for (const [name, provider] of Object.entries(file.providers ?? {})) yield* providerIssues(name, provider);
}
