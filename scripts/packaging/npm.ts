/** The npm package: a launcher for Node, the bundle, and Deno as a dependency. */
import { ScriptError } from "../script.ts";

const root = decodeURIComponent(new URL("../..", import.meta.url).pathname);

/**
 * Writes the package into `folder/npm`, from the bundle of a release. `npm pack` or `npm publish` there does the rest.
 */
export async function writeNpmPackage(folder: string, { version, bundle }: { version: string; bundle: string }) {
  const to = `${folder}/npm`;
  await Deno.remove(to, { recursive: true }).catch(() => {});
  await Deno.mkdir(to, { recursive: true });
  // The bundle is started with the Deno that it is tested with.
  const [, deno] = /^agentcli_deno_version=(\S+)$/m.exec(await Deno.readTextFile(`${root}scripts/with_deno.sh`)) ?? [];
  if (deno === undefined) throw new ScriptError("scripts/with_deno.sh names no version of Deno");
  await Deno.writeTextFile(`${to}/package.json`, `${JSON.stringify(packageJson(version, deno), null, 2)}\n`);
  await Deno.copyFile(bundle, `${to}/agentcli.js`);
  await Deno.copyFile(`${root}LICENSE`, `${to}/LICENSE`);
  for (const name of ["agentcli.cjs", "README.md"]) {
    await Deno.copyFile(`${root}packaging/npm/${name}`, `${to}/${name}`);
  }
  await Deno.chmod(`${to}/agentcli.cjs`, 0o755);
}

function packageJson(version: string, deno: string) {
  return {
    name: "agentcli",
    version,
    description: "The agent CLI for models that run on your own machine",
    license: "MIT",
    keywords: ["agent", "cli", "local", "llm", "ollama", "llama.cpp", "acp", "mcp"],
    bin: { agentcli: "agentcli.cjs" },
    files: ["agentcli.cjs", "agentcli.js"],
    engines: { node: ">=18" },
    dependencies: { deno },
  };
}
