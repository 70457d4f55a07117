/**
 * What package managers need of a release, from its folder: `FOLDER/*.tgz`, `FOLDER/*.deb`, `FOLDER/*.rpm`,
 * `FOLDER/packaging`.
 *
 * Usage: deno run -A scripts/packaging/write.ts FOLDER [--address URL] [--version VERSION]
 * FOLDER holds agentcli.js, the binaries and SHA256SUMS. Without --address the recipes that name one are left out, and
 * said.
 */
import { VERSION } from "../../src/cli/version.ts";
import { checkedOutCommit } from "../release/commit.ts";
import { writeSums } from "../release/sums.ts";
import { perform, readLine, ScriptError, UsageError } from "../script.ts";
import { acpRegistry } from "./acp_registry.ts";
import { writeDeb, writeRpm } from "./linux.ts";
import { writeNpmPackage } from "./npm.ts";
import { readSums, recipes } from "./recipes.ts";

const root = decodeURIComponent(new URL("../..", import.meta.url).pathname);

/** Where a release is, and where it can be fetched. */
export interface Packaging {
  version: string;
  /** Empty: not known. */
  address: string;
}

/** Writes everything that the files of the folder allow, and the sums again. */
export async function writePackaging(folder: string, { version, address }: Packaging): Promise<void> {
  const bundle = `${folder}/agentcli.js`;
  await writeNpmPackage(folder, { version, bundle });
  await orSay("no npm package", async () => {
    const args = ["pack", "./npm", "--pack-destination", ".", "--silent"];
    const packed = await new Deno.Command("npm", { args, cwd: folder, stdin: "null" }).output().catch(() => null);
    if (!packed?.success) throw new ScriptError("npm pack did not run");
    console.log(`${folder}/${new TextDecoder().decode(packed.stdout).trim()}`);
  });
  await Deno.remove(`${folder}/npm`, { recursive: true });
  const seconds = Number(Deno.env.get("SOURCE_DATE_EPOCH") ?? (await checkedOutCommit())?.seconds ?? 0);
  for (const [family, writePackage] of [["Debian", writeDeb], ["Fedora", writeRpm]] as const) {
    await orSay(`no package for ${family}`, async () => {
      for (const processor of ["x86_64", "aarch64"] as const) {
        const binary = `${folder}/agentcli-${processor}-unknown-linux-gnu`;
        if (!await Deno.stat(binary).then(() => true, () => false)) continue;
        console.log(`${folder}/${await writePackage(folder, { version, processor, binary, bundle, seconds })}`);
      }
    });
  }
  await Deno.copyFile(`${root}packaging/Containerfile`, `${folder}/Containerfile`);
  const sums = readSums(await writeSums(folder));
  await writeAll(folder, acpRegistry(version));
  await orSay("no recipes of package managers", async () => {
    if (address === "") throw new ScriptError("they name an address: --address");
    await writeAll(folder, recipes({ version, address: address.replace(/\/+$/, ""), sums }));
  });
}

async function writeAll(folder: string, files: ReadonlyMap<string, string>): Promise<void> {
  for (const [path, text] of files) {
    const to = `${folder}/packaging/${path}`;
    await Deno.mkdir(to.slice(0, to.lastIndexOf("/")), { recursive: true });
    await Deno.writeTextFile(to, text);
    console.log(to);
  }
}

/** A release can lack a part that needs a tool, an address or another target; it says so. */
async function orSay(without: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof ScriptError)) throw error;
    console.log(`${without}: ${error.message}`);
  }
}

async function write(args: readonly string[]): Promise<void> {
  const { values, words: [folder = ""] } = readLine(args, { address: "value", version: "value" }, { words: 1 });
  if (folder === "") throw new UsageError("name the folder of a release");
  await writePackaging(folder, { version: values.version?.[0] ?? VERSION, address: values.address?.[0] ?? "" });
}

if (import.meta.main) await perform(import.meta.url, write);
