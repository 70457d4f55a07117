/** A session bus of its own with a real keyring on it (gnome-keyring), which ends with the test. */
import { join } from "../../src/platform/path.ts";
import type { TemporaryHome } from "./home.ts";
import { plainDirectory } from "./plain_directory.ts";

const PROGRAMS = [
  "/usr/bin/dbus-daemon",
  "/usr/bin/dbus-send",
  "/usr/bin/gnome-keyring-daemon",
  "/usr/bin/secret-tool",
];

/** Programs that are missing here; tests with a keyring are skipped then, and their names say so. */
export function missingKeyringPrograms(): string[] {
  return PROGRAMS.filter((path) => {
    try {
      return !Deno.statSync(path).isFile;
    } catch {
      return true;
    }
  });
}

/** A bus without services of the system: nothing is started by itself, nobody is asked. */
const BUS = (socket: string) =>
  `<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>session</type><listen>unix:path=${encodeURI(socket)}</listen><auth>EXTERNAL</auth>
<policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy>
</busconfig>`;

/** A bus, and a keyring on it once it was started. */
export interface KeyringBus extends AsyncDisposable {
  /** What a child needs to find it. */
  env: Record<string, string>;
  /** Starts the keyring, unlocked. */
  startKeyring(): Promise<void>;
  lock(): Promise<void>;
  /** What is stored, as `secret-tool search` shows it. */
  search(): Promise<string>;
}

/** Starts a bus in the home. */
export async function startBus(home: TemporaryHome): Promise<KeyringBus> {
  const place = await plainDirectory("bus");
  const socket = join(place, "bus");
  await Deno.writeTextFile(join(place, "bus.conf"), BUS(socket));
  const env = { HOME: home.home, PATH: "/usr/bin:/bin", XDG_RUNTIME_DIR: place };
  const children: Deno.ChildProcess[] = [];
  const bus = new Deno.Command("/usr/bin/dbus-daemon", {
    args: [`--config-file=${join(place, "bus.conf")}`, "--nofork", "--nopidfile", "--print-address=1"],
    env,
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  children.push(bus);
  const reader = bus.stdout.getReader();
  await reader.read();
  await reader.cancel();
  const address = `unix:path=${socket}`;
  const onBus = { ...env, DBUS_SESSION_BUS_ADDRESS: address };
  const output = async (program: string, args: string[]) => {
    const done = await new Deno.Command(program, { args, env: onBus, clearEnv: true, stdin: "null" }).output();
    return { code: done.code, text: new TextDecoder().decode(done.stdout) + new TextDecoder().decode(done.stderr) };
  };
  return {
    env: { DBUS_SESSION_BUS_ADDRESS: address, XDG_RUNTIME_DIR: place },
    async startKeyring() {
      const daemon = new Deno.Command("/usr/bin/gnome-keyring-daemon", {
        args: ["--foreground", "--unlock", "--components=secrets"],
        env: onBus,
        clearEnv: true,
        stdin: "piped",
        stdout: "null",
        stderr: "null",
      }).spawn();
      children.push(daemon);
      const writer = daemon.stdin.getWriter();
      await writer.write(new TextEncoder().encode("password"));
      await writer.close();
      const limit = performance.now() + 20_000;
      // It tells nobody when it is ready: an entry that is not there is then an exit code without a word.
      while ((await output("/usr/bin/secret-tool", ["lookup", "ready", "yes"])).text !== "") {
        if (performance.now() > limit) throw new Error("the keyring does not start");
      }
    },
    async lock() {
      const done = await output("/usr/bin/dbus-send", [
        "--session",
        "--print-reply",
        "--dest=org.freedesktop.secrets",
        "/org/freedesktop/secrets",
        "org.freedesktop.Secret.Service.Lock",
        "array:objpath:/org/freedesktop/secrets/collection/login",
      ]);
      if (done.code !== 0 || !done.text.includes("/login")) throw new Error(`not locked: ${done.text}`);
    },
    search: async () => (await output("/usr/bin/secret-tool", ["search", "--all", "service", "agentcli"])).text,
    async [Symbol.asyncDispose]() {
      for (const child of children.reverse()) {
        try {
          child.kill("SIGKILL");
        } catch {
          // It has ended already.
        }
        await child.status;
      }
      await Deno.remove(place, { recursive: true }).catch(() => {});
    },
  };
}
