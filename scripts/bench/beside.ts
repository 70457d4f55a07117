/**
 * `deno task bench --peers`: other agent CLIs on PATH beside ours, in turns, against the mock server, in a network that
 * has only loopback (bubblewrap), so that none of them reaches anything while it is measured.
 */
import { END_MARK } from "./mock.ts";
import { startNames } from "./names_asked.ts";
import { type Peer, PEERS } from "./peers.ts";
import { roundTime } from "./rows.ts";
import { openStage, type Run, type Stage, type Subject } from "./stage.ts";

/** Tells the inner process that the network is cut. */
const CUT = "AGENTCLI_BENCH_CUT";

const PROMPT = "Hello";
/** The others are measured by this one. */
const OURS = "agentcli";
/** Nothing listens there. */
const REFUSED = "http://127.0.0.1:9/v1";
/** Longest that a program may try a server that is not there. */
const PATIENCE_MS = 120_000;
const SCENARIOS = ["short", "rounds-30"];

/** A program that takes part. */
interface Contender {
  name: string;
  version: Subject;
  turn(model: string): Subject;
  /** A turn with a server that is not there; null for one that cannot be told so. */
  refused: Subject | null;
}

/** The figures of a program, by their names. */
export type Figures = Record<string, number | null>;

/** How a figure is shown. */
const UNITS: Record<string, { unit: string; digits: number }> = {
  "`--version`": { unit: "ms", digits: 0 },
  "first request": { unit: "ms", digits: 0 },
  "short turn": { unit: "ms", digits: 0 },
  cpu: { unit: "ms", digits: 0 },
  memory: { unit: "MiB", digits: 0 },
  "request bytes": { unit: "B", digits: 0 },
  requests: { unit: "", digits: 0 },
  "one round of 30": { unit: "ms", digits: 1 },
};

function median(values: readonly number[]): number | null {
  const sorted = values.filter((value) => !Number.isNaN(value)).sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? null;
}

async function write(home: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(`${home}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeTextFile(`${home}/${path}`, text);
  }
}

async function peerAt(stage: Stage, peer: Peer): Promise<Contender> {
  const place = async (baseUrl: string, folder: string) => {
    const home = `${stage.root}/${folder}`;
    await write(home, peer.files({ baseUrl, models: SCENARIOS }));
    return (model: string): Subject => ({
      name: peer.program,
      argv: [peer.program, ...peer.turn({ model, prompt: PROMPT, home })],
      env: { HOME: home, ...peer.env?.({ model, baseUrl }) },
    });
  };
  const turn = await place(stage.baseUrl, `peer-${peer.program}`);
  const refused = await place(REFUSED, `refused-${peer.program}`);
  const { env = {} } = turn("short");
  return {
    name: peer.program,
    version: { name: peer.program, argv: [peer.program, "--version"], env },
    turn,
    refused: refused("short"),
  };
}

/** Ours: the program of the stage, or a binary of its own. */
function ourselves(stage: Stage, binary?: string): Contender {
  const name = binary === undefined ? OURS : `${OURS}, binary`;
  const start = (...args: string[]): Subject =>
    binary === undefined ? stage.ours(...args) : { name, argv: [binary, ...args] };
  return {
    name,
    version: start("--version"),
    turn: (model) => start("run", PROMPT, "--model", `bench:${model}`),
    refused: start("run", PROMPT, "--model", "nobody:short"),
  };
}

function floor(stage: Stage): Contender {
  return { name: "bare client", version: stage.hello, turn: (model) => stage.floor(model), refused: null };
}

async function isOnPath(program: string): Promise<boolean> {
  for (const folder of (Deno.env.get("PATH") ?? "").split(":")) {
    if (await Deno.stat(`${folder}/${program}`).then(({ isFile }) => isFile, () => false)) return true;
  }
  return false;
}

function shortFigures(run: Run): Figures {
  const turns = run.log.filter(({ tools }) => tools);
  const [first] = turns;
  return {
    "first request": (first?.arrived ?? NaN) - run.started,
    "short turn": run.wallMs,
    cpu: run.cpuMs,
    memory: run.memoryMiB,
    "request bytes": first === undefined ? null : new TextEncoder().encode(first.body).length,
    requests: run.log.length,
  };
}

/** A run of one program, as figures; throws when it did not do what it was asked for. */
type Measurement = (stage: Stage, contender: Contender) => Promise<Figures>;

const LOOK = { mayFail: true, tree: true, deadlineMs: PATIENCE_MS } as const;

function complete(run: Run): Run {
  if (run.code === 0 && run.stdout.includes(END_MARK)) return run;
  throw new Error(`exit ${run.code}: ${(run.stderr || run.stdout).trim().slice(-300)}`);
}

const MEASUREMENTS: Record<string, Measurement> = {
  version: async (stage, { version }) => ({ "`--version`": (await stage.run(version)).wallMs }),
  short: async (stage, { turn }) => shortFigures(complete(await stage.run(turn("short"), LOOK))),
  rounds: async (stage, { turn }) => {
    const { log } = complete(await stage.run(turn("rounds-30"), LOOK));
    const turns = log.filter(({ tools }) => tools);
    if (turns.length < 31) throw new Error(`${turns.length} requests for 30 rounds`);
    return { "one round of 30": roundTime(turns) };
  },
};

/** What a program says when nothing listens at its server's address. */
interface Refusal {
  seconds: number;
  code: number;
  /** Whether its words name the address. */
  named: boolean;
}

async function refusalOf(stage: Stage, { refused }: Contender): Promise<Refusal | null> {
  if (refused === null) return null;
  const { wallMs, code, stdout, stderr } = await stage.run(refused, LOOK);
  return { seconds: wallMs / 1000, code, named: (stdout + stderr).includes(new URL(REFUSED).host) };
}

function refusalText({ seconds, code, named }: Refusal): string {
  if (seconds * 1000 >= PATIENCE_MS) return `still trying after ${seconds.toFixed(0)} s`;
  return `after ${seconds.toFixed(2)} s, exit ${code}, ${named ? "names" : "does not name"} the address`;
}

/** The medians of the runs, by program. What fails is said, and its figures are left out. */
async function mediansOf(stage: Stage, contenders: readonly Contender[], runs: number): Promise<Map<string, Figures>> {
  const figures = new Map<string, Figures>(contenders.map(({ name }) => [name, {}]));
  for (const [what, take] of Object.entries(MEASUREMENTS)) {
    const taken = new Map<string, Figures[]>(contenders.map(({ name }) => [name, []]));
    // The first turn of each warms its caches and does not count.
    for (let turn = 0; turn <= runs; turn++) {
      for (const contender of contenders) {
        try {
          const values = await take(stage, contender);
          if (turn > 0) taken.get(contender.name)?.push(values);
        } catch (error) {
          console.error(`${contender.name}, ${what}: ${error instanceof Error ? error.message : error}`);
        }
      }
    }
    for (const [name, values] of taken) {
      for (const figure of Object.keys(values[0] ?? {})) {
        const middle = median(values.map((value) => value[figure] ?? NaN));
        figures.set(name, { ...figures.get(name), [figure]: middle });
      }
    }
  }
  return figures;
}

/** The outside hosts that one short turn asks for, in a home without any trace of an earlier one, and the refusal. */
async function behaviorOf(stage: Stage, contender: Contender): Promise<string> {
  await using names = startNames();
  await stage.run(contender.turn("short"), LOOK);
  const hosts = names?.take() ?? null;
  const refusal = await refusalOf(stage, contender);
  const asked = hosts === null ? "not seen" : hosts.join(", ") || "none";
  return `${contender.name}: outside hosts asked for: ${asked}` +
    (refusal === null ? "" : `; nothing listens: ${refusalText(refusal)}`);
}

function ratioText(ratio: number): string {
  return ratio >= 10 ? ratio.toFixed(0) : ratio.toPrecision(2);
}

/** A table of Markdown: programs in rows; each figure, and after it how many times ours it is. */
export function besideTable(figures: ReadonlyMap<string, Figures>): string {
  const columns = Object.entries(UNITS);
  const ours = figures.get(OURS) ?? {};
  const cell = (name: string, own: Figures, { unit, digits }: { unit: string; digits: number }) => {
    const value = own[name] ?? null;
    if (value === null) return "-";
    const base = ours[name] ?? null;
    const ratio = own === ours || base === null || base === 0 ? "" : ` (${ratioText(value / base)} ×)`;
    return `${value.toFixed(digits)} ${unit}`.trim() + ratio;
  };
  const rows = [...figures].map(([program, own]) => [program, ...columns.map(([name, how]) => cell(name, own, how))]);
  const head = ["program", ...columns.map(([name]) => name)];
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`).join("");
}

async function versionOf(stage: Stage, { name, version }: Contender): Promise<string> {
  const { stdout } = await stage.run(version);
  return `${name} ${stdout.match(/\d+(?:\.\d+)+/)?.[0] ?? ""}`.trim();
}

/** Measures and prints. `runs` of each program; `program` is the file of ours, `binary` another form of it. */
export async function runBeside(
  { program, binary, runs }: { program: string; binary: string | undefined; runs: number },
): Promise<void> {
  if (!Deno.env.has(CUT)) return await runCut();
  await using stage = await openStage(program);
  const contenders = [ourselves(stage), ...binary === undefined ? [] : [ourselves(stage, binary)], floor(stage)];
  for (const peer of PEERS) {
    if (await isOnPath(peer.program)) contenders.push(await peerAt(stage, peer));
    else console.error(`${peer.program} is not on PATH`);
  }
  const versions: string[] = [];
  for (const contender of contenders) versions.push(await versionOf(stage, contender));
  for (const contender of contenders) console.log(await behaviorOf(stage, contender));
  console.log(`\n${besideTable(await mediansOf(stage, contenders, runs))}`);
  console.log(`${versions.join(", ")}; medians of ${runs} runs in turns`);
}

/** The same command in a network of its own, whose name server is ours. */
async function runCut(): Promise<void> {
  const resolver = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(resolver, "nameserver 127.0.0.1\n");
    const { status } = new Deno.Command("bwrap", {
      args: ["--dev-bind", "/", "/", "--ro-bind", resolver, await Deno.realPath("/etc/resolv.conf"), "--unshare-net"]
        .concat(["--cap-add", "CAP_NET_BIND_SERVICE", "--die-with-parent", "--setenv", CUT, "1", "--"])
        .concat([Deno.execPath(), "run", "-A", "--unstable-net", Deno.mainModule, ...Deno.args]),
    }).spawn();
    if (!(await status).success) throw new Error("the programs could not be measured with the network cut");
  } finally {
    await Deno.remove(resolver);
  }
}
