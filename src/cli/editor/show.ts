/** Shows one artifact: what agentcli put where, or what stands in the files of others. */
import { didYouMean } from "../../config/suggest.ts";
import { inspect } from "../../editor/resources/inspect.ts";
import { lookAt } from "../../editor/plan/disk.ts";
import { type InstalledPiece, readLedger } from "../../editor/plan/ledger.ts";
import { hideKeys, hideKeysOf } from "../../editor/resources/servers.ts";
import { AgentcliError } from "../../errors.ts";
import { clean } from "../../terminal/clean.ts";
import { jsonText } from "../../terminal/json_text.ts";
import type { Invocation } from "../verb.ts";
import { openScene } from "./scene.ts";
import type { PLACE_OPTIONS } from "./verb.ts";

/** What is shown of a file that is protected. */
const PROTECTED = "(protected)";

/** Throws `usage` when there is no such artifact. */
export async function run({ options, arguments: words, context }: Invocation<typeof PLACE_OPTIONS>): Promise<void> {
  const [word = ""] = words;
  const scene = await openScene(options, context);
  const ledger = await readLedger(scene.home);
  const named = (one: { kind: string; name: string }) => `${one.kind}:${one.name}` === word || one.name === word;
  const ours = ledger.artifacts.filter((one) => scene.isHere(one) && named(one));
  const all = inspect(scene.dialect, scene.around, ledger).found;
  const others = all.filter((one) => !one.ours && named(one));
  if (ours.length + others.length === 0) {
    const names = [...ledger.artifacts.filter(scene.isHere), ...all].flatMap((
      { kind, name },
    ) => [name, `${kind}:${name}`]);
    throw new AgentcliError("usage", `there is no artifact "${word}" here`, {
      hint: didYouMean(word, names) ?? "see: agentcli editor list",
    });
  }
  const { covers } = await scene.protection();
  const { io, globals } = context;
  if (globals.json) {
    const shownOurs = ours.map(({ pieces, ...head }) => ({
      ...head,
      pieces: pieces.map((piece) => shownPiece(piece, covers)),
    }));
    const shownOthers = others.map(({ entry, ...one }) =>
      entry === undefined || covers(one.path) ? one : { ...one, entry: hideKeysOf(entry) }
    );
    return await io.stdout.write(jsonText({ ours: shownOurs, others: shownOthers }));
  }
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
      const text = covers(piece.path)
        ? PROTECTED
        : piece.kind === "file"
        ? lookAt(piece.path) ?? "(no text)"
        : piece.kind === "section"
        ? piece.content
        : JSON.stringify(hideKeysOf(piece.value), null, 2);
      await io.stdout.write(clean(text.trimEnd(), { multiline: true }) + "\n");
    }
  }
  for (const { kind, name, scope, path, entry } of others) {
    await io.stdout.write(`${kind}:${clean(name)}, ${scope}, written by others: ${clean(scene.shown(path))}\n`);
    const text = covers(path)
      ? PROTECTED
      : entry === undefined
      ? hideKeys(lookAt(path) ?? "(no text)")
      : JSON.stringify(hideKeysOf(entry), null, 2);
    await io.stdout.write(clean(text.trimEnd(), { multiline: true }) + "\n");
  }
}

/** A piece for `--json`: what of others it stands for is kept in the ledger, and told nobody; nor is what is protected. */
function shownPiece({ piece, written, taken }: InstalledPiece, covers: (path: string) => boolean) {
  const { kind, path } = piece;
  const shown = covers(path)
    ? { kind, path }
    : piece.kind === "item" || piece.kind === "member"
    ? { ...piece, value: hideKeysOf(piece.value) }
    : piece;
  return { piece: shown, written, ...(taken === undefined ? {} : { taken }) };
}
