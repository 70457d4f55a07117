/** The commands of a Markdown page: its fenced blocks in `sh`, and the lines after `$ ` of those in `text`. */

/** A fenced block. */
export interface Block {
  /** Of the fence, from 1. */
  line: number;
  language: string;
  text: string;
}

/** All fenced blocks, also those in lists, without their indentation. */
export function blocksOf(page: string): Block[] {
  const blocks: Block[] = [];
  let open: { line: number; indent: string; language: string; lines: string[] } | null = null;
  for (const [at, line] of page.split("\n").entries()) {
    const fence = /^(\s*)```(\w*)\s*$/.exec(line);
    if (open === null) {
      if (fence !== null) open = { line: at + 1, indent: fence[1] ?? "", language: fence[2] ?? "", lines: [] };
    } else if (fence !== null) {
      blocks.push({ line: open.line, language: open.language, text: open.lines.join("\n") });
      open = null;
    } else {
      open.lines.push(line.startsWith(open.indent) ? line.slice(open.indent.length) : line);
    }
  }
  return blocks;
}

/** The commands of a block, each with the lines that go on with it. */
export function commandsOf(text: string): string[] {
  return text.split(/(?<!\\|\|)\n/).filter((command) => !/^\s*(?:#|$)/.test(command));
}

/** A command that a page shows with what it prints. */
export interface Shown {
  command: string;
  output: string;
}

/** What a block in `text` shows of a session at a prompt `$ `; empty for other texts. */
export function shownSession(text: string): Shown[] {
  return text.split(/^\$ /m).slice(1).map((part) => {
    const end = part.indexOf("\n");
    return { command: part.slice(0, end), output: part.slice(end + 1) };
  });
}
