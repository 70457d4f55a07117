/**
 * `deno task bundle`: writes `dist/agentcli.js`, the one file that is shipped. Made twice and compared, so that what is
 * published can be rebuilt by anyone. Prints the size. Exit 1 when the text differs or names this machine.
 */
import { buildBundle, deno } from "./build.ts";
import { firstLeak } from "./text.ts";

const root = decodeURIComponent(new URL("../..", import.meta.url).pathname);
const output = `${root}dist/agentcli.js`;

const [first, second] = [await buildBundle(), await buildBundle()];
if (first !== second) {
  console.error("two bundles of the same sources differ");
  Deno.exit(1);
}
const { denoDir } = JSON.parse(await deno(["info", "--json"]));
const home = Deno.env.get("HOME");
const places = [root, denoDir, home && home !== "/" ? `${home}/` : ""];
// The bundler writes paths of the cache relative to the sources, and the cache names the registry in them.
const cached = `${denoDir.replace(/^\//, "")}/npm/`;
const leak = firstLeak(first, [...places, cached, Deno.env.get("NPM_CONFIG_REGISTRY") ?? ""]);
if (leak) {
  console.error(`the bundle names this machine or a registry (${leak.word}) in line ${leak.line}`);
  Deno.exit(1);
}
await Deno.mkdir(`${root}dist`, { recursive: true });
await Deno.writeTextFile(output, first);
// Reading the whole file is part of any start: a cut in the wrong place does not get past this.
await deno(["run", "--quiet", "--no-config", "-A", output, "--version"]);
console.log(`dist/agentcli.js  ${(new TextEncoder().encode(first).length / 1024).toFixed(0)} KiB`);
