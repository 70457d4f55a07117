/** Adds a provider. Never asks, and says what would be safer or is missing. */
import { baseUrlHint, baseUrlProblem } from "../../config/base_url.ts";
import { editProviders, type ProviderRecord } from "../../config/edit.ts";
import { isLiteralKey } from "../../config/key.ts";
import { loadConfiguration } from "../../config/load.ts";
import { DEMO, PROVIDER_NAME, PROVIDER_NAME_RULE } from "../../config/selector.ts";
import { AgentcliError } from "../../errors.ts";
import { isLocal } from "../../boundary/policy/locality.ts";
import { openHome } from "../../platform/home.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { notice, warn } from "../output.ts";
import type { Invocation } from "../verb.ts";
import { dropStoredKey } from "./drop_stored_key.ts";
import type { ADD_OPTIONS } from "./verb.ts";

/** Runs the verb. A bad name, type or address is `usage`; an existing name without `--replace` is `config_invalid`. */
export async function run({ options, arguments: words, context }: Invocation<typeof ADD_OPTIONS>): Promise<void> {
  const name = checkedName(words[0] ?? "");
  const { apiKey } = options;
  const provider: ProviderRecord = {
    type: checkedType(options.type),
    base_url: checkedUrl(options.baseUrl),
    api_key: apiKey,
    models: options.model === undefined ? [] : [{ id: options.model }],
  };
  const { io, globals } = context;
  const home = await openHome(io);
  let replaced = false;
  const before = options.replace
    ? (await loadConfiguration(home)).providers.find((entry) => entry.name === name)
    : null;
  await editProviders(home, (document) => {
    replaced = Object.hasOwn(document.value().providers ?? {}, name);
    document.addProvider(name, provider, { replace: options.replace });
  });
  // The new entry is a new provider: what was stored for the old one is nobody's any more.
  if (before) await dropStoredKey(before, context);
  const done = replaced ? "replaced" : "added";
  await io.stdout.write(
    globals.json ? jsonText({ name, base_url: provider.base_url, change: done }) : `${done} ${name}\n`,
  );
  if (apiKey !== undefined && isLiteralKey(apiKey)) {
    await warn(context, "a key on the command line stays in the shell's history; --api-key '$NAME' is safer");
  }
  if (apiKey === undefined && !isLocal(provider.base_url, [])) {
    await notice(
      context,
      `${name} has no key: store one with \`agentcli providers set-key ${name}\`, or write \`api_key: none\` if it wants none`,
    );
  }
  const hint = baseUrlHint(provider.base_url);
  if (hint !== undefined) await notice(context, `hint: ${hint}`);
}

function checkedName(name: string): string {
  if (PROVIDER_NAME.test(name) && name !== DEMO) return name;
  const rule = name === DEMO ? `${DEMO} is taken by the built-in demonstration` : PROVIDER_NAME_RULE;
  throw new AgentcliError("usage", "this cannot be the name of a provider", { hint: `a name: ${rule}` });
}

function checkedType(type = "openai_compat"): "openai_compat" {
  if (type === "openai_compat") return type;
  throw new AgentcliError("usage", "--type: the only type is openai_compat");
}

function checkedUrl(url: string | undefined): string {
  const hint = "for example --base-url http://localhost:1919/v1";
  if (url === undefined) throw new AgentcliError("usage", "option --base-url is needed", { hint });
  const problem = baseUrlProblem(url);
  // The URL itself is not repeated: it may hold a password.
  if (problem !== null) throw new AgentcliError("usage", `--base-url: ${problem}`, { hint });
  return url;
}
