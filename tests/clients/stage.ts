/** What the tests of real clients share: packages from npm, a server that does as it is told, and a home. */
import assert from "node:assert/strict";
import { ask, type RecordedRequest, say, startFakeServer, type Step } from "../helpers/fake_server.ts";
import { dataUrl, pngFile } from "../helpers/images.ts";
import { configure, programCommand, type TemporaryHome, temporaryHome } from "../helpers/program.ts";

/** Where packages are installed; removed with the process's temporary directory when it is not named. */
const CLIENTS = Deno.env.get("AGENTCLI_CLIENTS") ?? await Deno.makeTempDir({ prefix: "agentcli-clients-" });

/** What clients show. */
export const PICTURE = pngFile({ width: 16, height: 16 });

/** A directory with these packages; `whole`: with the programs of this system that they bring. */
export async function installed(
  name: string,
  packages: readonly string[],
  { whole = false }: { whole?: boolean } = {},
): Promise<string> {
  const directory = `${CLIENTS}/${name}`;
  if (await Deno.stat(`${directory}/node_modules`).then(() => true, () => false)) return directory;
  await Deno.mkdir(directory, { recursive: true });
  await Deno.writeTextFile(`${directory}/package.json`, JSON.stringify({ name: "clients", private: true }));
  const { success, stderr } = await new Deno.Command("npm", {
    args: ["install", ...whole ? [] : ["--omit=optional"], "--no-audit", "--no-fund", ...packages],
    cwd: directory,
    stdout: "null",
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  return directory;
}

/**
 * A server that does as the user's words say: `CALL tool {…}`, `HANG`, `FAIL`; images are named, anything else is
 * echoed.
 */
export function obedient(request: RecordedRequest): Step {
  const last = request.json.messages.at(-1);
  if (Array.isArray(last.content)) {
    const [words, image] = last.content;
    return say(`Seen: ${words.text} ${image.image_url.url === dataUrl("image/png", PICTURE)}`);
  }
  const text = String(last.content);
  if (last.role === "tool") return say(`Result: ${text}`);
  const call = /(?:^|\s)CALL (\S+) (\{[^\n]*\})/.exec(text);
  if (call !== null) return ask({ name: call[1] ?? "", input: JSON.parse(call[2] ?? "{}") });
  if (/(^|\s)HANG/.test(text)) return { kind: "silence" };
  if (/(^|\s)FAIL/.test(text)) {
    return { kind: "status", status: 400, body: JSON.stringify({ error: { message: "no such thing" } }) };
  }
  return say(`Echo: ${text}`);
}

/** A home, a server and a way to run clients. */
export interface Scene extends AsyncDisposable {
  home: TemporaryHome;
  /** A program file that clients start. */
  executable: string;
  /** Runs a script with Node, or the one named; gives the last line it printed. */
  node(script: string, args: readonly string[], program?: string): Promise<string>;
  server: ReturnType<typeof startFakeServer>;
}

/** Makes a scene whose server is obedient. */
export async function scene(): Promise<Scene> {
  const home = await temporaryHome();
  const server = startFakeServer({ script: obedient });
  const model = (id: string) => ({ id, context_window: 32768, images: true });
  await configure(home, {
    loc: { baseUrl: server.baseUrl, models: [model("fake"), { ...model("other"), alias: "quick" }] },
  }, { default_provider: "loc", default_model: "fake" });
  const executable = `${home.root}/agentcli`;
  const quoted = programCommand().map((word) => `'${word}'`).join(" ");
  // With AGENTCLI_RECORD, what clients send is kept there: command lines and lines of input.
  const record = Deno.env.get("AGENTCLI_RECORD");
  const start = record === undefined
    ? `exec ${quoted} "$@"`
    : `f='${record}'/$$; printf '%s\\n' "$@" > $f.args; tee $f.in | ${quoted} "$@"`;
  await Deno.writeTextFile(executable, `#!/bin/sh\n${start}\n`, { mode: 0o755 });
  return {
    home,
    executable,
    server,
    async node(script, args, program = "node") {
      const { code, stdout, stderr } = await new Deno.Command(program, {
        args: [script.startsWith("/") ? script : new URL(script, import.meta.url).pathname, ...args],
        cwd: home.project,
        env: {
          HOME: home.home,
          AGENTCLI_HOME: home.agentcliHome,
          DENO_DIR: Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`,
          DENO_NO_UPDATE_CHECK: "1",
          CLAUDE_CODE_EXECUTABLE: executable,
        },
      }).output();
      const text = new TextDecoder().decode(stdout);
      assert.equal(code, 0, text + new TextDecoder().decode(stderr));
      // Some clients print warnings of their own first.
      return text.trimEnd().split("\n").at(-1) ?? "";
    },
    async [Symbol.asyncDispose]() {
      await server.close();
      await home.dispose();
    },
  };
}

/** Whether the project has a file. */
export const exists = (home: TemporaryHome, name: string) =>
  Deno.stat(`${home.project}/${name}`).then(() => true, () => false);
