/**
 * Records the terminals of the pages: `agentcli chat` in tmux, in a network of its own, against scripted servers.
 * `deno task record` writes them, `--check` only compares. Needs tmux and bubblewrap; exit 75 without them.
 */
import { ask, say, startFakeServer, type Step, want } from "../tests/helpers/fake_server.ts";
import { configure, type TemporaryHome, temporaryHome } from "../tests/helpers/home.ts";
import { openTerminal, type TestTerminal } from "../tests/helpers/terminal.ts";
import { REPOSITORY } from "../tests/helpers/program.ts";
import { outputOf } from "../src/platform/process_group.ts";
import { type Frame, svgOf } from "./terminal_svg.ts";

const SIZE = { columns: 76, rows: 22 };
const MODEL = "qwen3:8b";

const SOURCE = `export const PORT = 4711;

export function start() {
  return listen(PORT);
}
`;

/** What the model does: it reads the file, changes it, and says so. */
const SCRIPT: Step[] = [
  ask(want("read", { path: "pump.ts" })),
  ask(want("edit", { path: "pump.ts", old: "PORT = 4711", new: "PORT = 4712" })),
  say("`pump.ts` now listens on port **4712**. Nothing else used the old number."),
];

const json = (body: unknown): Step => ({ kind: "status", status: 200, body: JSON.stringify(body) });

/** Starts a server that answers as Ollama does, with one model that is loaded. */
function startModelServer() {
  const details = { family: "qwen3", parameter_size: "8.2B" };
  const entry = { name: MODEL, model: MODEL, details };
  return startFakeServer({
    port: 11434,
    script: SCRIPT,
    models: { object: "list", data: [{ id: MODEL, object: "model", owned_by: "library" }] },
    routes: {
      "/": { kind: "status", status: 200, body: "Ollama is running" },
      "/api/tags": json({ models: [entry] }),
      "/api/ps": json({ models: [{ ...entry, context_length: 32768 }] }),
      "/api/show": json({ details, capabilities: ["completion", "tools"] }),
    },
  });
}

/** Replaces what differs from run to run: the version and the directory, and what the context holds. */
function lasting(screen: string): string {
  // A server that answers at once has a speed only where the machine is busy.
  return screen.replace(/agentcli \d[^\n]*/, "agentcli\x1b[0m  ~/project").replaceAll(
    /[\d.]+k? of ([\d.]+k) \(\d+ %\)(?: · [\d.]+ t\/s)?/g,
    "1.1k of $1 (3 %)",
  )
    .replaceAll(/[\d.]+k? in ·/g, "3.4k in ·").replaceAll(/\d+ out(?: · [\d.]+ t\/s)?/g, "96 out · 42 t/s")
    .replaceAll(/ · [\d.]+ t\/s/g, " · 42 t/s").replaceAll(/(waiting for your answer|done in) \d+s/g, "$1 2s");
}

/** The controls of a recording. `frame` waits for a text, captures the screen, and shows it for some seconds. */
interface Scene extends Pick<TestTerminal, "press" | "type"> {
  frame(shown: RegExp, seconds: number): Promise<void>;
}

/** A recording: the arguments of `agentcli`, and the actions of a person. */
interface Recording {
  args: string[];
  setUp(home: TemporaryHome): Promise<AsyncDisposable>;
  play(scene: Scene): Promise<void>;
}

/** The first start, a question with its diff, and the end of a turn. */
const chat: Recording = {
  args: ["chat"],
  async setUp(home) {
    await home.write("pump.ts", SOURCE);
    return startModelServer();
  },
  async play({ frame, press, type }) {
    await frame(/Which model\?[^]*the demo/, 2);
    await press("Enter");
    await frame(/^local/m, 1);
    await type("Change the port to 4712");
    await frame(/Change the port to 4712/, 1.5);
    await press("Enter");
    await frame(/no \(or type[^]*^local/m, 4);
    // Right after the question no letter counts; moving in the list does.
    await press("Down", "Enter");
    await frame(/old number\.[^]*done in[^]*^>/m, 6);
  },
};

/** A remote model tries to read a protected file, and is refused with the rule. */
const noCloud: Recording = {
  args: ["chat", "--model", "hosted:large"],
  async setUp(home) {
    await home.write(".agentclisecret", "no-cloud: .env\n");
    await home.write(".env", "DATABASE_PASSWORD=correct-horse-battery\n");
    const server = startFakeServer({
      host: "127.0.0.2",
      port: 8080,
      script: [
        ask(want("read", { path: ".env" })),
        say("I may not read `.env`. A local model can: switch with `/model`."),
      ],
    });
    await configure(home, { hosted: { baseUrl: server.baseUrl, models: [{ id: "large", context_window: 128_000 }] } });
    return server;
  },
  async play({ frame, press, type }) {
    await frame(/^remote/m, 2);
    await type("Which password does the database need?");
    await frame(/need\?/, 1.5);
    await press("Enter");
    await frame(/switch[^]*done in[^]*^>/m, 8);
  },
};

const RECORDINGS: Readonly<Record<string, Recording>> = { chat, "no-cloud": noCloud };

async function record({ args, setUp, play }: Recording): Promise<Frame[]> {
  await using home = await temporaryHome();
  await using _server = await setUp(home);
  await using terminal = await openTerminal(args, { home, ...SIZE });
  const frames: Frame[] = [];
  await play({
    press: (...keys) => terminal.press(...keys),
    type: (text) => terminal.type(text),
    async frame(shown, seconds) {
      await terminal.shows(shown);
      frames.push({ seconds, screen: lasting(await terminal.screen({ styles: true })) });
    },
  });
  return frames;
}

async function main(args: readonly string[]): Promise<number> {
  const inside = RECORDINGS[args[args.indexOf("--inside") + 1] ?? ""];
  if (inside !== undefined) {
    console.log(JSON.stringify(await record(inside)));
    return 0;
  }
  const has = async (program: string, ...words: string[]) =>
    (await outputOf(new Deno.Command(program, { args: words })))?.success === true;
  const cut = ["--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "--"];
  if (!await has("tmux", "-V") || !await has("bwrap", ...cut, "true")) {
    console.error("nothing is recorded: that needs tmux and bubblewrap");
    return 75;
  }
  let code = 0;
  for (const [name, { args: words }] of Object.entries(RECORDINGS)) {
    const self = [Deno.execPath(), "run", "-A", "--quiet", import.meta.filename ?? "", "--inside", name];
    const { stdout, success } = await new Deno.Command("bwrap", { args: [...cut, ...self], stderr: "inherit" })
      .output();
    if (!success) return 1;
    const command = ["agentcli", ...words].join(" ");
    const svg = svgOf(JSON.parse(new TextDecoder().decode(stdout)), { ...SIZE, command });
    const path = `docs/${name}.svg`;
    if (!args.includes("--check")) await Deno.writeTextFile(`${REPOSITORY}/${path}`, svg);
    else if (await Deno.readTextFile(`${REPOSITORY}/${path}`) !== svg) {
      console.error(`${path} is not what the program shows: run \`deno task record\``);
      code = 1;
    }
  }
  return code;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
