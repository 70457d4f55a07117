/** Runs `agentcli models suggest`: reads what the machine has, and prints what fits. */
import { findProgram } from "../../boundary/programs.ts";
import { run } from "../../platform/process.ts";
import { graphicsBytes, memoryBytes, runtimeFacts } from "../../platform/runtime.ts";
import type { Invocation } from "../command.ts";
import { notice } from "../output.ts";
import { print, tableFor } from "../result.ts";
import { type Machine, suggest, type Suggestion, TABLE_DATE } from "./table.ts";

type Context = Invocation["context"];

const GB = 1e9;
const RUNS_ON: Readonly<Record<Suggestion["runsOn"], string>> = {
  graphics: "graphics card",
  split: "card and processor",
  processor: "processor, slowly",
};

/** Runs the command. Returns 1 when nothing fits. */
export async function suggestModels({ context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const machine = await readMachine(context);
  const found = suggest(machine);
  const commands = found.map(({ model: { name } }) => [`ollama pull ${name}`, `agentcli chat --model ollama:${name}`]);
  const models = found.map(({ model, ...more }, at) => ({ ...model, ...more, commands: commands[at] }));
  if (globals.json) {
    await print(context, { json: { machine, tableDate: TABLE_DATE, models } });
    return found.length === 0 ? 1 : 0;
  }
  await notice(context, shownMachine(machine));
  if (found.length === 0) {
    await notice(context, "No model of the table fits. Use a server on another machine: agentcli providers add --help");
    return 1;
  }
  const hasOllama = await findOnPath("ollama", io) !== null;
  const rows = found.map(({ model, runsOn, needsGb }) => [
    model.name,
    `${Math.ceil(needsGb)} GB`,
    machine.unified ? "this machine" : RUNS_ON[runsOn],
    model.note,
  ]);
  await io.stdout.write(tableFor(io.stdout, [["MODEL", "NEEDS", "RUNS ON", "NOTES"], ...rows]));
  if (!hasOllama) {
    await notice(
      context,
      "The commands are those of Ollama, which is not installed here: https://ollama.com/download. Other servers run " +
        "these models too; see `agentcli local-model --help`, then `agentcli init-providers`.",
    );
  }
  await io.stdout.write(`\n${commands.map((lines) => lines.join(" && ")).join("\n")}\n`);
  await notice(
    context,
    `The table is of ${TABLE_DATE}; there may be better models now. Sizes: four-bit weights, 32k tokens.`,
  );
  return 0;
}

function shownMachine({ memoryGb, graphicsGb, unified }: Machine): string {
  const memory = `${Math.round(memoryGb)} GB of memory`;
  if (unified) return `This machine has ${memory}, which the graphics can use.`;
  if (graphicsGb === null) return `This machine has ${memory}; no graphics card was found.`;
  return `This machine has ${memory} and ${Math.round(graphicsGb)} GB on its graphics card.`;
}

async function readMachine({ io }: Context): Promise<Machine> {
  const unified = runtimeFacts().system === "darwin aarch64";
  return { memoryGb: memoryBytes() / GB, graphicsGb: unified ? null : await graphicsGb(io), unified };
}

/** Returns the memory of the largest card: NVIDIA's by its tool, AMD's from the kernel. */
async function graphicsGb(io: Context["io"]): Promise<number | null> {
  // A processor's own graphics keeps a small part of the memory for itself.
  const sizes = [...await nvidiaBytes(io), ...graphicsBytes().filter((bytes) => bytes >= 3 * GB)];
  return sizes.length === 0 ? null : Math.max(...sizes) / GB;
}

function findOnPath(name: string, io: Context["io"]): Promise<string | null> {
  return findProgram(name, { path: io.env("PATH") ?? "", roots: [io.cwd()], io });
}

async function nvidiaBytes(io: Context["io"]): Promise<number[]> {
  const program = await findOnPath("nvidia-smi", io);
  if (program === null) return [];
  let text = "";
  await run({
    argv: [program, "--query-gpu=memory.total", "--format=csv,noheader,nounits"],
    cwd: "/",
    env: { PATH: io.env("PATH") ?? "" },
    timeoutMs: 5_000,
    onOutput: (bytes, stream) => {
      if (stream === "stdout" && text.length < 4_096) text += new TextDecoder().decode(bytes);
    },
  }).catch(() => null);
  return text.split("\n").map((line) => Number(line.trim()) * 1024 * 1024).filter((bytes) => bytes > 0);
}
