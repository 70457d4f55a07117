/**
 * Serves the files of a folder on a free port of 127.0.0.1 and prints the address, for `.ci/run`.
 * Usage: deno run -A scripts/serve_folder.ts [FOLDER]        default: the one it is started in
 */
import { serveFolder } from "./release_server.ts";
import { perform, readLine } from "./script.ts";

await perform(import.meta.url, (args) => {
  const { words: [folder = "."] } = readLine(args, {}, { words: 1 });
  console.log(`http://127.0.0.1:${serveFolder(folder).addr.port}/`);
});
