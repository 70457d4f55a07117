/**
 * `deno task bundle`: writes `dist/agentcli.js`, the one file that is shipped. Made twice and compared, so that what is
 * published can be made again by anyone. Prints the size. Exit 1 when the text differs or names this machine.
 */
import { asciiOnly, firstLeak, withoutCachePaths } from "./bundle_text.ts";

const root = decodeURIComponent(new URL("..", import.meta.url).pathname);
const output = `${root}dist/agentcli.js`;

async function deno(args: string[]): Promise<string> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args,
    cwd: root,
    env: { DENO_NO_UPDATE_CHECK: "1", NO_COLOR: "1" },
  }).output();
  if (code !== 0) {
    console.error(new TextDecoder().decode(stderr));
    Deno.exit(1);
  }
  return new TextDecoder().decode(stdout);
}

async function made(): Promise<string> {
  const folder = await Deno.makeTempDir();
  try {
    const file = `${folder}/bundle.js`;
    await deno(["bundle", "--quiet", "--platform", "browser", "--output", file, "main.ts"]);
    return asciiOnly(withoutCachePaths(await Deno.readTextFile(file)));
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const [first, second] = [await made(), await made()];
if (first !== second) {
  console.error("two bundles of the same sources differ");
  Deno.exit(1);
}
const { denoDir } = JSON.parse(await deno(["info", "--json"]));
const home = Deno.env.get("HOME");
const places = [root, denoDir, home && home !== "/" ? `${home}/` : ""];
const leak = firstLeak(first, [...places, "registry.npmjs.org", Deno.env.get("NPM_CONFIG_REGISTRY") ?? ""]);
if (leak) {
  console.error(`the bundle names this machine or a registry (${leak.word}) in line ${leak.line}`);
  Deno.exit(1);
}
await Deno.mkdir(`${root}dist`, { recursive: true });
await Deno.writeTextFile(output, first);
const bytes = new TextEncoder().encode(first);
const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
console.log(`dist/agentcli.js  ${(bytes.length / 1024).toFixed(0)} KiB  sha256 ${digest}`);
