/** Commands as a page or a chat shows them, as the command that is meant. */

/** Characters of HTML that no shell means outside of quotes. */
const ENTITY = /&(amp|lt|gt|quot|#39|apos);/g;
const CHARACTERS: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", apos: "'" };

/** Returns the command without a fence around it, without prompts before its lines, and with the characters of entities. */
export function plainCommand(command: string): string {
  const fence = /^\s*```(?:\w+)?[ \t]*\n([^]*?)\n?```\s*$/.exec(command)?.[1];
  let plain = fence === undefined || fence.includes("```") ? command : fence;
  // No program is called `$`: what begins with it is a transcript, in which lines without it are output.
  if (/^\s*\$ \S/.test(plain)) {
    const lines = plain.trim().split("\n");
    if (lines.every((line) => /^\s*\$ /.test(line))) {
      plain = lines.map((line) => line.replace(/^\s*\$ /, "")).join("\n");
    } else if (!lines.slice(1).some((line) => /^\s*\$ /.test(line))) plain = plain.trim().slice(2);
  }
  const unquoted = plain.replace(/'[^']*'|"(?:\\.|[^"\\])*"/gs, "");
  return /&(?:amp|lt|gt);/.test(unquoted) ? decodeEntities(plain) : plain;
}

/** Returns a text with the characters that its entities of HTML stand for. */
export function decodeEntities(text: string): string {
  return text.replace(ENTITY, (whole, name) => CHARACTERS[name] ?? whole);
}
