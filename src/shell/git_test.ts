import assert from "node:assert/strict";
import { settingsIn } from "./git.ts";

/**
 * Pieces that files of settings are put together from: where a section begins, a name, what leads to a value, and
 * values.
 */
const HEADS = [
  ...["[core]\n", "[Core] ", " [ core ]\n", "\ufeff[core]\n", "[core] # c \\\n", '[core "Sub"]\n', "[core.sub]"],
  ...['[filter "a]b"]\n', '[filter "a\\"b\\\\c"]\n', '[filter "a[x]"][core]', "# c \\\n[core]\n", "[core]\n;\\\r\n"],
];
const NAMES = ["hooksPath", "a-b", "\tfsmonitor ", "x1\t"];
const VALUES = [
  ...[" ", "\t", "\\\n", "\\\r\n", '"my hooks"', '"a#b;c"', '"', '\\"', "\\\\", "\\t", "#", " ; ", "x", ".githooks"],
  ...["tools/run.sh", "\u00e9", "]", "[core]", "=", "a b", '"\\""', "'q'", "\\n", '""'],
];

/** White space within a value is kept by some versions of git, and by others not. */
function plain(entry: string): string {
  return entry.replace(/\s+/g, " ");
}

Deno.test("every setting that git finds in a file is found", async () => {
  const directory = await Deno.makeTempDir();
  try {
    const file = `${directory}/config`;
    let seed = 7;
    const next = (below: number) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
    let found = 0;
    for (let round = 0; round < 400; round++) {
      const pick = (pieces: readonly string[]) => pieces[next(pieces.length)] ?? "";
      const line = () => `${pick(NAMES)}=${Array.from({ length: 1 + next(5) }, () => pick(VALUES)).join("")}\n`;
      const text = pick(HEADS) + line() + (next(2) === 0 ? line() : "");
      await Deno.writeTextFile(file, text);
      const git = new Deno.Command("git", { args: ["config", "--null", "--list", "-f", file], cwd: directory });
      const { code, stdout } = await git.output();
      if (code !== 0) continue;
      const own = new Set(
        [...settingsIn(text.replace(/^\ufeff/, ""))].map(([key, value]) => plain(`${key}\n${value}`)),
      );
      for (const entry of new TextDecoder().decode(stdout).split("\0")) {
        // A key without a value is a switch.
        if (!entry.includes("\n")) continue;
        found++;
        assert.ok(own.has(plain(entry)), JSON.stringify({ text, entry, own: [...own] }));
      }
    }
    assert.ok(found > 50, `${found} settings`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
});
