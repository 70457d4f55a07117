/**
 * `deno run -A scripts/record_eager.ts`: writes `scripts/eager_functions.txt`, the functions that a turn calls until its
 * request is sent. The bundle has them compiled ahead (see `bundle_parts.ts`). To be run again when the way to the first request has changed much; an
 * old list costs time, never correctness.
 */
import { openStage } from "./bench/stage.ts";
import { buildBundle } from "./bundle_build.ts";
import { functionsAt } from "./bundle_parts.ts";

/** Called when the request is on its way. What is called later only makes the code cache larger, for every start. */
const SENT = "readResponseHead";

/** Where V8 says which functions it compiled when they were first called, as places of the script. */
function compiledPlaces(log: string, program: string): { at: number; end: number }[] {
  const lines = log.split("\n").map((line) => line.split(","));
  const script = lines.find(([kind, , name]) => kind === "script-details" && name?.endsWith(program))?.[1];
  const called = lines.filter(([kind, event, id]) => kind === "function" && event === "interpreter" && id === script);
  const sent = called.findIndex((fields) => fields[7] === SENT);
  if (sent < 0) throw new Error(`${SENT} was not called`);
  return called.slice(0, sent).map(([, , , start, end]) => ({ at: Number(start), end: Number(end) }));
}

async function record(): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    const program = `${folder}/agentcli.js`;
    // Without any compiled ahead: only what is compiled late is told of.
    const bundle = await buildBundle(new Set());
    await Deno.writeTextFile(program, bundle.text);
    await using stage = await openStage(program);
    const turn = stage.ours("run", "Hello", "--model", "bench:short");
    // The first turn fills the caches; the functions that do so are not those of every turn.
    await stage.run(turn);
    const log = `${folder}/v8.log`;
    const flags = `--v8-flags=--log-function-events,--logfile=${log},--no-logfile-per-isolate`;
    await stage.run({ ...turn, argv: turn.argv.toSpliced(2, 0, flags) });
    const places = compiledPlaces(await Deno.readTextFile(log), program);
    const names = [...new Set(functionsAt(bundle, places))].sort();
    await Deno.writeTextFile(new URL("eager_functions.txt", import.meta.url), `${names.join("\n")}\n`);
    console.log(`${names.length} functions`);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

if (import.meta.main) await record();
