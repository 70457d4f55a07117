/**
 * The recipes of package managers for a release: Homebrew, Scoop, winget, AUR, Nix, and an image. Each is text made of
 * the version, the address of the files, and their sums; whoever publishes them checks them again with the manager's
 * own tool.
 */
import { ScriptError } from "../script.ts";

/** The inputs of the recipes. */
export interface ReleaseFiles {
  version: string;
  /** Where the files can be fetched, without a slash at the end. */
  address: string;
  /** SHA-256 in hexadecimal by file name, as in SHA256SUMS. */
  sums: ReadonlyMap<string, string>;
}

const TEXT = "Agent CLI for models that run on your own machine";

/** Returns the recipes by path. Throws {@link ScriptError} that names a file without a sum. */
export function recipes(files: ReleaseFiles): Map<string, string> {
  return new Map([
    ["homebrew/agentcli.rb", homebrew(files)],
    ["scoop/agentcli.json", scoop(files)],
    ...winget(files),
    ["aur/PKGBUILD", aur(files)],
    ["nix/flake.nix", nix(files)],
  ]);
}

/** Reads `SHA256SUMS`. */
export function readSums(text: string): Map<string, string> {
  const lines = text.split("\n").filter((line) => line !== "");
  return new Map(lines.map((line): [string, string] => [line.slice(66), line.slice(0, 64)]));
}

function fileOf({ address, sums }: ReleaseFiles, name: string): { url: string; sum: string } {
  const sum = sums.get(name);
  if (sum === undefined) throw new ScriptError(`SHA256SUMS has no ${name}, which the recipes of package managers need`);
  return { url: `${address}/${name}`, sum };
}

function homebrew(files: ReleaseFiles): string {
  const choice = (target: string) => {
    const { url, sum } = fileOf(files, `agentcli-${target}`);
    return `url "${url}"\n      sha256 "${sum}"`;
  };
  return `class Agentcli < Formula
  desc "${TEXT}"
  homepage "${files.address}"
  version "${files.version}"
  license "MIT"

  on_macos do
    on_arm do
      ${choice("aarch64-apple-darwin")}
    end
    on_intel do
      ${choice("x86_64-apple-darwin")}
    end
  end

  on_linux do
    on_arm do
      ${choice("aarch64-unknown-linux-gnu")}
    end
    on_intel do
      ${choice("x86_64-unknown-linux-gnu")}
    end
  end

  def install
    bin.install Dir["agentcli-*"].first => "agentcli"
    chmod 0755, bin/"agentcli"
    generate_completions_from_executable(bin/"agentcli", "completions")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/agentcli --version")
  end
end
`;
}

function scoop(files: ReleaseFiles): string {
  const choice = (target: string) => {
    const { url, sum } = fileOf(files, `agentcli-${target}-pc-windows-msvc.exe`);
    return { url: `${url}#/agentcli.exe`, hash: sum };
  };
  return `${
    JSON.stringify(
      {
        version: files.version,
        description: TEXT,
        homepage: files.address,
        license: "MIT",
        architecture: { "64bit": choice("x86_64"), arm64: choice("aarch64") },
        bin: "agentcli.exe",
      },
      null,
      4,
    )
  }\n`;
}

const WINGET_ID = "agentcli.agentcli";
const WINGET_SCHEMA = "1.6.0";

function winget(files: ReleaseFiles): [string, string][] {
  const head = `PackageIdentifier: ${WINGET_ID}\nPackageVersion: ${files.version}\n`;
  const end = (type: string) => `ManifestType: ${type}\nManifestVersion: ${WINGET_SCHEMA}\n`;
  const choice = (architecture: string, target: string) => {
    const { url, sum } = fileOf(files, `agentcli-${target}-pc-windows-msvc.exe`);
    return `- Architecture: ${architecture}\n  InstallerUrl: ${url}\n  InstallerSha256: ${sum.toUpperCase()}\n`;
  };
  const installers = `${choice("x64", "x86_64")}${choice("arm64", "aarch64")}`;
  const locale = `Publisher: agentcli\nPackageName: agentcli\nLicense: MIT\nShortDescription: ${TEXT}\n`;
  return [
    [`winget/${WINGET_ID}.yaml`, `${head}DefaultLocale: en-US\n${end("version")}`],
    [
      `winget/${WINGET_ID}.installer.yaml`,
      `${head}InstallerType: portable\nCommands:\n- agentcli\nInstallers:\n${installers}${end("installer")}`,
    ],
    [`winget/${WINGET_ID}.locale.en-US.yaml`, `${head}PackageLocale: en-US\n${locale}${end("defaultLocale")}`],
  ];
}

function aur(files: ReleaseFiles): string {
  const choice = (arch: string) => {
    const { url, sum } = fileOf(files, `agentcli-${arch}-unknown-linux-gnu`);
    return `source_${arch}=("agentcli-$pkgver-${arch}::${url}")\nsha256sums_${arch}=('${sum}')\n`;
  };
  // A compiled program carries its code after the executable: stripping would take it away.
  return `pkgname=agentcli-bin
pkgver=${files.version}
pkgrel=1
pkgdesc='${TEXT}'
arch=('x86_64' 'aarch64')
url='${files.address}'
license=('MIT')
depends=('gcc-libs')
optdepends=('bubblewrap: the sandbox of commands' 'ripgrep: faster search')
provides=('agentcli')
conflicts=('agentcli')
options=('!strip' '!debug')
${choice("x86_64")}${choice("aarch64")}
package() {
  install -Dm755 "agentcli-$pkgver-$CARCH" "$pkgdir/usr/bin/agentcli"
  install -d "$pkgdir/usr/share/bash-completion/completions" "$pkgdir/usr/share/zsh/site-functions" \\
    "$pkgdir/usr/share/fish/vendor_completions.d"
  "$pkgdir/usr/bin/agentcli" completions bash >"$pkgdir/usr/share/bash-completion/completions/agentcli"
  "$pkgdir/usr/bin/agentcli" completions zsh >"$pkgdir/usr/share/zsh/site-functions/_agentcli"
  "$pkgdir/usr/bin/agentcli" completions fish >"$pkgdir/usr/share/fish/vendor_completions.d/agentcli.fish"
}
`;
}

/** The bundle with the Deno of nixpkgs: what is patched for Nix would lose the code behind a compiled program. */
function nix(files: ReleaseFiles): string {
  const { url, sum } = fileOf(files, "agentcli.js");
  return `{
  description = "${TEXT}";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" "x86_64-darwin" "aarch64-darwin" ];
      each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.\${system});
    in {
      packages = each (pkgs:
        let bundle = pkgs.fetchurl { url = "${url}"; sha256 = "${sum}"; };
        in {
          default = pkgs.writeShellScriptBin "agentcli" ''
            export DENO_NO_UPDATE_CHECK=1
            exec \${pkgs.deno}/bin/deno run --quiet -A --no-config \${bundle} "$@"
          '';
        });
    };
}
`;
}
