/** `deno task docs`: writes `docs/cli.md`. With `--check` it writes nothing and exits 1 when the page is not up to date. */
import { cliDocs } from "./cli_docs.ts";
import { perform, readLine, ScriptError } from "./script.ts";

await perform(import.meta.url, async (args) => {
  const checks = readLine(args, { check: "flag" }).flags.has("check");
  const path = new URL("../docs/cli.md", import.meta.url);
  const before = await Deno.readTextFile(path).catch(() => "");
  const after = await cliDocs();
  if (!checks) {
    await Deno.mkdir(new URL(".", path), { recursive: true });
    await Deno.writeTextFile(path, after);
  } else if (before !== after) {
    throw new ScriptError("docs/cli.md is not what the declarations say: run `deno task docs`");
  }
});
