/**
 * `deno task bench`: the figures of the program beside those of a bare client, both against one mock server, in turns.
 * Compare ratios, not milliseconds: the machine's mood is in both. Takes about two minutes.
 *
 * Options: `--rows a,b` (default: all that are not slow; `--list` names them), `--runs n`, `--json`,
 * `--program <file>` (default `dist/agentcli.js`; a bundle or a binary). `--peers` compares with the other agent CLIs
 * on PATH that it knows how to start (opencode, codex, qwen, pi, cn) in place of the rows, and with `--binary
 * <file>` with another form of ours; it needs bubblewrap.
 */
import { runBeside } from "./beside.ts";
import { type Pair, type Row, ROWS } from "./rows.ts";
import { openStage, type Stage } from "./stage.ts";
import { perform, readLine, UsageError } from "../script.ts";

/** A figure over all pairs of runs. */
interface Result {
  row: string;
  figure: string;
  unit: string;
  ours: number;
  floor: number | null;
  /** Median of the ratios of the pairs; null without a floor. */
  ratio: number | null;
  aim: string;
  runs: number;
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
}

function resultsOf(row: Row, pairs: readonly Record<string, Pair>[]): Result[] {
  return Object.entries(row.figures).map(([figure, { unit, aim }]) => {
    const taken = pairs.flatMap((pair) => pair[figure] ?? []);
    const beside = taken.flatMap(({ ours, floor }) => floor === null ? [] : [{ ours, floor }]);
    return {
      row: row.name,
      figure,
      unit,
      ours: median(taken.map(({ ours }) => ours)),
      floor: beside.length > 0 ? median(beside.map(({ floor }) => floor)) : null,
      ratio: beside.length > 0 && beside.every(({ floor }) => floor > 0)
        ? median(beside.map(({ ours, floor }) => ours / floor))
        : null,
      aim,
      runs: taken.length,
    };
  });
}

async function runRow(stage: Stage, row: Row, runs: number): Promise<Result[]> {
  await row.prepare?.(stage);
  // The first pair warms the caches of disk and compiler; it does not count.
  await row.pair(stage, true);
  const pairs: Record<string, Pair>[] = [];
  for (let at = 0; at < runs; at++) pairs.push(await row.pair(stage, at % 2 === 0));
  return resultsOf(row, pairs);
}

function line(cells: readonly string[]): string {
  const widths = [13, 26, 13, 13, 9, 18];
  return cells.map((cell, at) => at < 2 ? cell.padEnd(widths[at] ?? 0) : cell.padStart(widths[at] ?? 0)).join("");
}

function shown(value: number | null, result: Result): string {
  if (value === null || Number.isNaN(value)) return "-";
  const digits = ROWS.find(({ name }) => name === result.row)?.figures[result.figure]?.digits ?? 1;
  return `${value.toFixed(result.unit === "B" || result.unit === "" ? 0 : digits)} ${result.unit}`.trim();
}

function show(result: Result): string {
  const { row, figure, ours, floor, ratio, aim } = result;
  return line([
    row,
    figure,
    shown(ours, result),
    shown(floor, result),
    ratio === null ? "-" : `${ratio.toFixed(2)} ×`,
    aim,
  ]);
}

function rowsNamed(names: string | undefined): readonly Row[] {
  if (names === undefined) return ROWS.filter(({ slow }) => !slow);
  return names.split(",").map((name) => {
    const row = ROWS.find((one) => one.name === name);
    if (row === undefined) throw new UsageError(`no row ${name}; there are: ${ROWS.map((one) => one.name).join(", ")}`);
    return row;
  });
}

/** A number of runs; undefined where none is given. */
function runsOf(word: string | undefined): number | undefined {
  if (word === undefined) return undefined;
  if (/^[1-9]\d{0,3}$/.test(word)) return Number(word);
  throw new UsageError(`--runs needs a number from 1: ${word}`);
}

async function programAt(path: string): Promise<string> {
  return await Deno.realPath(path).catch(() => {
    throw new UsageError(`there is no ${path}; deno task bundle makes dist/agentcli.js`);
  });
}

async function bench(args: readonly string[]): Promise<void> {
  const { flags, values } = readLine(args, {
    list: "flag",
    json: "flag",
    peers: "flag",
    rows: "value",
    runs: "value",
    program: "value",
    binary: "value",
  });
  if (flags.has("list")) {
    for (const { name, brief, slow } of ROWS) console.log(`${name.padEnd(14)}${brief}${slow ? " (slow)" : ""}`);
    return;
  }
  const rows = rowsNamed(values.rows?.[0]);
  const given = runsOf(values.runs?.[0]);
  const bundle = decodeURIComponent(new URL("../../dist/agentcli.js", import.meta.url).pathname);
  const program = await programAt(values.program?.[0] ?? bundle);
  if (flags.has("peers")) {
    const binary = values.binary?.[0];
    return await runBeside({ program, binary: binary && await programAt(binary), runs: given ?? 5 });
  }
  const json = flags.has("json");
  await using stage = await openStage(program);
  const all: Result[] = [];
  if (!json) console.log(line(["row", "figure", "ours", "floor", "ratio", "aim"]));
  for (const row of rows) {
    const results = await runRow(stage, row, given ?? row.runs);
    all.push(...results);
    if (!json) { for (const result of results) console.log(show(result)); }
  }
  if (json) console.log(JSON.stringify({ deno: Deno.version.deno, program: "agentcli", results: all }, null, 2));
}

if (import.meta.main) await perform(import.meta.url, bench);
