/** The rows of the bench: what is run, which figure is taken, and what the aim is. */
import type { MockRecord } from "./mock.ts";
import { END_MARK } from "./mock.ts";
import type { Run, Stage, Subject } from "./stage.ts";

/** One figure of a row: ours, and where there is a floor, its figure of the run beside it. */
export interface Pair {
  ours: number;
  floor: number | null;
}

/** A row; `figures` names what one pair of runs gives. */
export interface Row {
  name: string;
  brief: string;
  /** Left out unless it is named. */
  slow?: boolean;
  /** Pairs of runs, unless `--runs` says otherwise. */
  runs: number;
  /** Set up once before the row's first run. */
  prepare?(stage: Stage): Promise<void>;
  pair(stage: Stage, oursFirst: boolean): Promise<Record<string, Pair>>;
  /** By figure: unit, and the aim as a text. */
  figures: Record<string, { unit: string; aim: string; digits?: number }>;
}

async function both(stage: Stage, subjects: { ours: Subject; floor: Subject; oursFirst: boolean }) {
  const { ours, floor, oursFirst } = subjects;
  if (oursFirst) {
    const first = await stage.run(ours);
    return { ours: first, floor: await stage.run(floor) };
  }
  const first = await stage.run(floor);
  return { ours: await stage.run(ours), floor: first };
}

function complete(run: Run): Run {
  if (!run.stdout.includes(END_MARK)) throw new Error(`the answer is not complete: ${run.stdout.slice(-300)}`);
  return run;
}

function pairOf(runs: { ours: Run; floor: Run }, figure: (run: Run) => number | null): Pair {
  return { ours: figure(runs.ours) ?? NaN, floor: figure(runs.floor) };
}

const cpu = (run: Run) => run.cpuMs;
const memory = (run: Run) => run.memoryMiB;
const firstRequest = (run: Run) => (run.log[0]?.arrived ?? NaN) - run.started;

function perToken(count: number) {
  return (run: Run) => run.cpuMs === null ? null : run.cpuMs * 1000 / count;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
}

/** Median time between the end of an answer and the next request, milliseconds. */
export function roundTime(log: readonly MockRecord[]): number {
  return median(log.slice(1).map((record, at) => record.arrived - (log[at]?.answered ?? NaN)));
}

/** Bytes of earlier messages that a log of requests sent again outside the common prefix. */
export function bytesOutsidePrefix(bodies: readonly string[]): number {
  const prefixOf = (body: string) => {
    const { tools, messages } = JSON.parse(body);
    return JSON.stringify(tools ?? []) + JSON.stringify(messages).slice(0, -1);
  };
  let outside = 0;
  for (let at = 1; at < bodies.length; at++) {
    const [before, after] = [prefixOf(bodies[at - 1] ?? "{}"), prefixOf(bodies[at] ?? "{}")];
    let same = 0;
    while (same < before.length && before[same] === after[same]) same += 1;
    outside += before.length - same;
  }
  return outside;
}

function turn(stage: Stage, model: string, ...options: string[]): Subject {
  return stage.ours("run", "Hello", "--model", `bench:${model}`, ...options);
}

function streamRow(name: string, brief: string, options: { formats: string[]; aim: string }): Row {
  const count = 200_000;
  return {
    name,
    brief,
    runs: 3,
    async pair(stage, oursFirst) {
      const model = `stream-${count}`;
      const subjects = { ours: turn(stage, model, ...options.formats), floor: stage.floor(model), oursFirst };
      const runs = await both(stage, subjects);
      complete(runs.floor);
      complete(runs.ours);
      return { "cpu a token": pairOf(runs, perToken(count)), memory: pairOf(runs, memory) };
    },
    figures: { "cpu a token": { unit: "µs", aim: options.aim, digits: 2 }, memory: { unit: "MiB", aim: "flat" } },
  };
}

function roundsRow(count: number, more: Partial<Row>): Row {
  return {
    name: `rounds-${count}`,
    brief: `${count} calls of Read one after another, then an answer`,
    runs: 3,
    async pair(stage, oursFirst) {
      const model = `rounds-${count}`;
      const ours = turn(stage, model, "--max-turns", "5000");
      const runs = await both(stage, { ours, floor: stage.floor(model), oursFirst });
      complete(runs.ours);
      if (runs.ours.log.length !== count + 1) throw new Error(`${runs.ours.log.length} requests for ${count} rounds`);
      return {
        "a round": pairOf(runs, (run) => roundTime(run.log)),
        "bytes outside the prefix": pairOf(runs, (run) => bytesOutsidePrefix(run.log.map(({ body }) => body))),
        memory: pairOf(runs, memory),
      };
    },
    figures: {
      "a round": { unit: "ms", aim: "< 10 ms", digits: 2 },
      "bytes outside the prefix": { unit: "B", aim: "0" },
      memory: { unit: "MiB", aim: "flat" },
    },
    ...more,
  };
}

const version: Row = {
  name: "version",
  brief: "--version, against an empty program",
  runs: 11,
  async pair(stage, oursFirst) {
    const runs = await both(stage, { ours: stage.ours("--version"), floor: stage.hello, oursFirst });
    return { wall: pairOf(runs, (run) => run.wallMs), cpu: pairOf(runs, cpu), memory: pairOf(runs, memory) };
  },
  figures: {
    wall: { unit: "ms", aim: "" },
    cpu: { unit: "ms", aim: "≤ 1.5 ×" },
    memory: { unit: "MiB", aim: "" },
  },
};

const short: Row = {
  name: "short",
  brief: "one turn with a short answer",
  runs: 11,
  async pair(stage, oursFirst) {
    const runs = await both(stage, { ours: turn(stage, "short"), floor: stage.floor("short"), oursFirst });
    complete(runs.ours);
    return {
      "first request": pairOf(runs, firstRequest),
      cpu: pairOf(runs, cpu),
      memory: pairOf(runs, memory),
      "request bytes": { ours: new TextEncoder().encode(runs.ours.log[0]?.body).length, floor: null },
      requests: { ours: runs.ours.log.length, floor: null },
    };
  },
  figures: {
    "first request": { unit: "ms", aim: "≤ 1.8 ×" },
    cpu: { unit: "ms", aim: "≤ 2 ×" },
    memory: { unit: "MiB", aim: "≤ 1.5 ×" },
    "request bytes": { unit: "B", aim: "≤ 4096" },
    requests: { unit: "", aim: "1" },
  },
};

/** Milliseconds after which a directory that stays as it is need not be listed again. */
const AT_REST_MS = 61_000;

async function makeTree(root: string, files: number): Promise<void> {
  const text = "function handler(request) {\n  return respond(request.body);\n}\n".repeat(12);
  const tree = `${root}/tree`;
  await Deno.remove(tree, { recursive: true }).catch(() => {});
  for (let folder = 0; folder < files / 200; folder++) {
    const path = `${tree}/d${folder}`;
    await Deno.mkdir(path, { recursive: true });
    const writes = Array.from(
      { length: 200 },
      (_, at) =>
        Deno.writeTextFile(`${path}/f${at}.js`, folder % 10 === 0 && at === 7 ? `${text}needle${folder}\n` : text),
    );
    await Promise.all(writes);
  }
}

async function systemGrep(project: string): Promise<number | null> {
  const argv = ["rg", "--no-config", "-n", "needle[0-9]+", project];
  const started = performance.now();
  try {
    const { success } = await new Deno.Command("rg", { args: argv.slice(1), stdout: "null" }).output();
    return success ? performance.now() - started : null;
  } catch {
    return null;
  }
}

/** Two calls of Grep in one session; `lone`: where there is no ripgrep to help. */
function grepRow(files: number, { lone, ...more }: Partial<Row> & { lone: boolean }): Row {
  const aim = lone ? "≤ 6 × rg" : "≤ 1.3 × rg";
  return {
    name: lone ? "grep-lone" : `grep-${files / 1000}k`,
    brief: `the tool Grep over ${files} files${lone ? " without rg" : ""}, against rg (when there is one)`,
    runs: 5,
    async prepare(stage) {
      await makeTree(stage.project, files);
      if (more.slow) await new Promise((resolve) => setTimeout(resolve, AT_REST_MS));
    },
    async pair(stage, oursFirst) {
      const { name, argv } = turn(stage, "grep");
      const ours = { name, argv: lone ? ["/usr/bin/env", "PATH=/nowhere", ...argv] : argv };
      const before = oursFirst ? null : await systemGrep(stage.project);
      const { log } = complete(await stage.run(ours));
      const floor = before ?? await systemGrep(stage.project);
      return {
        "first call": { ours: roundTime(log.slice(0, 2)), floor },
        "second call": { ours: roundTime(log.slice(1)), floor },
      };
    },
    figures: { "first call": { unit: "ms", aim }, "second call": { unit: "ms", aim } },
    ...more,
  };
}

/** All rows, in the order they are run. */
export const ROWS: readonly Row[] = [
  version,
  short,
  streamRow("stream", "200,000 streamed tokens as text", { formats: [], aim: "≤ 1.5 ×" }),
  streamRow("stream-json", "the same as stream-json with partial messages", {
    formats: ["--output-format", "stream-json", "--include-partial-messages", "--verbose"],
    aim: "≤ 3 ×",
  }),
  roundsRow(30, {}),
  roundsRow(1000, { slow: true, runs: 1 }),
  grepRow(20_000, { lone: false }),
  grepRow(100_000, { lone: false, slow: true }),
  grepRow(100_000, { lone: true, slow: true }),
];
