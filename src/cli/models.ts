/**
 * Runs `agentcli models suggest`: reads what the machine has, and prints what fits of a table with a date: newer models
 * are better.
 */
import { findProgram } from "../boundary/programs.ts";
import { runForText } from "../platform/process.ts";
import { graphicsBytes, memoryBytes, runtimeFacts } from "../platform/runtime.ts";
import type { Invocation } from "./command.ts";
import { notice, print } from "./result.ts";

type Context = Invocation["context"];

const GB = 1e9;
const RUNS_ON: Readonly<Record<Suggestion["runsOn"], string>> = {
  graphics: "graphics card",
  split: "card and processor",
  processor: "processor, slowly",
};

const WITHOUT_OLLAMA =
  "The commands are those of Ollama, which is not installed here: https://ollama.com/download. Other servers run " +
  "these models too; see `agentcli local-model --help`, then `agentcli init-providers`.";

/** Runs the command. Returns 1 when nothing fits. */
export async function suggestModels({ context }: Invocation): Promise<number> {
  const machine = await readMachine(context);
  const found = suggest(machine);
  const commands = found.map(({ model: { name } }) => [
    `ollama pull ${name}`,
    // A chat uses only configured servers; what is configured already stays.
    "agentcli init-providers",
    `agentcli chat --model ollama:${name}`,
  ]);
  const rows = found.map(({ model, runsOn, needsGb }) => [
    model.name,
    `${Math.ceil(needsGb)} GB`,
    machine.unified ? "this machine" : RUNS_ON[runsOn],
    model.note,
  ]);
  if (!context.globals.json) await notice(context, shownMachine(machine));
  await print(context, {
    json: {
      machine,
      tableDate: TABLE_DATE,
      models: found.map(({ model, ...more }, at) => ({ ...model, ...more, commands: commands[at] })),
    },
    table: [["MODEL", "NEEDS", "RUNS ON", "NOTES"], ...rows],
    none: "No model of the table fits. Use a server on another machine: agentcli providers add --help",
    text: commands.map((lines, at) => `${at === 0 ? "\n" : ""}${lines.join(" && ")}\n`).join(""),
    notes: found.length === 0 ? [] : [
      ...await findOnPath("ollama", context.io) === null ? [WITHOUT_OLLAMA] : [],
      `The table is of ${TABLE_DATE}; there may be better models now. Sizes: four-bit weights, 32k tokens.`,
    ],
  });
  return found.length === 0 ? 1 : 0;
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
  const said = await runForText({
    argv: [program, "--query-gpu=memory.total", "--format=csv,noheader,nounits"],
    cwd: "/",
    env: { PATH: io.env("PATH") ?? "" },
    timeoutMs: 5_000,
    limit: 4_096,
  }).catch(() => null);
  return (said?.stdout ?? "").split("\n").map((line) => Number(line.trim()) * 1024 * 1024).filter((bytes) => bytes > 0);
}

/** When the table was written: year and month. */
const TABLE_DATE = "2026-11";

/** A model as Ollama offers it, with four-bit weights. */
interface SuggestedModel {
  /** Its name in Ollama's library. */
  name: string;
  /** Bytes of its weights (GB, as Ollama shows them). */
  weightsGb: number;
  /** Billions of parameters that work on one token, which determine its speed. */
  activeB: number;
  /** Its context cache for 32k tokens, in GB. */
  contextGb: number;
  note: string;
}

/**
 * Best first, for turns with tools. Sizes are those of Ollama's library; the context caches follow from layers, heads
 * and windows of the model cards (a quarter of the layers of Qwen 3.5 keep one), rounded up.
 */
export const MODELS: readonly SuggestedModel[] = [
  { name: "qwen3.5:122b", weightsGb: 81, activeB: 10, contextGb: 1, note: "the strongest here; needs a workstation" },
  { name: "qwen3.5:27b", weightsGb: 17, activeB: 27, contextGb: 2, note: "the most right results on one 24 GB card" },
  {
    name: "qwen3.5:35b",
    weightsGb: 24,
    activeB: 3,
    contextGb: 1,
    note: "large and fast; also good with little graphics memory",
  },
  { name: "gpt-oss:120b", weightsGb: 65, activeB: 5.1, contextGb: 1, note: "fast for its size" },
  { name: "gpt-oss:20b", weightsGb: 14, activeB: 3.6, contextGb: 1, note: "fast; good tool calls" },
  { name: "qwen3.5:9b", weightsGb: 6.6, activeB: 9, contextGb: 1, note: "the usual choice for 8 to 12 GB" },
  { name: "qwen3.5:4b", weightsGb: 3.4, activeB: 4, contextGb: 1, note: "small tasks; expect mistakes" },
  { name: "qwen3.5:2b", weightsGb: 2.7, activeB: 2, contextGb: 0.5, note: "single steps; expect many mistakes" },
  { name: "qwen3.5:0.8b", weightsGb: 1, activeB: 0.8, contextGb: 0.5, note: "to see it work, not to work with" },
];

/** The memory of a machine, in GB. */
export interface Machine {
  memoryGb: number;
  /**
   * Memory of the largest graphics card; null: none was found. Memory that is shared with the processor counts as none.
   */
  graphicsGb: number | null;
  /** Processor and graphics use the same memory (Apple silicon). */
  unified: boolean;
}

interface Suggestion {
  model: SuggestedModel;
  /**
   * `graphics`: whole on the card, or in unified memory; `split`: in part on the processor; `processor`: there alone.
   */
  runsOn: "graphics" | "split" | "processor";
  needsGb: number;
}

/** More active parameters than this are slower than reading (about 5 tokens a second) without a graphics card. */
const PROCESSOR_ACTIVE_B = 5;
/** Memory that the system and other programs keep, and that a server needs beside the weights. GB. */
const [SYSTEM_GB, SERVER_GB] = [4, 1];

/** Returns up to three, best first: two for the same way to run only where there is no other. */
export function suggest(machine: Machine): Suggestion[] {
  const all = MODELS.flatMap((model): Suggestion[] => {
    const needsGb = model.weightsGb + model.contextGb + SERVER_GB;
    const runsOn = wayToRun(model, needsGb, machine);
    return runsOn === null ? [] : [{ model, runsOn, needsGb }];
  });
  const fast = all.filter(({ runsOn }) => runsOn === "graphics");
  const slow = all.filter(({ runsOn }) => runsOn !== "graphics");
  // One larger, slower model is worth a row where it ranks above what fits the card.
  const best = slow.slice(0, fast.length === 0 ? 3 : 1)
    .filter(({ model }) => fast[0] === undefined || MODELS.indexOf(model) < MODELS.indexOf(fast[0].model));
  return [...fast.slice(0, 3 - best.length), ...best];
}

function wayToRun({ activeB }: SuggestedModel, needsGb: number, machine: Machine): Suggestion["runsOn"] | null {
  const { memoryGb, graphicsGb, unified } = machine;
  const free = memoryGb - SYSTEM_GB;
  // By default macOS lets the graphics have three quarters of the memory.
  if (unified) return needsGb <= memoryGb * 0.75 ? "graphics" : null;
  if (graphicsGb !== null && needsGb <= graphicsGb) return "graphics";
  // On the processor the speed depends on the active parameters.
  if (activeB > PROCESSOR_ACTIVE_B) return null;
  if (graphicsGb !== null && graphicsGb >= 6 && needsGb <= graphicsGb + free) return "split";
  return needsGb <= free ? "processor" : null;
}
