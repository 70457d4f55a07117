/**
 * Draws docs/peers.svg, the comparison with other programs, from the table of docs/performance.md that the bench prints
 * (`deno task bench --peers`): the figures have one home. `deno task record` writes it; a test compares.
 */
import { perform, readLine, ScriptError } from "./script.ts";

const PAGE = new URL("../docs/performance.md", import.meta.url);
const FILE = new URL("../docs/peers.svg", import.meta.url);

/** The columns of the chart, with their titles. */
const COLUMNS: Readonly<Record<string, string>> = {
  "first request": "time to the first request",
  memory: "memory",
  "request bytes": "first request, in bytes",
};
/** Rows that are not separate programs. */
const LEFT_OUT = ["agentcli, binary", "bare client"];

/** A figure as the table shows it: `139 ms (4.5 ×)`. */
interface Bar {
  program: string;
  value: number;
  shown: string;
}

/** Reads the groups of bars out of the page. Throws {@link ScriptError} where it has no such table. */
export function barsOf(page: string): { title: string; bars: Bar[] }[] {
  const lines = page.split("\n").filter((line) => line.startsWith("|"));
  const head = lines.findIndex((line) => /^\| program/.test(line));
  if (head < 0) throw new ScriptError("docs/performance.md has no table of programs");
  const cells = (line: string) => line.split("|").slice(1, -1).map((cell) => cell.trim());
  const names = cells(lines[head] ?? "");
  const end = lines.findIndex((line, at) => at > head + 1 && cells(line).length !== names.length);
  const rows = lines.slice(head + 2, end < 0 ? undefined : end).map(cells)
    .filter(([program = ""]) => !LEFT_OUT.includes(program));
  return Object.entries(COLUMNS).map(([column, title]) => {
    const at = names.indexOf(column);
    if (at < 0) throw new ScriptError(`the table of docs/performance.md has no column ${column}`);
    const bars = rows.map((row): Bar => {
      const [, shown = "", number = ""] = /^(([\d.]+) \w+)/.exec(row[at] ?? "") ?? [];
      return { program: row[0] ?? "", value: Number(number), shown };
    });
    return { title, bars: bars.sort((one, other) => one.value - other.value) };
  });
}

const WIDTH = 660;
const [LABEL, ROW, GROUP] = [90, 20, 34];

/** Returns the chart: a group a column, the shortest bar first, ours in another color. */
export function chartOf(groups: ReturnType<typeof barsOf>): string {
  const parts: string[] = [];
  let y = 0;
  for (const { title, bars } of groups) {
    const most = Math.max(...bars.map(({ value }) => value));
    parts.push(`<text class="bold" x="0" y="${y + 16}">${title}</text>`);
    y += 24;
    for (const { program, value, shown } of bars) {
      const length = Math.max(2, Math.round(value / most * (WIDTH - LABEL - 90)));
      const ours = program === "agentcli" ? ' class="ours"' : "";
      parts.push(
        `<text x="0" y="${y + 14}">${program}</text><rect${ours} x="${LABEL}" y="${
          y + 3
        }" width="${length}" height="14"/>` +
          `<text x="${LABEL + length + 6}" y="${y + 14}">${shown}</text>`,
      );
      y += ROW;
    }
    y += GROUP - ROW;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" role="img">
<title>agentcli beside other agent programs; shorter is better</title>
<style>text{font:13px system-ui,sans-serif;fill:#24292f}.bold{font-weight:bold}rect{fill:#afb8c1}.ours{fill:#1a7f37}
@media(prefers-color-scheme:dark){text{fill:#d1d7e0}rect{fill:#59636e}.ours{fill:#3fb950}}</style>
${parts.join("\n")}
</svg>
`;
}

async function main(args: readonly string[]): Promise<void> {
  readLine(args, {});
  await Deno.writeTextFile(FILE, chartOf(barsOf(await Deno.readTextFile(PAGE))));
}

if (import.meta.main) await perform(import.meta.url, main);
