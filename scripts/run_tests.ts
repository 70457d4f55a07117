/**
 * `deno task test`: all tests, or the files and options that are given. Many wait for a process or a socket, so three
 * files run for every two processors; `DENO_JOBS` says otherwise.
 */
const jobs = Deno.env.get("DENO_JOBS") ?? String(Math.ceil(navigator.hardwareConcurrency * 1.5));
// Types are what `deno task check` is for: checking them here takes a fifth of a minute before the first test runs.
const flags = ["-A", "--no-check", "--parallel", "--quiet", "--preload", "tests/time_limit.ts"];
const tests = new Deno.Command(Deno.execPath(), { args: ["test", ...flags, ...Deno.args], env: { DENO_JOBS: jobs } });
Deno.exit((await tests.spawn().status).code);
