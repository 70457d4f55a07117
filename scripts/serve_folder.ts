/**
 * Serves the files of a folder on a free port of 127.0.0.1 and prints the address, for `.ci/run`.
 * Usage: deno run -A scripts/serve_folder.ts <folder>
 */
import { serveFolder } from "./release_server.ts";

const server = serveFolder(Deno.args[0] ?? ".");
console.log(`http://127.0.0.1:${server.addr.port}/`);
