/** Tests a sandbox: runs a script in a small project with canaries, none of which may come out. */
import { withTemporaryDirectory } from "../../platform/temporary.ts";
import { join } from "../../platform/path.ts";
import { run } from "../../platform/process.ts";
import { ProtectedPlaces } from "../policy/protected_tree.ts";
import { type BackendOptions, type SandboxBackend, trustedProgram } from "./backend.ts";
import { bubblewrapBackends } from "./bubblewrap.ts";
import { HardLinkSearch } from "./hard_links.ts";
import { systemSteps } from "./places.ts";
import { seatbeltBackends } from "./seatbelt.ts";
import { unshareBackends } from "./unshare.ts";
import { buildView, type ViewBase } from "./view.ts";

/** The test takes a tenth of a second, much longer on a busy machine. Only a hanging one fails by time. */
const PROOF_DEADLINE_MS = 60_000;
/** Characters of an error that are shown. */
const SHOWN_ERROR = 200;
const MARKER = "project/.agentclisecret";

/** Tries everything that must be impossible, in the project alone, wherever it is started; failures print nothing. */
const PROBE = `cat open.txt
cd "$2" || exit
{ cat .env list/key other-name deep/down/key "$1/key"; ls list "$1"; tr '\\0' '\\n' < /proc/1/environ
tr '\\0' '\\n' < "/proc/$PPID/environ"; mv list moved; cat moved/key; mv deep moved; cat moved/down/key; mv .env moved
umount "$PWD/.env"; umount "$PWD/list"; cat .env list/key; cat /proc/*/root"$PWD/.env"
for d in /proc/self/fd/*/ /proc/1/fd/*/; do cat "$d.env" "$d/project/.env" "$d$PWD/.env"; done
echo changed > .agentclisecret; rm -f .agentclisecret; cat .git/hooks/old; } 2>/dev/null
env`;

/** The command lines of backends that passed in this process: the same line makes the same sandbox in each session. */
const passed = new Set<string>();

/**
 * Returns the first backend of this system that passes, and the system steps of its views; otherwise the problems, one
 * sentence for each backend.
 */
export async function findCheckedBackend(
  options: BackendOptions,
): Promise<{ backend: SandboxBackend; system: ViewBase["system"] } | { problems: readonly string[] }> {
  const system = systemSteps();
  const problems = new Set<string>();
  const backends = options.os === "darwin"
    ? seatbeltBackends(options)
    : [...bubblewrapBackends(options), ...unshareBackends(options)];
  for (const backend of options.os === "windows" ? [] : backends) {
    const line = JSON.stringify(backend.line({ steps: [], cwd: "/", env: {}, argv: [], network: false }));
    const problem = passed.has(line) ? null : await selfCheck(backend, system);
    if (problem === null) {
      passed.add(line);
      return { backend, system };
    }
    problems.add(`${backend.name}: ${problem}`);
  }
  return { problems: [...problems] };
}

/** Returns why a backend cannot be used, as a sentence without a final period, or null if nothing leaked. */
async function selfCheck(backend: SandboxBackend, system: ViewBase["system"]): Promise<string | null> {
  const sh = trustedProgram("sh") ?? "/bin/sh";
  return await withTemporaryDirectory(async (directory) => {
    const root = join(directory.path, "project");
    const home = join(directory.path, "home");
    const canary = `canary-${crypto.randomUUID()}`;
    for (const name of ["project/.env", "project/list/key", "project/deep/down/key", "home/key"]) {
      directory.write(name, canary);
    }
    directory.write("project/open.txt", "visible");
    directory.write(MARKER, "rules");
    directory.write("project/.git/hooks/old", canary);
    directory.link("project/.env", "project/other-name");
    const view = buildView({
      root,
      additional: [],
      cwd: root,
      argv: [sh, "-c", PROBE, "sh", home, root],
      env: { PATH: "/usr/bin:/bin" },
      git: false,
      network: false,
      found: new ProtectedPlaces().add({
        files: [join(root, ".env"), join(root, "deep/down/key")],
        directories: [join(root, "list")],
        repositories: [join(root, ".git")],
      }),
      frozen: [join(root, ".agentclisecret")],
    }, { system, bound: [], home, userHome: null, links: new HardLinkSearch() });
    if ("kind" in view) return view.reason;
    const line = backend.line(view.plan);
    if (line === null) return "it cannot express a path of the temporary directory";
    let output = "";
    const onOutput = (bytes: Uint8Array) => output += new TextDecoder().decode(bytes);
    // A caller can hand over an open directory as standard input.
    const argv = [sh, "-c", 'exec "$@" < "$0"', root, ...line.argv] as const;
    const outcome = await run({ ...line, argv, cwd: "/", timeoutMs: PROOF_DEADLINE_MS, onOutput });
    if (output.includes(canary)) return "a protected file could be read through it";
    if (directory.read(MARKER) !== "rules") return "a marker could be changed through it";
    if (outcome.ended !== "exit") return `it did not end within ${PROOF_DEADLINE_MS / 1000} seconds`;
    if (output.startsWith("visible")) return null;
    // The message of the sandbox program, which does not contain the canary.
    return output.trim().split("\n").at(-1)?.slice(0, SHOWN_ERROR) || `it ended with exit code ${outcome.code}`;
  });
}
