/** Where the model behind a local address runs, as far as its server, the programs of its maker and the system say. */
import { projectRootOf } from "../../boundary/policy/project.ts";
import { harmlessEnvironment } from "../../boundary/policy/environment.ts";
import { isLocal } from "../../boundary/policy/locality.ts";
import { findProgram } from "../../boundary/programs.ts";
import { endpointForCheck } from "../../config/endpoint.ts";
import type { ProviderEntry } from "../../config/types.ts";
import { AgentcliError } from "../../errors.ts";
import type { Io } from "../../platform/io.ts";
import { listenerOn } from "../../platform/listener.ts";
import { runForText } from "../../platform/process.ts";
import { parseJson } from "../../platform/record.ts";
import { quietly } from "../../platform/real_path.ts";
import type { Remark, RunForJson } from "../../provider/backends/backend.ts";
import { backendOf } from "../../provider/backends/backends.ts";
import { inquire } from "../../provider/backends/inquiry.ts";
import { Localities } from "../../provider/backends/localities.ts";
import type { HttpClient } from "../../provider/http/client.ts";
import { portOf } from "../../platform/text.ts";
import type { ProviderCheck } from "../providers/check.ts";

/** Most models of one provider whose place is checked. */
const MODEL_LIMIT = 5;

/** Models that the server itself says it does not run, and signs of another service behind it. */
export async function signsElsewhere(
  provider: ProviderEntry,
  { io }: { io: Io },
  { client, check }: { client: HttpClient; check: ProviderCheck },
): Promise<string[]> {
  try {
    const endpoint = await endpointForCheck(provider, { env: io.env, local: check.local, stores: io });
    const localities = new Localities(client, io);
    const found = await Promise.all(
      provider.models.slice(0, MODEL_LIMIT).map(({ id }) =>
        localities.of({ endpoint, model: id, trusted: provider.local })
      ),
    );
    return [
      ...new Set(found.flatMap((locality) => {
        if (locality.kind === "remote") return [`${locality.reason}; it counts as remote`];
        return locality.doubt === undefined ? [] : [locality.doubt];
      })),
    ];
  } catch (error) {
    if (error instanceof AgentcliError) return [];
    throw error;
  }
}

/** Programs that pass connections on to other machines, or into places that cannot be seen from here. */
const FORWARDERS: ReadonlySet<string> = new Set([
  ...["ssh", "sshd", "sshd-session", "autossh", "docker-proxy", "rootlessport", "slirp4netns", "kubectl", "nginx"],
  ...["haproxy", "socat", "caddy", "traefik", "envoy", "cloudflared", "ngrok", "tailscaled", "stunnel", "squid"],
]);

export interface Listening {
  text: string;
  pid: number | null;
  program: string | null;
  /** It passes connections on. */
  forwards: boolean;
}

/** Null for other addresses, and where the system does not say. */
export async function listeningAt(baseUrl: string): Promise<Listening | null> {
  if (!isLocal(baseUrl, [])) return null;
  const found = await listenerOn(portOf(new URL(baseUrl)));
  if (found === null) return null;
  const { pid, program, owner } = found;
  if (pid === null) {
    const whose = owner === 0 ? "root" : owner === null ? "another user" : `user ${owner}`;
    return { text: `a process of ${whose}`, pid, program, forwards: false };
  }
  return { text: `${program ?? "process"} (pid ${pid})`, pid, program, forwards: FORWARDERS.has(program ?? "") };
}

/** Bytes of what a program prints. */
const OUTPUT_LIMIT = 256 * 1024;

/** Returns what a known server, or a program of its maker, says besides; null where there is nothing. */
export async function remarkOf(
  provider: ProviderEntry,
  { io, cwd }: { io: Io; cwd: string },
  { client, check, timeoutMs }: { client: HttpClient; check: ProviderCheck; timeoutMs: number },
): Promise<Remark | null> {
  const backend = backendOf(check.server);
  if (backend?.remark === undefined) return null;
  const endpoint = await endpointForCheck(provider, { env: io.env, local: check.local, stores: io });
  const roots = [cwd, quietly(() => projectRootOf(cwd, io)) ?? cwd];
  const run: RunForJson = async (name, words) => {
    const program = await findProgram(name, { path: io.env("PATH") ?? "", roots, io });
    if (program === null) return undefined;
    const env = harmlessEnvironment(io.environment(), []);
    const options = { argv: [program, ...words] as const, cwd: "/", env, timeoutMs, limit: OUTPUT_LIMIT };
    // A program that Deno may not run, or that is broken, is ignored.
    const said = await runForText(options).catch(() => null);
    return said?.ended === "exit" && said.code === 0 ? parseJson(said.stdout) : undefined;
  };
  return await backend.remark(inquire(client, endpoint, { limits: { timeoutMs } }), run);
}
