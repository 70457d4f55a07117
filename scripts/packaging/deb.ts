/** A package for Debian and its relatives: the binary, completions and the licence. Nothing runs when it is installed. */
import { ScriptError } from "../script.ts";

const root = decodeURIComponent(new URL("../..", import.meta.url).pathname);
const ARCHITECTURES = { x86_64: "amd64", aarch64: "arm64" } as const;

/** The inputs of a package. */
export interface DebSource {
  version: string;
  processor: keyof typeof ARCHITECTURES;
  /** The binary of that processor. */
  binary: string;
  /** The bundle, which is asked for the completions. */
  bundle: string;
  /** The time that stands in the package, in seconds since 1970: the same input gives the same bytes. */
  seconds: number;
}

/** Writes the package into `folder` with `dpkg-deb` and returns its name. Throws {@link ScriptError} without that. */
export async function writeDeb(
  folder: string,
  { version, processor, binary, bundle, seconds }: DebSource,
): Promise<string> {
  const architecture = ARCHITECTURES[processor];
  const name = `agentcli_${version}_${architecture}.deb`;
  const tree = await Deno.makeTempDir();
  try {
    const put = async (path: string, text: string | Uint8Array, mode = 0o644) => {
      const to = `${tree}/${path}`;
      await Deno.mkdir(to.slice(0, to.lastIndexOf("/")), { recursive: true, mode: 0o755 });
      await Deno.writeFile(to, typeof text === "string" ? new TextEncoder().encode(text) : text, { mode });
    };
    await put("usr/bin/agentcli", await Deno.readFile(binary), 0o755);
    await put("usr/share/doc/agentcli/copyright", await Deno.readTextFile(`${root}LICENSE`));
    for (
      const [shell, path] of [
        ["bash", "bash-completion/completions/agentcli"],
        ["zsh", "zsh/vendor-completions/_agentcli"],
        ["fish", "fish/vendor_completions.d/agentcli.fish"],
      ] as const
    ) {
      const args = ["run", "-A", "--no-config", bundle, "completions", shell];
      await put(`usr/share/${path}`, (await run(Deno.execPath(), args, {})).stdout);
    }
    const { size } = await Deno.stat(binary);
    await put(
      "DEBIAN/control",
      `Package: agentcli
Version: ${version}
Architecture: ${architecture}
Maintainer: agentcli <agentcli@localhost>
Section: utils
Priority: optional
Installed-Size: ${Math.ceil(size / 1024)}
Recommends: bubblewrap, ripgrep
Description: Agent CLI for models that run on your own machine
 Runs agent turns against any server with an OpenAI-compatible interface, with
 no account and no key. A path marked no-cloud never leaves the machine.
`,
    );
    await run("dpkg-deb", ["--root-owner-group", "-Zxz", "--build", tree, `${folder}/${name}`], {
      SOURCE_DATE_EPOCH: String(seconds),
    });
  } finally {
    await Deno.remove(tree, { recursive: true });
  }
  return name;
}

async function run(program: string, args: string[], env: Record<string, string>) {
  const output = await new Deno.Command(program, { args, env, stdin: "null" }).output().catch(() => null);
  if (output === null) throw new ScriptError(`there is no ${program} here: apt-get install dpkg`);
  if (!output.success) throw new ScriptError(`${program} failed: ${new TextDecoder().decode(output.stderr)}`);
  return output;
}
