/**
 * Records docs/chat.svg, the terminal that the README shows: `agentcli chat` in tmux, in a network of its own, against a
 * scripted server where Ollama usually listens. `deno task record` writes it, `--check` only compares.
 * Needs tmux and bubblewrap; exit 75 without them.
 */
import { ask, say, startFakeServer, type Step, want } from "../tests/helpers/fake_server.ts";
import { temporaryHome } from "../tests/helpers/home.ts";
import { openTerminal } from "../tests/helpers/terminal.ts";
import { REPOSITORY } from "../tests/helpers/program.ts";
import { outputOf } from "../src/platform/process.ts";
import { type Frame, svgOf } from "./terminal_svg.ts";

const FILE = `${REPOSITORY}/docs/chat.svg`;
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
  return screen.replace(/agentcli \d[^\n]*/, "agentcli\x1b[0m  ~/pump").replaceAll(
    /[\d.]+k? of 32\.8k \(\d+ %\)/g,
    "1.1k of 32.8k (3 %)",
  )
    .replaceAll(/[\d.]+k? in ·/g, "3.4k in ·").replaceAll(/\d+ out(?: · [\d.]+ t\/s)?/g, "96 out · 42 t/s")
    .replaceAll(/ · [\d.]+ t\/s/g, " · 42 t/s").replaceAll(/(waiting for your answer|done in) \d+s/g, "$1 2s");
}

async function record(): Promise<Frame[]> {
  await using home = await temporaryHome();
  await using _server = startModelServer();
  await home.write("pump.ts", SOURCE);
  await using terminal = await openTerminal(["chat"], { home, ...SIZE });
  const frames: Frame[] = [];
  const frame = async (shown: RegExp, seconds: number) => {
    await terminal.shows(shown);
    frames.push({ seconds, screen: lasting(await terminal.screen({ styles: true })) });
  };
  await frame(/Which model\?[^]*the demo/, 2);
  await terminal.press("Enter");
  await frame(/^local/m, 1);
  await terminal.type("Change the port to 4712");
  await frame(/Change the port to 4712/, 1.5);
  await terminal.press("Enter");
  await frame(/no \(or type[^]*^local/m, 4);
  // Right after the question no letter counts; moving in the list does.
  await terminal.press("Down", "Enter");
  await frame(/old number\.[^]*done in[^]*^>/m, 6);
  return frames;
}

async function main(args: readonly string[]): Promise<number> {
  if (args.includes("--inside")) {
    console.log(JSON.stringify(await record()));
    return 0;
  }
  const has = async (program: string, ...words: string[]) =>
    (await outputOf(new Deno.Command(program, { args: words })))?.success === true;
  const cut = ["--dev-bind", "/", "/", "--unshare-net", "--die-with-parent", "--"];
  if (!await has("tmux", "-V") || !await has("bwrap", ...cut, "true")) {
    console.error("nothing is recorded: that needs tmux and bubblewrap");
    return 75;
  }
  const inside = [Deno.execPath(), "run", "-A", "--quiet", import.meta.filename ?? "", "--inside"];
  const { stdout, success } = await new Deno.Command("bwrap", { args: [...cut, ...inside], stderr: "inherit" })
    .output();
  if (!success) return 1;
  const svg = svgOf(JSON.parse(new TextDecoder().decode(stdout)), { ...SIZE, command: "agentcli chat" });
  if (!args.includes("--check")) await Deno.writeTextFile(FILE, svg);
  else if (await Deno.readTextFile(FILE) !== svg) {
    console.error("docs/chat.svg is not what the program shows: run `deno task record`");
    return 1;
  }
  return 0;
}

if (import.meta.main) Deno.exit(await main(Deno.args));
