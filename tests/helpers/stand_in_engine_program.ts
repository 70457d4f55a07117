/**
 * Plays a program of an engine: notes what it was started with, prints a help, dies, or serves like the real one.
 * Started by the scripts that `stand_in_engine.ts` writes: first the settings as a file, then the words of the caller.
 */
import type { StandInSettings } from "./stand_in_engine.ts";

const [file = "", ...argv] = Deno.args;
const settings: StandInSettings = JSON.parse(await Deno.readTextFile(file));
const line = { program: settings.program, argv, env: Deno.env.toObject(), pid: Deno.pid };
await Deno.writeTextFile(settings.record, JSON.stringify(line) + "\n", { append: true });

function valueOf(flag: string): string | undefined {
  const at = argv.indexOf(flag);
  return at < 0 ? undefined : argv[at + 1];
}

const helpWord = argv.find((word) => /^--help/.test(word));
if (helpWord !== undefined) {
  const text = settings.help[helpWord];
  console.log(text ?? `error: unrecognized ${helpWord}`);
  Deno.exit(text === undefined ? 2 : 0);
}
if (settings.dies !== undefined) {
  for (let count = 1; count <= settings.dies.lines; count++) console.error(`log line ${count}\u001b]0;title\u0007`);
  Deno.exit(settings.dies.code);
}
if (settings.kind === "lms") await actAsLms();
else serve(settings.kind);

/** Its server is another process, which outlives the call that starts it. */
async function actAsLms(): Promise<never> {
  const pidFile = `${settings.record}.pid`;
  const [first, second] = argv;
  if (first === "server" && second === "start") {
    const child = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--quiet", "--no-config", import.meta.filename ?? "", `${file}.server`, ...argv],
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    // Its first output says that it listens.
    await child.stdout.getReader().read();
    await Deno.writeTextFile(pidFile, String(child.pid));
  }
  if (first === "server" && second === "stop") Deno.kill(Number(await Deno.readTextFile(pidFile)), "SIGKILL");
  Deno.exit(0);
}

function serve(kind: StandInSettings["kind"]): void {
  const [, ollamaHost, ollamaPort] = /^(.*):(\d+)$/.exec(Deno.env.get("OLLAMA_HOST") ?? "") ?? [];
  const hostname = valueOf("--host") ?? valueOf("--bind") ?? ollamaHost?.replace(/^\[|\]$/g, "") ?? "127.0.0.1";
  const port = Number(valueOf("--port") ?? ollamaPort);
  let loading = settings.loadingAnswers ?? 0;
  const model = valueOf("--alias") ?? valueOf("--served-model-name") ?? settings.model ?? "stand-in";
  console.log(`listening to be on ${hostname}:${port}`);
  Deno.serve({ hostname, port, onListen: () => console.log("up") }, (request) => {
    const { pathname } = new URL(request.url);
    if (loading-- > 0) return new Response("loading", { status: 503, headers: serverHeaders(kind) });
    const answer = answerOf(kind, { pathname, model });
    const headers = { ...serverHeaders(kind), "content-type": "application/json" };
    return answer === undefined
      ? new Response("{}", { status: 404, headers })
      : new Response(typeof answer === "string" ? answer : JSON.stringify(answer), { headers });
  });
}

function serverHeaders(kind: StandInSettings["kind"]): Record<string, string> {
  return kind === "llama-server" ? { server: "llama.cpp" } : {};
}

function answerOf(kind: StandInSettings["kind"], { pathname, model }: { pathname: string; model: string }): unknown {
  const list = (owner: string, more: Record<string, unknown> = {}) => ({
    object: "list",
    data: [{ id: model, object: "model", owned_by: owner, ...more }],
  });
  const answers: Record<StandInSettings["kind"], Record<string, unknown>> = {
    "llama-server": { "/health": { status: "ok" }, "/v1/models": list("llamacpp", { meta: { n_ctx: 4096 } }) },
    "vllm": { "/health": "", "/v1/models": list("vllm", { max_model_len: 8192 }) },
    "ollama": {
      "/": "Ollama is running",
      "/api/version": { version: "0.18.0" },
      "/v1/models": list("library"),
      "/api/generate": { done: true, done_reason: "load" },
      "/api/ps": { models: [{ name: model, model, context_length: 65536 }] },
    },
    "freetoken": { "/v1/models": list("freetoken") },
    "minisgl": { "/v1/models": list("mini-sglang") },
    "lms": {},
    "lms server": { "/lmstudio-greeting": { lmstudio: true }, "/v1/models": list("organization_owner") },
    "plain": { "/up": "yes", "/v1/models": list("somebody") },
  };
  return answers[kind][pathname];
}
