/** An outline of a file, made from what the Read tool returned: how long it is and what it defines. */

/** Names listed of one file. */
const NAME_LIMIT = 8;

/** What begins a definition, by file ending; the first group is its name. */
const DEFINITIONS: readonly { endings: RegExp; pattern: RegExp; what: string }[] = [
  { endings: /\.(md|markdown|txt|rst)$|(^|\/)[A-Z]+$/, pattern: /^#{1,6}\s+(.+?)\s*#*$/, what: "headings" },
  {
    endings: /\.[cm]?[jt]sx?$/,
    pattern:
      /^(?:export\s+)?(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\*?|class|interface|enum|type|const)\s+([\w$]+)/,
    what: "definitions",
  },
  { endings: /\.py$/, pattern: /^(?:async\s+)?(?:def|class)\s+(\w+)/, what: "definitions" },
  { endings: /\.go$/, pattern: /^(?:func(?:\s+\([^)]*\))?|type)\s+(\w+)/, what: "definitions" },
  {
    endings: /\.rs$/,
    pattern: /^(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?(?:fn|struct|enum|trait|mod)\s+(\w+)/,
    what: "definitions",
  },
  {
    endings: /\.(java|kt|cs|swift|php|rb|c|h|cc|cpp|hpp)$/,
    pattern: /^\s*(?:[\w<>[\]*&]+\s+)*(?:class|interface|struct|enum|module|def|func|fun)\s+(\w+)/,
    what: "definitions",
  },
  { endings: /\.(sh|bash|zsh)$/, pattern: /^(?:function\s+)?(\w[\w-]*)\s*\(\)/, what: "functions" },
  { endings: /\.jsonc?$/, pattern: /^(?: {2}|\t)"([^"]+)"\s*:/, what: "keys" },
  { endings: /\.(ya?ml)$/, pattern: /^([\w.-]+):/, what: "keys" },
  { endings: /\.(toml|ini|cfg)$/, pattern: /^\[+([^\]]+)\]+/, what: "sections" },
];

/** The numbered lines (`12<tab>text`) of a Read result. */
function numberedLines(result: string): { number: number; text: string }[] {
  const lines: { number: number; text: string }[] = [];
  for (const line of result.split("\n")) {
    const found = line.match(/^\s*(\d+)\t(.*)$/);
    if (found) lines.push({ number: Number(found[1]), text: found[2] ?? "" });
  }
  return lines;
}

function namesIn(path: string, lines: readonly string[]): { what: string; names: string[] } | null {
  const kind = DEFINITIONS.find(({ endings }) => endings.test(path));
  if (!kind) return null;
  let fenced = false;
  const names = lines.flatMap((line) => {
    if (kind.what === "headings" && /^(```|~~~)/.test(line)) fenced = !fenced;
    const name = fenced ? undefined : line.match(kind.pattern)?.[1];
    return name === undefined ? [] : [name];
  });
  return names.length > 0 ? { what: kind.what, names: [...new Set(names)] } : null;
}

/** One line about a file: `README.md: 34 lines; headings: Title, Usage`. Null when `result` holds no file text. */
export function outlineOf(path: string, result: string): string | null {
  const lines = numberedLines(result);
  const last = lines.at(-1);
  if (last === undefined) return null;
  const found = namesIn(path, lines.map((line) => line.text));
  const length = `${last.number} ${last.number === 1 ? "line" : "lines"} read`;
  if (found === null) {
    const first = lines.find((line) => line.text.trim() !== "")?.text.trim();
    return first === undefined ? `${path}: ${length}` : `${path}: ${length}; begins with: ${first.slice(0, 80)}`;
  }
  const shown = found.names.slice(0, NAME_LIMIT).join(", ");
  const hidden = found.names.length - NAME_LIMIT;
  return `${path}: ${length}; ${found.what}: ${shown}${hidden > 0 ? `, and ${hidden} more` : ""}`;
}
