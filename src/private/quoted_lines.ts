/** Which lines of a held answer quote what is protected: shown to the user before they let it go. */
import { rememberedAt } from "../boundary/policy/project.ts";
import { ProtectedSet } from "../boundary/policy/protected.ts";
import { HELD_DIRECTORY } from "../boundary/policy/protection_rule.ts";
import { LeakScanner } from "../boundary/scan/leak_scanner.ts";
import type { Io } from "../platform/io.ts";
import { isWithin, join } from "../platform/path.ts";
import { rootOf } from "./facts.ts";

/** Returns which lines of a text, from 0, quote a protected file of the project. */
export async function quotedLines(
  io: Pick<Io, "env" | "os">,
  { cwd, text }: { cwd: string; text: string },
): Promise<ReadonlySet<number>> {
  const root = await rootOf(io, cwd);
  const protection = new ProtectedSet([root], { remembered: await rememberedAt(io, [root]) });
  await protection.settle();
  const held = join(root, HELD_DIRECTORY);
  const files = () => [...protection.files()].filter((path) => !isWithin(held, path));
  const scanner = new LeakScanner({ files, rule: (path) => protection.rule(path) }, { root });
  const quoted = new Set<number>();
  for (const [at, line] of text.split("\n").entries()) {
    if (await scanner.check([line], { once: true, again: at > 0 }) !== null) quoted.add(at);
  }
  return quoted;
}
