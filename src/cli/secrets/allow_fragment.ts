/** Lets some lines of a protected file leave: the leak scanner passes over them from then on. */
import { readRegularFile } from "../../boundary/reader.ts";
import { unitsOfText } from "../../boundary/scan/allowed_fragments.ts";
import { AgentcliError } from "../../errors.ts";
import { resolve } from "../../platform/path.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import { confirm } from "../../terminal/prompt.ts";
import { notice } from "../say.ts";
import type { Invocation } from "../verb.ts";
import { openScene } from "./scene.ts";

/** Most lines that one call allows: a whole file is taken out of the marker instead. */
const LINE_LIMIT = 100;

/** Exit 1 when the person at the terminal said no. The lines are kept as salted digests, and never printed. */
export async function run({ arguments: words, context }: Invocation): Promise<number> {
  const { io, globals } = context;
  const { cwd, protection, record } = await openScene(context, { create: true });
  const { path, first, last } = placeIn(words[0] ?? "");
  const full = resolve(cwd, path);
  const rule = protection.rule(full);
  if (rule === null || rule.tier !== "no-cloud" || record === null) {
    throw new AgentcliError("usage", `${clean(path)} is not a file that is protected as no-cloud`, {
      hint: "agentcli secrets list names those that are",
    });
  }
  const read = readRegularFile(full, { display: path });
  if ("refused" in read) throw new AgentcliError("usage", clean(read.message));
  const lines = new TextDecoder().decode(read.bytes).split(/\r\n|\n|\r/);
  if (last > lines.length) throw new AgentcliError("usage", `${clean(path)} has ${lines.length} lines`);
  const units = unitsOfText(new TextEncoder().encode(lines.slice(first - 1, last).join("\n")));
  const named = first === last ? `line ${first}` : `lines ${first} to ${last}`;
  if (!globals.yes && !await confirm(io, `Let ${named} of ${clean(path)} go to remote models?`)) {
    await notice(context, "nothing changed");
    return 1;
  }
  await record.allow(units);
  if (globals.json) await io.stdout.write(jsonText({ path: full, first_line: first, last_line: last, allowed: true }));
  else await io.stdout.write(`${named} of ${clean(path)} may leave; the file stays protected\n`);
  return 0;
}

function placeIn(word: string): { path: string; first: number; last: number } {
  const [, path = "", from = "", to = from] = /^(.+):(\d{1,7})(?:-(\d{1,7}))?$/.exec(word) ?? [];
  const [first, last] = [Number(from), Number(to)];
  if (path === "" || first < 1 || last < first || last - first >= LINE_LIMIT) {
    throw new AgentcliError("usage", `${clean(word)} does not name lines of a file`, {
      hint: `FILE:LINE or FILE:FIRST-LAST, at most ${LINE_LIMIT} lines: agentcli secrets allow-fragment .env:2`,
    });
  }
  return { path, first, last };
}
