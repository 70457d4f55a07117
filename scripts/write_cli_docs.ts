/** `deno task docs`: writes `docs/cli.md`. With `--check` it writes nothing and exits 1 when the page is not up to date. */
import { cliDocs } from "./cli_docs.ts";

const path = new URL("../docs/cli.md", import.meta.url);
const before = await Deno.readTextFile(path).catch(() => "");
const after = await cliDocs();
if (!Deno.args.includes("--check")) {
  await Deno.mkdir(new URL(".", path), { recursive: true });
  await Deno.writeTextFile(path, after);
} else if (before !== after) {
  console.error("docs/cli.md is not what the declarations say: run `deno task docs`");
  Deno.exit(1);
}
