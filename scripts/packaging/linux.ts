/**
 * Packages for Debian, Fedora and their relatives: the binary, completions and the license. Nothing runs when they are
 * installed, and they need nothing: a sandbox and a faster search are recommended.
 */
import { ScriptError } from "../script.ts";

const root = decodeURIComponent(new URL("../..", import.meta.url).pathname);
const SUMMARY = "Agent CLI for models that run on your own machine";
const DESCRIPTION = [
  "Runs agent turns against any server with an OpenAI-compatible interface, with",
  "no account and no key. A path marked no-cloud never leaves the machine.",
];

/** The inputs of a package. */
export interface PackageSource {
  version: string;
  processor: "x86_64" | "aarch64";
  /** The binary of that processor. */
  binary: string;
  /** The bundle, which is asked for the completions. */
  bundle: string;
  /** The time that stands in the package, in seconds since 1970: the same input gives the same bytes. */
  seconds: number;
}

/** A package format: writes the package into the folder and returns its name. */
type Writer = (folder: string, source: PackageSource) => Promise<string>;

/** Writes a package for Debian. Throws {@link ScriptError} without `dpkg-deb`. */
export const writeDeb: Writer = async (folder, source) => {
  const architecture = { x86_64: "amd64", aarch64: "arm64" }[source.processor];
  const name = `agentcli_${source.version}_${architecture}.deb`;
  await withTree(source, { license: "doc/agentcli/copyright", zsh: "zsh/vendor-completions" }, async (tree) => {
    const { size } = await Deno.stat(source.binary);
    await put(
      `${tree}/DEBIAN/control`,
      `Package: agentcli
Version: ${source.version}
Architecture: ${architecture}
Maintainer: agentcli <agentcli@localhost>
Section: utils
Priority: optional
Installed-Size: ${Math.ceil(size / 1024)}
Recommends: bubblewrap, ripgrep
Description: ${SUMMARY}
${DESCRIPTION.map((line) => ` ${line}\n`).join("")}`,
    );
    await run("dpkg-deb", ["--root-owner-group", "-Zxz", "--build", tree, `${folder}/${name}`], {
      package: "dpkg",
      seconds: source.seconds,
    });
  });
  return name;
};

/** Writes a package for Fedora. Throws {@link ScriptError} without `rpmbuild`. */
export const writeRpm: Writer = async (folder, source) => {
  const name = `agentcli-${source.version}-1.${source.processor}.rpm`;
  await withTree(source, { license: "licenses/agentcli/LICENSE", zsh: "zsh/site-functions" }, async (tree, files) => {
    const work = await Deno.makeTempDir();
    try {
      await put(
        `${work}/agentcli.spec`,
        `Name: agentcli
Version: ${source.version}
Release: 1
Summary: ${SUMMARY}
License: MIT
AutoReqProv: no
Recommends: bubblewrap, ripgrep
%description
${DESCRIPTION.join("\n")}
%install
cp -a '%{tree}/.' '%{buildroot}/'
%files
%dir /usr/share/licenses/agentcli
${files.map((path) => `/${path}\n`).join("")}`,
      );
      const settings = {
        tree,
        _topdir: work,
        _rpmdir: folder,
        _build_name_fmt: name,
        _buildhost: "localhost",
        _binary_payload: "w2.xzdio",
        use_source_date_epoch_as_buildtime: "1",
        clamp_mtime_to_source_date_epoch: "1",
        // A compiled program carries its code after the executable: stripping would take it away.
        __os_install_post: "%{nil}",
        debug_package: "%{nil}",
        _build_id_links: "none",
      };
      const defined = Object.entries(settings).flatMap(([key, value]) => ["--define", `${key} ${value}`]);
      const words = ["-bb", "--quiet", "--target", `${source.processor}-linux`, ...defined, `${work}/agentcli.spec`];
      await run("rpmbuild", words, { package: "rpm", seconds: source.seconds });
    } finally {
      await Deno.remove(work, { recursive: true });
    }
  });
  return name;
};

/** Gives `work` a directory with what a package installs, and the paths of its files. */
async function withTree(
  { binary, bundle }: PackageSource,
  places: { license: string; zsh: string },
  work: (tree: string, files: readonly string[]) => Promise<void>,
): Promise<void> {
  const completions = async (shell: string) => {
    const output = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-config", bundle, "completions", shell],
      stdin: "null",
    }).output();
    if (!output.success) throw new ScriptError(`the bundle gave no completions: ${textOf(output.stderr)}`);
    return output.stdout;
  };
  const files: readonly [path: string, bytes: string | Uint8Array][] = [
    ["usr/bin/agentcli", await Deno.readFile(binary)],
    [`usr/share/${places.license}`, await Deno.readTextFile(`${root}LICENSE`)],
    ["usr/share/bash-completion/completions/agentcli", await completions("bash")],
    [`usr/share/${places.zsh}/_agentcli`, await completions("zsh")],
    ["usr/share/fish/vendor_completions.d/agentcli.fish", await completions("fish")],
  ];
  const tree = await Deno.makeTempDir();
  try {
    for (const [path, bytes] of files) await put(`${tree}/${path}`, bytes, path.includes("/bin/") ? 0o755 : 0o644);
    await work(tree, files.map(([path]) => path));
  } finally {
    await Deno.remove(tree, { recursive: true });
  }
}

async function put(to: string, text: string | Uint8Array, mode = 0o644): Promise<void> {
  await Deno.mkdir(to.slice(0, to.lastIndexOf("/")), { recursive: true, mode: 0o755 });
  await Deno.writeFile(to, typeof text === "string" ? new TextEncoder().encode(text) : text, { mode });
}

async function run(program: string, args: string[], needs: { package: string; seconds: number }): Promise<void> {
  const env = { SOURCE_DATE_EPOCH: String(needs.seconds) };
  const output = await new Deno.Command(program, { args, env, stdin: "null" }).output().catch(() => null);
  if (output === null) throw new ScriptError(`there is no ${program} here: apt-get install ${needs.package}`);
  if (!output.success) throw new ScriptError(`${program} failed: ${textOf(output.stderr)}`);
}

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
