/** The list of what is inside, as CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/). */

/** What the list is made from. */
export interface Contents {
  /** The text of the bundle: its comments name the modules it holds. */
  bundle: string;
  /** `deno.lock`, parsed: `npm` has the sums of the packages. */
  lock: unknown;
  /** Of the program. */
  version: string;
  /** Of Deno, which the binaries carry. */
  runtime: string;
  /** Seconds of 1970. */
  seconds: number;
}

const PACKAGE = /^(?:\/\/ |\s*")npm:((?:@[^/"\s]+\/)?[^/@"\s]+)@([^/"\s]+)\//gm;

/** Packages whose code is in the bundle as `name@version`, sorted. */
export function packagesOf(bundle: string): string[] {
  return [...new Set([...bundle.matchAll(PACKAGE)].map(([, name, version]) => `${name}@${version}`))].sort();
}

/** The document, the same for the same contents. A package that the lock does not know is an error. */
export function componentList({ bundle, lock, version, runtime, seconds }: Contents): string {
  const locked = (lock as { npm?: Record<string, { integrity?: string }> }).npm ?? {};
  const packages = packagesOf(bundle).map((id) => {
    const integrity = locked[id]?.integrity;
    if (integrity === undefined) throw new Error(`deno.lock does not know ${id}, which is in the bundle`);
    const at = id.lastIndexOf("@");
    const purl = `pkg:npm/${id.slice(0, at).replace("@", "%40")}@${id.slice(at + 1)}`;
    const hashes = [{ alg: "SHA-512", content: Uint8Array.fromBase64(integrity.replace("sha512-", "")).toHex() }];
    return { type: "library", "bom-ref": purl, name: id.slice(0, at), version: id.slice(at + 1), purl, hashes };
  });
  const platform = `pkg:github/denoland/deno@v${runtime}`;
  const document = {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      timestamp: new Date(seconds * 1000).toISOString(),
      component: {
        type: "application",
        "bom-ref": "agentcli",
        name: "agentcli",
        version,
        licenses: [{ license: { id: "MIT" } }],
      },
    },
    components: [
      ...packages,
      {
        type: "platform",
        "bom-ref": platform,
        name: "deno",
        version: runtime,
        purl: platform,
        description: "in the binaries",
      },
    ],
    dependencies: [{ ref: "agentcli", dependsOn: [...packages.map(({ purl }) => purl), platform] }],
  };
  return JSON.stringify(document, null, 2) + "\n";
}
