/**
 * `deno task test`: all tests, or the files and options that are given. Many wait for a process or a socket, so three
 * files run for every two processors; `DENO_JOBS` says otherwise.
 */
import { buildBundle } from "./bundle/build.ts";

const jobs = Deno.env.get("DENO_JOBS") ?? String(Math.ceil(navigator.hardwareConcurrency * 1.5));
// Types are what `deno task check` is for: checking them here takes a fifth of a minute before the first test runs.
const flags = ["-A", "--no-check", "--parallel", "--quiet", "--preload", "tests/time_limit.ts"];
const env: Record<string, string> = { DENO_JOBS: jobs };
// The bundle starts in half the time of the sources, and all tests together start the program a thousand times.
if (Deno.args.length === 0) env["AGENTCLI_CHILD"] = await writeBundle();
const tests = new Deno.Command(Deno.execPath(), { args: ["test", ...flags, ...Deno.args], env });
Deno.exit((await tests.spawn().status).code);

/** Writes the bundle for children, beside that of a release, and returns its path. */
async function writeBundle(): Promise<string> {
  const folder = decodeURIComponent(new URL("../dist/tests", import.meta.url).pathname);
  await Deno.mkdir(folder, { recursive: true });
  await Deno.writeTextFile(`${folder}/agentcli.js`, await buildBundle());
  return `${folder}/agentcli.js`;
}
