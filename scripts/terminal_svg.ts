/** Draws what tmux captured of a terminal as an animated SVG, light or dark as the reader's system is. */

/** One picture of the terminal. */
export interface Frame {
  /** How long it is shown. */
  seconds: number;
  /** The screen with SGR sequences, as `tmux capture-pane -e` writes it. */
  screen: string;
}

/** Some text of one look. */
export interface Run {
  /** The first column, from 0. */
  column: number;
  text: string;
  /** Names of classes: `bold`, `dim`, `reverse`, `c1` to `c7`. */
  looks: readonly string[];
}

const CELL = { width: 8.4, height: 18 };
const MARGIN = 14;

/** Looks of SGR codes. */
const LOOKS: Readonly<Record<string, string>> = {
  "1": "bold",
  "2": "dim",
  "3": "italic",
  "4": "underline",
  "7": "reverse",
};
const ENDS: Readonly<Record<string, readonly string[]>> = {
  "22": ["bold", "dim"],
  "23": ["italic"],
  "24": ["underline"],
  "27": ["reverse"],
};

function lookOf(code: string): string | undefined {
  return LOOKS[code] ?? (/^3[0-7]$/.test(code) ? `c${code[1]}` : undefined);
}

function applied(looks: ReadonlySet<string>, codes: string): Set<string> {
  const next = new Set(looks);
  for (const code of codes.split(";")) {
    const look = lookOf(code);
    const ended = ENDS[code] ?? [];
    if (code === "" || code === "0") next.clear();
    for (const old of next) {
      if (ended.includes(old) || ((code === "39" || look?.startsWith("c")) && /^c\d/.test(old))) next.delete(old);
    }
    if (look !== undefined) next.add(look);
  }
  return next;
}

/** Reads the lines of a screen; looks go on from line to line. Blank text without a background is left out. */
export function runsOf(screen: string): Run[][] {
  let looks = new Set<string>();
  return screen.replace(/\n+$/, "").split("\n").map((line) => {
    const runs: Run[] = [];
    let column = 0;
    // deno-lint-ignore no-control-regex -- the sequences of a terminal
    for (const [, codes, text = ""] of line.matchAll(/\x1b\[([\d;]*)m|([^\x1b]+)/g)) {
      if (codes !== undefined) looks = applied(looks, codes);
      if (text.trim() !== "" || (text !== "" && looks.has("reverse"))) runs.push({ column, text, looks: [...looks] });
      column += [...text].length;
    }
    return runs;
  });
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** Rounded, so that the same picture is the same text everywhere. */
function fixed(value: number): string {
  return String(Math.round(value * 10) / 10);
}

function drawRun({ column, text, looks }: Run, line: number): string {
  const [x, y] = [MARGIN + column * CELL.width, MARGIN + line * CELL.height];
  const width = fixed([...text].length * CELL.width);
  const back = looks.includes("reverse")
    ? `<rect class="fg" x="${fixed(x)}" y="${fixed(y)}" width="${width}" height="${CELL.height}"/>`
    : "";
  // Spaces in front would be lost.
  const indent = text.length - text.trimStart().length;
  const shown = text.trim();
  if (shown === "") return back;
  const names = looks.length === 0 ? "" : ` class="${looks.join(" ")}"`;
  const length = fixed([...shown].length * CELL.width);
  return `${back}<text${names} x="${fixed(x + indent * CELL.width)}" y="${fixed(y + 13)}" textLength="${length}">${
    escaped(shown)
  }</text>`;
}

/** Keyframes that show frame number `at` in its part of the whole time. */
function timing(frames: readonly Frame[], at: number): string {
  const whole = frames.reduce((sum, { seconds }) => sum + seconds, 0);
  const until = (end: number) => frames.slice(0, end).reduce((sum, { seconds }) => sum + seconds, 0) / whole * 100;
  const [from, to] = [fixed(until(at)), fixed(until(at + 1))];
  const rest = at === frames.length - 1 ? "" : `${to}%,to{visibility:hidden}`;
  const hidden = at === 0 ? "" : "0%{visibility:hidden}";
  return `@keyframes f${at}{${hidden}${from}%{visibility:visible}${rest}}` +
    `.f${at}{animation:f${at} ${fixed(whole)}s step-end infinite}`;
}

const STYLE = `text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,monospace;fill:#24292f;white-space:pre}
.bg{fill:#f6f8fa;stroke:#d0d7de}.fg{fill:#24292f}
.bold{font-weight:bold}.dim{fill:#6e7781}.italic{font-style:italic}.underline{text-decoration:underline}
.c1{fill:#b31d28}.c2{fill:#116329}.c3{fill:#7d4e00}.c4{fill:#0550ae}.c5{fill:#8250df}.c6{fill:#0a5f6b}
.reverse{fill:#f6f8fa}
@media(prefers-color-scheme:dark){text{fill:#d1d7e0}.bg{fill:#151b23;stroke:#3d444d}.fg{fill:#d1d7e0}
.dim{fill:#9198a1}.c1{fill:#ff8a80}.c2{fill:#7ee787}.c3{fill:#e3b341}.c4{fill:#79c0ff}.c5{fill:#d2a8ff}.c6{fill:#76e3ea}
.reverse{fill:#151b23}}
`;

/**
 * Draws the frames below the command that was typed. They begin anew after the last; a reader who wants no motion sees
 * the last alone.
 */
export function svgOf(
  frames: readonly Frame[],
  { columns, rows, command }: { columns: number; rows: number; command: string },
): string {
  const [width, height] = [fixed(columns * CELL.width + 2 * MARGIN), fixed((rows + 1) * CELL.height + 2 * MARGIN)];
  const first: Run[] = [{ column: 0, text: `$ ${command}`, looks: ["dim"] }];
  const groups = frames.map(({ screen }, at) =>
    `<g class="f${at}"${at === frames.length - 1 ? "" : ' visibility="hidden"'}>\n${
      runsOf(screen).flatMap((runs, line) => runs.map((run) => drawRun(run, line + 1))).join("\n")
    }\n</g>`
  );
  const motion = frames.map((_, at) => timing(frames, at)).join("\n");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" role="img">
<title>${escaped(command)}</title>
<style>
${STYLE}@media(prefers-reduced-motion:no-preference){
${motion}
}
</style>
<rect class="bg" x="0.5" y="0.5" width="${Number(width) - 1}" height="${Number(height) - 1}" rx="8"/>
${first.map((run) => drawRun(run, 0)).join("")}
${groups.join("\n")}
</svg>
`;
}
