/** The Bash tool in a project with protected paths. */
import assert from "node:assert/strict";
import { findMarkers } from "../../src/boundary/policy/path_rules.ts";
import { openWorkspace } from "../../src/boundary/workspace/disk.ts";
import { bashTool } from "../../src/tools/bash/tool.ts";
import type { ToolContext } from "../../src/tools/tool.ts";
import { hasBubblewrap, holdsCanary, inSandboxProject, type SandboxProject } from "./sandbox_project.ts";

const bubblewrap = { ignore: !hasBubblewrap() };

async function contextOf(project: SandboxProject, options: { local: boolean }): Promise<ToolContext> {
  const { root, home, userHome } = project;
  const environment = { PATH: "/usr/bin:/bin", HOME: userHome, SOME_API_KEY: project.canary };
  const provider = { ...options, name: "test" };
  const localEndpoints = findMarkers(root).standingEndpoints;
  return {
    workspace: await openWorkspace({ root, additional: [], cwd: root, home, localEndpoints, provider }),
    memory: { files: new Map(), warned: new Set(), failedEdits: new Map(), todos: [] },
    resultBytes: 100_000,
    signal: new AbortController().signal,
    sandbox: project.sandbox,
    sessionLabel: "open",
    io: {
      env: (name) => ({ ...environment }[name]),
      environment: () => environment,
      os: "linux",
      clock: { now: () => 0, monotonic: () => 0, sleep: () => Promise.resolve() },
    },
    secretVariables: [],
  };
}

for (const local of [true, false]) {
  Deno.test(
    `Bash runs in the sandbox for a ${local ? "local" : "remote"} model`,
    bubblewrap,
    () =>
      inSandboxProject(async (project) => {
        const context = await contextOf(project, { local });
        await Deno.link(`${project.root}/.env`, `${project.root}/other`);
        const command = "cat pub.txt; cat .env secrets/k.txt deep/down/key other; env; ls -A";
        const { content, label } = await bashTool.run({ command }, context);
        assert.match(content, /^PUB\n/);
        assert.match(content, /Permission denied/);
        assert.ok(!holdsCanary(content, project.canary), content);
        assert.equal(label, "open");
      }),
  );
}

Deno.test("Bash without a sandbox is refused where paths are protected", () =>
  inSandboxProject(async (project) => {
    const context = { ...await contextOf(project, { local: false }), sandbox: undefined };
    const { content, isError } = await bashTool.run({ command: "touch ran" }, context);
    assert.ok(isError);
    assert.match(content, /refused/);
    assert.equal(project.read("ran"), null);
  }));

Deno.test(
  "Bash says why there is no sandbox and what to install",
  { ignore: Deno.build.os !== "linux" },
  () =>
    inSandboxProject(async (project) => {
      const { content, isError } = await bashTool.run(
        { command: "touch ran" },
        await contextOf(project, { local: true }),
      );
      assert.ok(isError);
      assert.match(content, /not run: .*neither bubblewrap.*install bubblewrap/);
      assert.equal(project.read("ran"), null);
    }, { programs: ["/nowhere"] }),
);

Deno.test(
  "output is redacted when a protected path appears or is replaced meanwhile",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      const context = await contextOf(project, { local: false });
      await bashTool.run({ command: "true" }, context);
      const made = await bashTool.run({
        command: "mkdir -p deep/new; echo x > deep/new/.env; rm -rf deep/new; echo ok",
      }, context);
      assert.equal(made.content, "ok");
      const running = bashTool.run({ command: "sleep 0.4; cat .env" }, context);
      await new Promise((resolve) => setTimeout(resolve, 200));
      project.write("new", `A=${project.canary}\n`);
      await Deno.rename(`${project.root}/new`, `${project.root}/.env`);
      const { content, isError } = await running;
      assert.ok(isError);
      assert.match(content, /redacted/);
      assert.ok(!holdsCanary(content, project.canary), content);
    }),
);

Deno.test("a time limit ends everything in the sandbox", bubblewrap, () =>
  inSandboxProject(async (project) => {
    const context = await contextOf(project, { local: true });
    const length = `1${crypto.getRandomValues(new Uint32Array(1)).join("")}`;
    const command = `(setsid sleep ${length} &) ; sleep ${length} & sleep ${length}`;
    const result = await bashTool.run({ command, timeout: 1_000 }, context);
    assert.match(result.content, /ended after 1 s/);
    const { stdout } = await new Deno.Command("/bin/ps", { args: ["-A", "-o", "stat=,args="] }).output();
    assert.deepEqual(new TextDecoder().decode(stdout).split("\n").filter((line) => line.includes(length)), []);
    await bashTool.run({ command: `setsid sleep ${length} >/dev/null 2>&1 & echo gone` }, context);
    const after = await new Deno.Command("/bin/ps", { args: ["-A", "-o", "stat=,args="] }).output();
    assert.deepEqual(new TextDecoder().decode(after.stdout).split("\n").filter((line) => line.includes(length)), []);
  }));

Deno.test(
  "a model is told what its command could not find: git has a tool, and the network is not there",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.git("init", "-q");
      const context = await contextOf(project, { local: false });
      const run = async (command: string, timeout?: number) =>
        (await bashTool.run({ command, ...timeout === undefined ? {} : { timeout } }, context)).content;
      assert.match(await run("git status"), /\[commands do not see \.git here: use the Git tool\]/);
      for (const line of ["git push", "cd . && git --no-pager push -u origin main"]) {
        assert.match(await run(line), /\[commands do not see \.git here: only the user can run git push\]/);
      }
      assert.match(
        await run("echo 'getaddrinfo EAI_AGAIN registry.example'; exit 1"),
        /\[commands have no network here\]/,
      );
      assert.match(await run("sleep 20", 1_000), /time limit.*\]\n\[commands have no network here\]/);
      assert.doesNotMatch(await run("echo not a git repository, EAI_AGAIN"), /\[commands/, "it did not fail");
      assert.match(await run("echo $npm_config_fetch_retries"), /^0/);
    }),
);

Deno.test("a crash leaves no core file", bubblewrap, () =>
  inSandboxProject(async (project) => {
    const context = await contextOf(project, { local: true });
    const { content } = await bashTool.run({ command: "ulimit -c; kill -ABRT $$" }, context);
    assert.match(content, /^0\n/);
  }));

Deno.test(
  "with sandbox.mode always a project without a marker is sandboxed too",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      await Deno.remove(`${project.root}/.agentclisecret`);
      const context = await contextOf(project, { local: true });
      const command = `cat "${project.home}/providers.yaml"; cat pub.txt`;
      const { content } = await bashTool.run({ command }, context);
      assert.match(content, /PUB/);
      assert.ok(!holdsCanary(content, project.canary), content);
      const auto = {
        ...context,
        sandbox: { ...project.sandbox, settings: { ...project.sandbox.settings, mode: "auto" as const } },
      };
      assert.ok(holdsCanary((await bashTool.run({ command }, auto)).content, project.canary));
    }, { settings: { mode: "always" } }),
);

/** Makes a program in the user's home, and a link to it in the project. */
async function linkTool(project: SandboxProject): Promise<void> {
  const tool = `${project.userHome}/tools/lib/tool`;
  project.write(tool, "#!/bin/sh\necho ran\n");
  await Deno.chmod(tool, 0o755);
  await Deno.symlink(tool, `${project.root}/tool`);
}

Deno.test(
  "a program that the sandbox hides is named with its setting to the user, and not to the model",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      await linkTool(project);
      const context = await contextOf(project, { local: false });
      const notices: string[] = [];
      const noticing = { ...context, notify: (text: string) => void notices.push(text) };
      for (const _ of [1, 2]) {
        const { content } = await bashTool.run({ command: "./tool" }, noticing);
        assert.match(content, /tool: No such file or directory\n\[exit code 127\]$/);
        assert.doesNotMatch(content, /sandbox\.read|tools\/lib/);
      }
      assert.equal(notices.length, 1, notices.join("\n"));
      assert.ok(notices[0]?.includes(`agentcli config set sandbox.read ${project.userHome}/tools/lib `), notices[0]);
    }),
);

Deno.test(
  "with the setting that the notice names, the program runs",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      await linkTool(project);
      const context = await contextOf(project, { local: false });
      assert.equal((await bashTool.run({ command: "./tool" }, context)).content, "ran");
    }, { settings: { read: ["~/tools/lib"] } }),
);
