/** The first start: nothing is configured, or no model is chosen. Finds servers, offers their models, and the demo. */
import { DEMO } from "../../config/find.ts";
import { openHome } from "../../platform/home.ts";
import { discover, type Discovered } from "../../provider/backends/discovery.ts";
import { createHttpClient } from "../../provider/http/client.ts";
import type { Choice } from "../../terminal/picker.ts";
import { row } from "../../terminal/style.ts";
import { mergeFound, setDefaultModel } from "../init_providers/run.ts";
import { asksForStudio } from "../init_providers/plan.ts";
import { modelText } from "../init_providers/report.ts";
import type { Context } from "../command.ts";
import { offeredModels } from "./models.ts";
import type { ChatView } from "./view.ts";

/** Milliseconds for one address. */
const TIMEOUT = 2000;

interface Offer {
  choice: Choice;
  /** Writes what makes it the usual model; gives its selector. */
  take(): Promise<string>;
}

/**
 * The selector of the model that was chosen, now the usual one; null when none was. Throws configuration errors, and the
 * signal's reason.
 */
export async function chooseFirstModel(
  { view, context, signal }: { view: ChatView; context: Context; signal: AbortSignal },
): Promise<string | null> {
  const offers = await view.during("looking for model servers", findOffers(context, signal));
  if (offers.length === 0) {
    view.say([
      row("No model server answers on the usual ports (11434, 1234, 8000, 8080), and none is configured."),
      row("Start one (agentcli local-model serve --help), or name another: agentcli providers add --help", "dim"),
      row("The demo needs no server: a script that reads files and answers with an outline of them.", "dim"),
    ]);
  }
  const demo: Offer = {
    choice: { label: "the demo", note: "no language model: a fixed script, to try things out" },
    take: () => Promise.resolve(DEMO),
  };
  const all = [...offers, demo];
  const chosen = await view.pick({ title: "Which model?", choices: all.map(({ choice }) => choice) });
  return await all[chosen ?? -1]?.take() ?? null;
}

async function findOffers(context: Context, signal: AbortSignal): Promise<Offer[]> {
  const home = await openHome(context.io);
  const client = createHttpClient(context.io);
  try {
    const [configured, found] = await Promise.all([
      offeredModels(context, signal),
      discover(client, { hosts: ["localhost"], timeoutMs: TIMEOUT, signal }),
    ]);
    const known = configured.flatMap(({ selector, note, provider }): Offer[] =>
      selector === null ? [] : [{
        choice: { label: selector, note },
        take: async () => {
          await setDefaultModel(home, { provider, model: selector.slice(provider.length + 1) });
          return selector;
        },
      }]
    );
    const listed = new Set(known.map(({ choice }) => choice.label));
    const fresh = found.filter(({ state }) => state === "serving").flatMap((server) =>
      server.models.map((model): Offer => ({
        choice: { label: modelText(model), note: `local, ${server.host}:${server.port}` },
        take: async () => {
          const { plan } = await mergeFound(home, found, { studioAsked: asksForStudio(context.io.env) });
          const provider = plan.names.get(server.baseUrl) ?? nameOf(server);
          await setDefaultModel(home, { provider, model: model.id });
          return `${provider}:${model.id}`;
        },
      }))
    );
    return listed.size > 0 ? known : fresh;
  } finally {
    client.close();
  }
}

function nameOf({ runtime, port }: Discovered): string {
  return runtime ?? `port-${port}`;
}
