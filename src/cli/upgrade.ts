/** Runs `agentcli upgrade`: one request for the newest release, and what to do about it. */
import { AgentcliError } from "../errors.ts";
import { runtimeFacts } from "../platform/runtime.ts";
import { fetchJson } from "../provider/http/fetch_json.ts";
import type { Invocation } from "./command.ts";
import { print, withClient } from "./result.ts";
import { RELEASE_ADDRESS, VERSION } from "./version.ts";
import type { UPGRADE_OPTIONS } from "./program_commands.ts";

const LIMITS = { limitBytes: 1024 * 1024, timeoutMs: 15_000 };
const TIMEOUT = { connect: 5, firstByte: 15, idle: 15 };

/** Runs the command. Throws `usage` without an address, the errors of the client, and `invalid_reply`. */
export async function lookUpRelease(
  { options, context }: Invocation<typeof UPGRADE_OPTIONS>,
): Promise<void> {
  const address = (options.from ?? RELEASE_ADDRESS).replace(/\/+$/, "");
  if (address === "") {
    throw new AgentcliError("usage", "this build was not made by a release, so it knows no address of releases", {
      hint: "agentcli upgrade --from URL, or build the newest checkout",
    });
  }
  const newest = await newestVersion(address, context.io);
  const newer = isNewer(newest, VERSION);
  const notes = [
    `get it the way you got this ${runtimeFacts().form}: npm install --global agentcli, or`,
    `  install.sh of ${address}, which compares sums before it changes anything`,
  ];
  await print(context, {
    json: { version: VERSION, newest, newer, address },
    ...newer
      ? { text: `${newest} is available; this is ${VERSION}\n`, notes }
      : { message: `${VERSION} is the newest release` },
  });
}

async function newestVersion(address: string, io: Invocation["context"]["io"]): Promise<string> {
  if (!/^https:\/\/|^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?:[:/]|$)/.test(address)) {
    throw new AgentcliError("usage", "an address of releases begins with https://", {
      hint: "agentcli upgrade --help",
    });
  }
  const github = /^https:\/\/github\.com\/([\w.-]+\/[\w.-]+)\/releases(?:\/|$)/.exec(address)?.[1];
  const baseUrl = github === undefined ? address : `https://api.github.com/repos/${github}`;
  const local = baseUrl.startsWith("http://");
  return await withClient({ io }, async (client) => {
    const endpoint = {
      provider: "releases",
      baseUrl,
      keySource: "none",
      headers: {},
      caCerts: [],
      timeout: TIMEOUT,
      local,
    };
    const path = github === undefined ? "/NOTES.md" : "/releases/latest";
    const { status, text, json } = await fetchJson(client, endpoint, { path, ...LIMITS });
    const named = github === undefined
      ? /^# agentcli (\S+)/.exec(text)?.[1]
      : (json as { tag_name?: unknown })?.tag_name;
    const version = /^v?(\d+\.\d+\.\d+)$/.exec(String(named))?.[1];
    if (status === 200 && version !== undefined) return version;
    throw new AgentcliError("invalid_reply", `${baseUrl}${path} names no release (HTTP ${status})`);
  });
}

/** Returns whether a version is above another, number by number. */
export function isNewer(version: string, than: string): boolean {
  const [one, other] = [version, than].map((text) => text.split(".").map(Number));
  const at = one?.findIndex((number, index) => number !== other?.[index]) ?? -1;
  return at >= 0 && (one?.[at] ?? 0) > (other?.[at] ?? 0);
}
