/** The verbs. Declarations only: the code of a verb is loaded when it is called. */
import { authVerb } from "./auth/verb.ts";
import { chatVerb } from "./chat/verb.ts";
import { completeVerb, completionsVerb } from "./completions/verb.ts";
import { configVerb } from "./config/verb.ts";
import { doctorVerb } from "./doctor/verb.ts";
import { editorVerb } from "./editor/verb.ts";
import { helpVerb } from "./help_topics/verb.ts";
import { initProvidersVerb } from "./init_providers/verb.ts";
import { localModelVerb } from "./local_model/verb.ts";
import { providersVerb } from "./providers/verb.ts";
import { runVerb } from "./run/verb.ts";
import { secretsVerb } from "./secrets/verb.ts";
import { sessionsVerb } from "./sessions/verb.ts";
import { group } from "./verb.ts";
import { versionVerb } from "./version_verb/verb.ts";

export const TREE = group({
  brief: "agentcli: agent turns with the models on your own machine",
  verbs: {
    run: runVerb,
    chat: chatVerb,
    "init-providers": initProvidersVerb,
    providers: providersVerb,
    config: configVerb,
    "local-model": localModelVerb,
    secrets: secretsVerb,
    editor: editorVerb,
    auth: authVerb,
    sessions: sessionsVerb,
    doctor: doctorVerb,
    completions: completionsVerb,
    help: helpVerb,
    version: versionVerb,
    __complete: completeVerb,
  },
});
