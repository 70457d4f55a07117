/** The verbs. Each declaration is loaded when it is named: declaring all of them would cost every start half a millisecond. */
import { type Group, group, type Verb } from "./verb.ts";

// deno-lint-ignore no-explicit-any -- verbs with different options
type Node = Verb<any> | Group;

const BRIEF = "agentcli: agent turns with the models on your own machine";

/** The verbs below the name of the program, in the order of the help. */
const VERBS: Readonly<Record<string, () => Promise<Node>>> = {
  run: async () => (await import("./run/verb.ts")).runVerb,
  chat: async () => (await import("./chat/verb.ts")).chatVerb,
  "init-providers": async () => (await import("./init_providers/verb.ts")).initProvidersVerb,
  providers: async () => (await import("./providers/verb.ts")).providersVerb,
  config: async () => (await import("./config/verb.ts")).configVerb,
  "local-model": async () => (await import("./local_model/verb.ts")).localModelVerb,
  secrets: async () => (await import("./secrets/verb.ts")).secretsVerb,
  sandbox: async () => (await import("./sandbox/verb.ts")).sandboxVerb,
  quarantine: async () => (await import("./quarantine/verb.ts")).quarantineVerb,
  editor: async () => (await import("./editor/verb.ts")).editorVerb,
  auth: async () => (await import("./auth/verb.ts")).authVerb,
  sessions: async () => (await import("./sessions/verb.ts")).sessionsVerb,
  doctor: async () => (await import("./doctor/verb.ts")).doctorVerb,
  completions: async () => (await import("./completions/verb.ts")).completionsVerb,
  help: async () => (await import("./help/verb.ts")).helpVerb,
  version: async () => (await import("./help/verb.ts")).versionVerb,
  __complete: async () => (await import("./completions/verb.ts")).completeVerb,
};

/** What the verbs are called. */
export const VERB_NAMES: readonly string[] = Object.keys(VERBS);

/** The tree of verbs; with `only`, those of these names that there are. */
export async function loadTree(only: readonly string[] = VERB_NAMES): Promise<Group> {
  const named = Object.entries(VERBS).filter(([name]) => only.includes(name));
  const verbs = await Promise.all(named.map(async ([name, load]) => [name, await load()] as const));
  return group({ brief: BRIEF, verbs: Object.fromEntries(verbs) });
}
