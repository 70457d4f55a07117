/**
 * Threats 51, 52, 54, 55, 56 and 101: where sandboxes are made, what they cover, and what they keep from being written.
 */
import assert from "node:assert/strict";
import { ProtectedSet } from "../../src/boundary/policy/protected.ts";
import { createSessionSandbox } from "../../src/boundary/sandbox/sandbox.ts";
import { trustedProgram } from "../../src/boundary/sandbox/backend.ts";
import { hasBubblewrap, holdsCanary, inSandboxProject, refusal, sandboxIo } from "./sandbox_project.ts";

const bubblewrap = { ignore: !hasBubblewrap() };

Deno.test("without a program that makes a sandbox the command is refused, with what to install", {
  ignore: Deno.build.os !== "linux",
}, () =>
  inSandboxProject(async (project) => {
    const { reason, hint } = await refusal(project.sandbox, await project.request("touch ran"));
    assert.match(reason, /neither bubblewrap nor unshare/);
    assert.match(hint, /install bubblewrap/);
    assert.equal(project.read("ran"), null);
  }, { programs: ["/nowhere"] }));

Deno.test("on Windows the command is refused", async () => {
  const sandbox = createSessionSandbox({
    io: { os: "windows", env: () => undefined },
    settings: { mode: "auto", network: false, read: [], write: [], env: [] },
    home: "C:/home",
    roots: ["C:/p"],
  });
  const request = {
    root: "C:/p",
    additional: [],
    cwd: "C:/p",
    argv: ["x"] as [string],
    env: {},
    protection: new ProtectedSet([]),
    git: false,
    network: false,
  };
  assert.match((await refusal(sandbox, request)).reason, /Windows/);
});

Deno.test(
  "a program that lets everything through does not pass the canary, and nothing is tried where it goes",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      // A root-owned impostor that only runs what comes after the two dashes.
      const directory = `${project.base}/impostor`;
      const marker = `${project.base}/elsewhere/.agentclisecret`;
      project.write(marker, "no-cloud: x\n");
      project.write(
        `${directory}/bwrap`,
        '#!/bin/bash\nwhile [ "$1" != -- ]; do shift; done; shift; cd "${0%/*}/../elsewhere"; exec "$@"\n',
      );
      await Deno.chmod(`${directory}/bwrap`, 0o755);
      const sandbox = createSessionSandbox({
        io: sandboxIo(`${directory}:/usr/bin`, project.userHome),
        settings: project.sandbox.settings,
        home: project.home,
        roots: [project.root],
        programs: [directory],
      });
      assert.match(
        (await refusal(sandbox, await project.request("cat .env"))).reason,
        /no sandbox can be made here|neither/,
      );
      assert.equal(project.read(marker), "no-cloud: x\n");
    }),
);

Deno.test("a program on PATH, in the project, or that others can write is never taken", {
  ignore: Deno.build.os !== "linux",
}, () =>
  inSandboxProject(async (project) => {
    project.write("bin/bwrap", '#!/bin/sh\necho taken > "$0.ran"\n');
    await Deno.chmod(`${project.root}/bin/bwrap`, 0o777);
    assert.equal(trustedProgram("bwrap", { places: [`${project.root}/bin`] }), null);
    await Deno.chmod(`${project.root}/bin/bwrap`, 0o755);
    assert.equal(trustedProgram("bwrap", { places: [`${project.root}/bin`], owner: 4_000_000 }), null);
    await Deno.chmod(`${project.root}/bin`, 0o777);
    assert.equal(trustedProgram("bwrap", { places: [`${project.root}/bin`], owner: Deno.uid() ?? 0 }), null);
    await project.sandbox.wrapCommand(await project.request("true"));
    assert.equal(project.read("bin/bwrap.ran"), null);
  }, { path: "bin:./bin:/usr/bin:/bin" }));

Deno.test(
  "a protected path that is a link, missing, or below a link hides where it leads",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      const { root, canary } = project;
      project.write("real/hidden.txt", canary);
      project.write("store/data/x.txt", canary);
      await Deno.symlink("real/hidden.txt", `${root}/link`);
      await Deno.symlink("store", `${root}/alias`);
      await Deno.symlink("nowhere", `${root}/dangling`);
      await Deno.symlink("circle", `${root}/circle`);
      const hide = {
        files: [`${root}/link`, `${root}/missing`, `${root}/dangling`, `${root}/circle`],
        directories: [`${root}/alias/data`, `${root}/gone`],
      };
      const command = "cat link real/hidden.txt alias/data/x.txt store/data/x.txt; cat pub.txt";
      const { text } = await project.sandboxed(command, { hide });
      assert.match(text, /PUB/);
      assert.ok(!holdsCanary(text, canary), text);
      assert.ok(holdsCanary(await project.unsandboxed(command), canary));
      assert.equal(project.read("missing"), null);
      assert.equal(project.read("gone"), null);
    }),
);

Deno.test(
  "what appears later in a protected directory is hidden too, and one mount covers 2,000 files",
  { ...bubblewrap, timeout: 60_000 },
  () =>
    inSandboxProject(async (project) => {
      for (let at = 0; at < 2_000; at++) project.write(`secrets/many/f${at}`, project.canary);
      await project.sandboxed("true");
      const running = project.sandboxed("sleep 0.3; cat secrets/late secrets/many/f1");
      project.write("secrets/late", project.canary);
      const { text } = await running;
      assert.match(text, /Permission denied/);
      assert.ok(!holdsCanary(text, project.canary));
      const request = await project.request("true");
      const sandboxed = await project.sandbox.wrapCommand(request);
      assert.ok(sandboxed.kind === "ready");
      assert.equal(Object.values(sandboxed.env).join("").split("\\00000000\\0000").length, 2);
    }),
);

Deno.test(
  "500 protected files run in less than the limit of a command",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      const files = Array.from({ length: 500 }, (_, at) => `${project.root}/lines/f${at}`);
      for (const file of files) project.write(file, project.canary);
      const { text } = await project.sandboxed("cat lines/*; cat pub.txt", { hide: { files } });
      assert.match(text, /PUB/);
      assert.ok(!holdsCanary(text, project.canary));
    }),
);

Deno.test(
  "a file that is replaced while the command runs is reported",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      await project.sandboxed("true");
      const sandboxed = await project.sandbox.wrapCommand(await project.request("true"));
      assert.ok(sandboxed.kind === "ready");
      project.write("new", project.canary);
      await Deno.rename(`${project.root}/new`, `${project.root}/.env`);
      assert.deepEqual((await sandboxed.look()).exposed, [`${project.root}/.env`]);
    }),
);

Deno.test(
  "markers, hooks and their kind keep their bytes, and new ones are moved to quarantine",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.git("init", "-q");
      project.write(".git/hooks/pre-commit", "mine");
      project.write(".ide/hooks/run.sh", "mine");
      project.write(".mcp.json", "mine");
      const kept = [".agentclisecret", ".git/hooks/pre-commit", ".git/config", ".ide/hooks/run.sh", ".mcp.json"];
      const before = kept.map(project.read);
      const made = [
        ".git/hooks/post-commit",
        ".git/commondir",
        ".ide/hooks.json",
        ".ide/hooks/other.sh",
        ".claude/settings.json",
        ".cursor/mcp.json",
        "mcp_config.json",
      ];
      const command = [
        ...kept.flatMap((name) => [`echo x > ${name}`, `echo x >> ${name}`, `rm -f ${name}`, `mv new ${name}`]),
        "rm -rf .git .ide; mv .git g2; mv .ide i2; mv .git/hooks h2; git config core.fsmonitor ./evil",
        ...made.map((name) => `mkdir -p $(dirname ${name}); echo x > ${name}`),
        "ln -s ../pub.txt .ide/mcp.json; mkdir -p evil; echo x > evil/hooks.json; ln -s evil .evil",
        "mkdir -p $HOME/.agentcli $HOME/.ssh; echo x > $HOME/.agentcli/new; echo x > $HOME/.ssh/config; echo x > $HOME/.bashrc",
      ].join("\n");
      const { report } = await project.sandboxed(command);
      assert.deepEqual(kept.map(project.read), before);
      assert.deepEqual(made.filter((name) => project.read(name) !== null), []);
      assert.equal(project.read(".ide/mcp.json"), null);
      assert.equal(project.read(".evil/hooks.json"), null);
      const id = report.quarantined?.id ?? "";
      const paths = report.quarantined?.paths ?? [];
      for (const name of [".claude", ".cursor", "mcp_config.json", ".ide/mcp.json", ".evil"]) {
        const index = paths.indexOf(`${project.root}/${name}`);
        assert.ok(index >= 0, `${name} is not among ${paths}`);
        assert.ok(Deno.lstatSync(`${project.home}/quarantine/${id}/${index}`));
      }
      for (const name of [".agentcli/new", ".ssh/config", ".bashrc"]) {
        assert.equal(project.read(`${project.userHome}/${name}`), null);
      }
      assert.equal(project.read(`${project.home}/providers.yaml`), `A=${project.canary}\n`);
      assert.equal(project.read("pub.txt"), "PUB\n");
    }),
);

Deno.test(
  "a marker that a command makes stays: it can only tighten",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      const { report } = await project.sandboxed("mkdir sub; echo 'no-cloud: x' > sub/.agentclisecret");
      assert.equal(project.read("sub/.agentclisecret"), "no-cloud: x\n");
      assert.equal(report.quarantined, null);
    }),
);

Deno.test(
  "what a link leads to outside of the project is never removed",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.write(`${project.base}/elsewhere/hooks.json`, "theirs");
      await project.sandboxed(`ln -s ${project.base}/elsewhere .ide`);
      assert.equal(project.read(`${project.base}/elsewhere/hooks.json`), "theirs");
    }),
);

Deno.test(
  "the tool's home is hidden where it lies in the project",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      const { text } = await project.sandboxed(
        "cat .tool/providers.yaml; ls .tool; echo x > .tool/new; mv .tool t2; cat pub.txt",
      );
      assert.match(text, /PUB/);
      assert.ok(!holdsCanary(text, project.canary), text);
      assert.equal(project.read(".tool/new"), null);
      assert.equal(project.read(".tool/providers.yaml"), `A=${project.canary}\n`);
    }, { home: "project/.tool" }),
);

Deno.test("a project that is protected as a whole runs nothing", bubblewrap, () =>
  inSandboxProject(async (project) => {
    const hide = { files: [], directories: [project.root] };
    assert.match(
      (await refusal(project.sandbox, await project.request("true", { hide })))
        .reason,
      /whole project/,
    );
  }));

Deno.test(
  "directories of PATH and of the settings are there, without what is protected in them",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      const { base, canary } = project;
      project.write(`${base}/tools/bin/hello`, "#!/bin/sh\necho hello\n");
      project.write(`${base}/user/bin/hi`, "#!/bin/sh\necho hi\n");
      for (const file of ["tools/bin/hello", "user/bin/hi"]) await Deno.chmod(`${base}/${file}`, 0o755);
      project.write(`${base}/user/notes.txt`, canary);
      project.write(`${base}/cache/x`, "cached\n");
      project.write(`${base}/out/y`, "before");
      project.write(`${base}/sibling/.agentclisecret`, "no-cloud: key\n");
      project.write(`${base}/sibling/key`, canary);
      project.write(`${base}/sibling/open`, "sibling\n");
      const found = await import("../../src/boundary/sandbox/sandbox.ts");
      const sandbox = found.createSessionSandbox({
        io: sandboxIo(`${base}/tools/bin:${base}/user/bin:${base}/user:${base}:.:/usr/bin:/bin`, project.userHome),
        settings: {
          mode: "auto",
          network: false,
          read: [`${base}/cache`, `${base}/sibling`, base, project.home, "relative"],
          write: [`${base}/out`, project.userHome],
          env: [],
        },
        home: project.home,
        roots: [project.root],
      });
      const command = `hello; hi; cat "${base}/cache/x"; echo after > "${base}/out/y"; echo no > "${base}/cache/x";` +
        `cat "${base}/sibling/open" "${base}/sibling/key" "${base}/user/notes.txt" "${project.home}/providers.yaml"`;
      const env = { PATH: `${base}/tools/bin:${base}/user/bin:/usr/bin:/bin`, HOME: project.userHome };
      const sandboxed = await sandbox.wrapCommand(await project.request(command, { env }));
      assert.ok(sandboxed.kind === "ready");
      const { argv: [program, ...args], env: given } = sandboxed;
      const { stdout } = await new Deno.Command(program, { args, clearEnv: true, env: given }).output();
      assert.equal(new TextDecoder().decode(stdout), "hello\nhi\ncached\nsibling\n");
      assert.equal(project.read(`${base}/out/y`), "after\n");
      assert.equal(project.read(`${base}/cache/x`), "cached\n");
      assert.equal(sandboxed.notices.length, 4, sandboxed.notices.join("\n"));
    }),
);

Deno.test(
  "a bound directory cannot bring in a hard link to a protected file",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.write(`${project.base}/cache/x`, "");
      await Deno.link(`${project.root}/.env`, `${project.base}/cache/env`);
      const sandbox = createSessionSandbox({
        io: sandboxIo("/usr/bin:/bin", project.userHome),
        settings: { mode: "auto", network: false, read: [`${project.base}/cache`], write: [], env: [] },
        home: project.home,
        roots: [project.root],
      });
      const sandboxed = await sandbox.wrapCommand(
        await project.request(`cat "${project.base}/cache/env"; ls "${project.base}/cache"`),
      );
      assert.ok(sandboxed.kind === "ready");
      const { argv: [program, ...args], env: given } = sandboxed;
      const { stdout } = await new Deno.Command(program, { args, clearEnv: true, env: given }).output();
      assert.equal(new TextDecoder().decode(stdout), "env\nx\n");
    }),
);

Deno.test("below sandbox.write a marker and the programs of PATH stay as they are", bubblewrap, async () => {
  const place = await Deno.realPath(await Deno.makeTempDir());
  try {
    await Deno.mkdir(`${place}/tools/bin`, { recursive: true });
    await Deno.writeTextFile(`${place}/tools/bin/tool`, "old");
    await Deno.writeTextFile(`${place}/.agentclisecret`, "no-cloud: .env\n");
    const changes = `cd "${place}"; echo new > tools/bin/tool; echo new > tools/bin/git; mv tools moved; ` +
      "echo > .agentclisecret; rm -f .agentclisecret; mv .agentclisecret gone; echo written > open.txt";
    const read = `cat "${place}/.env"`;
    const names = async () => [...await Array.fromAsync(Deno.readDir(`${place}/tools/bin`))].map(({ name }) => name);
    const choice = { settings: { write: [place] }, path: `${place}/tools/bin:/usr/bin:/bin` };
    await inSandboxProject(async ({ canary, sandboxed }) => {
      await Deno.writeTextFile(`${place}/.env`, canary);
      await sandboxed(changes);
      assert.deepEqual(await names(), ["tool"]);
      assert.equal(await Deno.readTextFile(`${place}/tools/bin/tool`), "old");
      assert.equal(await Deno.readTextFile(`${place}/open.txt`), "written\n", "control: the place can be written");
    }, choice);
    await inSandboxProject(async ({ canary, sandboxed, unsandboxed }) => {
      await Deno.writeTextFile(`${place}/.env`, canary);
      assert.ok(!holdsCanary((await sandboxed(read)).text, canary), "the marker holds for the next session");
      assert.ok(holdsCanary(await unsandboxed(read), canary), "control");
    }, choice);
  } finally {
    await Deno.remove(place, { recursive: true });
  }
});

Deno.test(
  "settings of editors and assistants that a command makes are moved to quarantine",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      const paths = [
        ".vscode/settings.json",
        "app.code-workspace",
        "sub/crush.json",
        ".kiro/hooks/x",
        ".helix/config.toml",
      ];
      const make = paths.map((path) => `mkdir -p $(dirname ${path}); echo x > ${path}`).join("; ");
      await project.sandboxed(`${make}; echo x > plain.json`);
      for (const path of paths) assert.equal(project.read(path), null, path);
      assert.equal(project.read("plain.json"), "x\n", "control");
    }),
);

Deno.test(
  "what the user makes while a command runs is not lost",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      const sandboxed = await project.sandbox.wrapCommand(await project.request("true"));
      assert.ok(sandboxed.kind === "ready");
      project.write("upstream/README", "theirs\n");
      project.git("init", "-q", "upstream");
      project.write(".gitmodules", "[submodule]\n");
      project.write("notes.txt", "notes\n");
      project.write(".agentclisecret2", "x\n");
      const quarantined = await sandboxed.quarantine((await sandboxed.look()).planted);
      assert.deepEqual(quarantined?.paths.toSorted(), [`${project.root}/.gitmodules`, `${project.root}/upstream/.git`]);
      assert.equal(project.read("upstream/README"), "theirs\n");
      const { restoreQuarantined } = await import("../../src/cli/quarantine.ts");
      assert(quarantined);
      const { restored } = await restoreQuarantined(project.home, quarantined);
      assert.equal(restored.length, 2);
      assert.equal(project.read(".gitmodules"), "[submodule]\n");
      assert.match(project.git("-C", "upstream", "status", "--porcelain"), /README/);
      // Who put it back allowed it: it stays, and no command can change it.
      const { report } = await project.sandboxed("echo evil > .gitmodules");
      assert.equal(report.quarantined, null);
      assert.equal(project.read(".gitmodules"), "[submodule]\n");
    }),
);
