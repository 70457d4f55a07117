/**
 * Serves the files of a folder, in the place of the one that releases are downloaded from, and prints the address.
 * Usage: deno run -A scripts/release/serve_folder.ts [FOLDER]        default: the one it is started in
 */
import { perform, readLine } from "../script.ts";

/** Serves the files of one folder, not of those below, on a free port of 127.0.0.1. Other names are 404. */
export function serveFolder(folder: string): Deno.HttpServer<Deno.NetAddr> {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const name = decodeURIComponent(new URL(request.url).pathname.slice(1));
    if (!/^[\w.-]+$/.test(name)) return new Response("not found\n", { status: 404 });
    const type = name.endsWith(".js") ? "text/javascript" : "application/octet-stream";
    try {
      const file = await Deno.open(`${folder}/${name}`);
      return new Response(file.readable, { headers: { "content-type": type } });
    } catch {
      return new Response("not found\n", { status: 404 });
    }
  });
}

if (import.meta.main) {
  await perform(import.meta.url, (args) => {
    const { words: [folder = "."] } = readLine(args, {}, { words: 1 });
    console.log(`http://127.0.0.1:${serveFolder(folder).addr.port}/`);
  });
}
