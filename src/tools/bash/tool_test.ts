import assert from "node:assert/strict";
import { inToolProject, type ToolProject } from "../../../tests/helpers/tool_project.ts";
import type { ToolContext, ToolResult } from "../tool.ts";
import { childEnvironment } from "./start.ts";
import { BoundedOutput, KEPT_BYTES } from "./bounded_output.ts";
import type { BashInput } from "../declarations.ts";
import { bashTool } from "./tool.ts";

const unix = { ignore: Deno.build.os === "windows" };

function bash(project: ToolProject, input: BashInput, more: Partial<ToolContext> = {}): Promise<ToolResult> {
  const environment = { PATH: "/usr/bin:/bin", STUDIO_KEY: "k1", MY_PROVIDER: "k2", HOME: "/home/me" };
  const io = {
    ...project.context.io,
    env: (name: string) => ({ ...environment }[name]),
    environment: () => environment,
  };
  return bashTool.run(input, { ...project.context, io, ...more });
}

Deno.test(
  "a command runs at the project root and its output is the result",
  unix,
  () =>
    inToolProject(async (project) => {
      await project.write("a.txt", "hello\n");
      assert.deepEqual(await bash(project, { command: "cat a.txt && pwd" }), {
        content: `hello\n${project.root}`,
        isError: false,
        label: "open",
        details: { exitCode: 0, timedOut: false },
      });
    }),
);

Deno.test("standard output and standard error keep their order", unix, () =>
  inToolProject(async (project) => {
    const { content } = await bash(project, { command: "for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done" });
    assert.equal(content, "o1\ne1\no2\ne2\no3\ne3\no4\ne4\no5\ne5");
  }));

Deno.test(
  "a failing command is an error with its exit code, a silent one says so",
  unix,
  () =>
    inToolProject(async (project) => {
      const failed = await bash(project, { command: "echo x; exit 3" });
      assert.equal(failed.isError, true);
      assert.equal(failed.content, "x\n[exit code 3]");
      assert.equal((await bash(project, { command: "true" })).content, "(no output)");
      const killed = await bash(project, { command: "kill -9 $$" });
      assert.equal(killed.content, "[exit code 137]");
    }),
);

Deno.test("what is given is what runs, whatever characters it holds", unix, () =>
  inToolProject(async (project) => {
    const { content } = await bash(project, {
      command: `printf '%s|' "$0" 'a"b' $'c\\n' "--" é\n echo "\${BASH_VERSION:+bash}"`,
    });
    assert.ok(content.endsWith('|a"b|c\n|--|é|bash'), content);
  }));

Deno.test(
  "an endless output keeps its beginning and end, and the command its limit",
  unix,
  () =>
    inToolProject(async (project) => {
      const before = Deno.memoryUsage().rss;
      const result = await bash(project, { command: "echo first; yes", timeout: 1 });
      assert.equal(result.isError, true);
      assert.match(result.content, /^first\ny\n/);
      assert.match(result.content, /\n\[[\d,]+ bytes omitted; .*\]\n/);
      assert.match(
        result.content,
        /y\n\[ended after 1 s: time limit; a higher timeout allows more, at most 600000 ms\]$/,
      );
      assert.ok(result.content.length < 2 * KEPT_BYTES + 300);
      assert.ok(Deno.memoryUsage().rss - before < 300_000_000);
    }),
);

Deno.test("an interrupt throws its reason", unix, () =>
  inToolProject(async (project) => {
    const stop = new AbortController();
    const running = bash(project, { command: "sleep 1000" }, { signal: stop.signal });
    stop.abort(new Error("interrupted by the user"));
    await assert.rejects(running, /interrupted by the user/);
  }));

Deno.test("a command that leaves something running returns, and says that it was ended", {
  ignore: Deno.build.os !== "linux",
}, () =>
  inToolProject(async (project) => {
    const { content } = await bash(project, { command: "sleep 1000 >/dev/null 2>&1 & echo started" });
    assert.equal(content, "started\n[background processes of the command were ended]");
  }));

Deno.test("no key reaches the command", unix, () =>
  inToolProject(async (project) => {
    const { content } = await bash(project, { command: "env" }, { secretVariables: ["MY_PROVIDER"] });
    assert.doesNotMatch(content, /k1|k2/);
    assert.match(content, /^HOME=\/home\/me$/m);
    assert.match(content, /^TERM=dumb$/m);
  }));

Deno.test("the environment loses keys, telemetry and debug logs, and keeps the rest", () => {
  const gone = [
    "OPENAI_API_KEY",
    "GITHUB_TOKEN",
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "DB_PASSWORD",
    "PGPASSWORD",
    "client_secret",
    "AGENTCLI_HOME",
    "OTEL_DENO",
    "OTEL_EXPORTER_OTLP_ENDPOINT",
    "SSLKEYLOGFILE",
    "NODE_DEBUG",
    "NODE_DEBUG_NATIVE",
    "DENO_LOG",
    "MY_PROVIDER",
  ];
  const kept = ["PATH", "HOME", "LANG", "NODE_OPTIONS", "DENO_DIR", "KEYBOARD", "SSH_AUTH_SOCK", "VIRTUAL_ENV"];
  const environment = Object.fromEntries([...gone, ...kept].map((name) => [name, "x"]));
  const names = Object.keys(childEnvironment(environment, ["my_provider"]));
  assert.deepEqual(names.filter((name) => gone.includes(name)), []);
  assert.deepEqual(names.filter((name) => kept.includes(name)), kept);
});

Deno.test("a project with protected paths refuses commands and says what to use", () =>
  inToolProject(async (project) => {
    const result = await bash(project, { command: "touch ran" });
    assert.equal(result.isError, true);
    assert.match(result.content, /refused.*protected.*Read, Grep and Glob/);
    await assert.rejects(Deno.stat(`${project.root}/ran`), Deno.errors.NotFound);
  }, { marker: "no-cloud: .env\n" }));

Deno.test("a command that cannot be given to a shell is refused with what to do instead", () =>
  inToolProject(async (project) => {
    assert.match((await bash(project, { command: " " })).content, /empty/);
    assert.match((await bash(project, { command: "a\0b" })).content, /NUL/);
    assert.match((await bash(project, { command: "x".repeat(1_000_000) })).content, /Write it to a file/);
  }));

Deno.test("a short output is kept whole, a long one loses its middle between characters", () => {
  const short = new BoundedOutput(2 * KEPT_BYTES);
  const text = "é".repeat(KEPT_BYTES);
  for (const byte of new TextEncoder().encode(text)) short.add(Uint8Array.of(byte));
  assert.equal(short.text(), text);
  const long = new BoundedOutput(2 * KEPT_BYTES);
  long.add(new TextEncoder().encode("x" + "é".repeat(KEPT_BYTES * 3)));
  assert.match(long.text(), /^xé+\n\[40,96\d bytes omitted; [^\]]*\]\né+$/);
  const many = new BoundedOutput(2 * KEPT_BYTES);
  for (let line = 0; line < 20_000; line++) many.add(new TextEncoder().encode(`line ${line}\n`));
  assert.ok(many.text().startsWith("line 0\n"));
  assert.ok(many.text().endsWith("line 19998\nline 19999\n"));
});

Deno.test(
  "a command is read as a shell reads it, and nothing of it is left behind",
  unix,
  () =>
    inToolProject(async (project) => {
      const run = async (command: string) => (await bash(project, { command })).content;
      assert.match(await run("echo $#; set | grep '^_[cl]='; cat; echo $0; : | cat"), /^0\n\/[^\n]*sh$/);
      assert.equal(await run("cat <<'E'\n  a\\\n\tb\nE\n# c\nexit 3"), "  a\\\n\tb\n[exit code 3]");
      assert.match(
        await run("echo $LINENO\necho $LINENO\nnowhere-1"),
        /^1\n2\n.*line 3: nowhere-1: .*not found\n\[exit code 127\]$/,
      );
      assert.match(await run("if"), /syntax error[^]*\[exit code [12]\]/);
      assert.equal(await run("echo a \\"), "a");
      const long = Array.from({ length: 2_000 }, (_, index) => `: line-${index} is here`).join("\n");
      assert.equal(await run(`${long}\necho ok`), "ok");
    }),
);

for (const missing of [true, false]) {
  const does = missing ? "runs where the machine can make none" : "is refused where none can be made for it";
  Deno.test(
    `a remote model's command that needs a sandbox for other projects ${does}`,
    unix,
    () =>
      inToolProject(async (project) => {
        const { workspace } = project.context;
        const sandbox: ToolContext["sandbox"] = {
          settings: { mode: "auto", network: false, read: [], write: [], env: [] },
          shown: new Set(),
          protectsElsewhere: () => Promise.resolve(true),
          recoverUnfinished: () => Promise.resolve([]),
          wrapCommand: () =>
            Promise.resolve({ kind: "refused", reason: "no way", hint: "ask", ...missing ? { missing } : {} }),
        };
        assert.ok(!workspace.local, "control: the model is remote");
        const { content, isError } = await bash(project, { command: "echo ran" }, { sandbox });
        assert.equal(isError, !missing);
        assert.match(
          content,
          missing ? /^ran$/ : /not run: other projects of the user have protected paths, and no way/,
        );
      }, { local: false }),
  );
}
