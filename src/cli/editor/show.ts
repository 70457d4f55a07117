/** Shows one artifact: what agentcli put where, or what stands in the files of others. */
import { inspect } from "../../editor/inspect.ts";
import { lookAt } from "../../editor/disk.ts";
import { readLedger } from "../../editor/ledger.ts";
import { AgentcliError } from "../../errors.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import type { Invocation } from "../verb.ts";
import { openScene } from "./scene.ts";
import type { PLACE_OPTIONS } from "./verb.ts";

/** Throws `usage` when there is no such artifact. */
export async function run({ options, arguments: words, context }: Invocation<typeof PLACE_OPTIONS>): Promise<void> {
  const [word = ""] = words;
  const scene = await openScene(options, context);
  const ledger = await readLedger(scene.home);
  const named = (one: { kind: string; name: string }) => `${one.kind}:${one.name}` === word || one.name === word;
  const ours = ledger.artifacts.filter((one) => scene.isHere(one) && named(one));
  const others = inspect(scene.dialect, scene.around, ledger).found.filter((one) => !one.ours && named(one));
  if (ours.length + others.length === 0) {
    throw new AgentcliError("usage", `there is no artifact "${word}" here`, { hint: "see: agentcli editor list" });
  }
  const { io, globals } = context;
  if (globals.json) return await io.stdout.write(jsonText({ ours, others }));
  for (const one of ours) {
    await io.stdout.write(`${one.kind}:${one.name}, ${one.scope}, written by agentcli (${one.dialect})\n`);
    for (const { piece, written } of one.pieces) {
      const where = piece.kind === "file"
        ? ""
        : piece.kind === "section"
        ? ` (section ${piece.name})`
        : ` (${piece.at.join(".")})`;
      const note = written === null ? ", was there already" : "";
      await io.stdout.write(`\n${clean(scene.shown(piece.path))}${clean(where)}${note}\n`);
      const text = piece.kind === "file"
        ? lookAt(piece.path) ?? "(no text)"
        : piece.kind === "section"
        ? piece.content
        : JSON.stringify(piece.value, null, 2);
      await io.stdout.write(clean(text.trimEnd(), { multiline: true }) + "\n");
    }
  }
  for (const { kind, name, scope, path, entry } of others) {
    await io.stdout.write(`${kind}:${clean(name)}, ${scope}, written by others: ${clean(scene.shown(path))}\n`);
    const text = entry === undefined ? lookAt(path) ?? "(no text)" : JSON.stringify(entry, null, 2);
    await io.stdout.write(clean(text.trimEnd(), { multiline: true }) + "\n");
  }
}
