/** Who listens behind a loopback address: a local address does not make a local model (threat 89). */
import { listenerOn } from "../../platform/listener.ts";

/** Programs that pass connections on to other machines, or into places that cannot be seen from here. */
const FORWARDERS: ReadonlySet<string> = new Set([
  ...["ssh", "sshd", "sshd-session", "autossh", "docker-proxy", "rootlessport", "slirp4netns", "kubectl", "nginx"],
  ...["haproxy", "socat", "caddy", "traefik", "envoy", "cloudflared", "ngrok", "tailscaled", "stunnel", "squid"],
]);

/** The process behind a loopback address. */
export interface Listening {
  text: string;
  pid: number | null;
  program: string | null;
  /** It passes connections on. */
  forwards: boolean;
}

/** Null for other addresses, and where the system does not tell. */
export async function listeningAt(baseUrl: string): Promise<Listening | null> {
  const url = new URL(baseUrl);
  if (!["localhost", "127.0.0.1", "[::1]"].includes(url.hostname)) return null;
  const found = await listenerOn(Number(url.port || (url.protocol === "https:" ? 443 : 80)));
  if (found === null) return null;
  const { pid, program, owner } = found;
  if (pid === null) {
    const whose = owner === 0 ? "root" : owner === null ? "another user" : `user ${owner}`;
    return { text: `a process of ${whose}`, pid, program, forwards: false };
  }
  return { text: `${program ?? "process"} (pid ${pid})`, pid, program, forwards: FORWARDERS.has(program ?? "") };
}
