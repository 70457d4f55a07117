/** The view of a command fails closed: what cannot be judged, and what is protected anywhere, is not there. */
import { say } from "../helpers/fake_server.ts";
import { plainDirectory } from "../helpers/plain_directory.ts";
import { configure, runProgram } from "../helpers/program.ts";
import { openStage } from "./harness.ts";
import assert from "node:assert/strict";
import { ProtectedSet } from "../../src/boundary/policy/protected.ts";
import {
  hasBubblewrap,
  holdsCanary,
  inSandboxProject,
  refusal,
  sandboxIo,
  type SandboxProject,
  start,
} from "./sandbox_project.ts";

const bubblewrap = { ignore: !hasBubblewrap() };
const asRoot = { ignore: !hasBubblewrap() || Deno.uid() !== 0 };

/** A command in the sandbox, its notices with it. */
async function notices(project: SandboxProject, command: string): Promise<{ text: string; notices: string[] }> {
  const request = await project.request(command);
  const sandboxed = await project.sandbox.wrapCommand(request);
  if (sandboxed.kind === "refused") throw new Error(`refused: ${sandboxed.reason}`);
  const { text } = await start(sandboxed.argv, sandboxed);
  return { text, notices: sandboxed.notices };
}

/** As a shell writes it: a name in latin-1. */
const LATIN = "$'cl\\xe9'";

Deno.test(
  "a name that is not UTF-8 takes its directory with it, and that is said once",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.write(".agentclisecret", "no-cloud: .env\nno-cloud: *.pem\nno-cloud: **/.env\n");
      project.write("keys/open.txt", "open\n");
      project.write("other/open.txt", "other\n");
      await project.unsandboxed(`cd keys; printf %s "A=${project.canary}" > ${LATIN}.pem`);
      const command = "cat keys/*.pem keys/*; chmod 700 keys; mv keys k2; cat k2/*; cat other/open.txt";
      const { text, notices: told } = await notices(project, command);
      assert.ok(!holdsCanary(text, project.canary), text);
      assert.match(text, /other\n/);
      assert.deepEqual(told, [`commands do not see ${project.root}/keys: it holds a name that is not UTF-8`]);
      assert.deepEqual((await notices(project, "true")).notices, []);
      assert.ok(holdsCanary(await project.unsandboxed("cat keys/*.pem"), project.canary), "the control shows nothing");
    }),
);

Deno.test(
  "what stands below a name that is not UTF-8 is not there either",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.write(".agentclisecret", "no-cloud: **/.env\nno-cloud: secrets\nno-cloud: deep\n");
      project.write("in/open.txt", "open\n");
      await project.unsandboxed(
        `mkdir -p in/${LATIN}/deep in/$'\\xff'; echo "A=${project.canary}" > in/${LATIN}/deep/.env
       echo "A=${project.canary}" > in/$'\\xff'/key; echo 'no-cloud: key' > in/$'\\xff'/.agentclisecret`,
      );
      const command = "find . -type f -exec cat {} +; cat in/*/.env in/*/*/.env in/*/key; grep -r . .";
      const { text } = await project.sandboxed(command);
      assert.ok(!holdsCanary(text, project.canary), text);
      assert.ok(holdsCanary(await project.unsandboxed(command), project.canary));
    }),
);

Deno.test(
  "such a name at the top leaves nothing to run in, and says what to do",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      await project.unsandboxed(`touch ${LATIN}`);
      const { reason, hint } = await refusal(project.sandbox, await project.request("true"));
      assert.match(reason, /holds a name that is not UTF-8/);
      assert.match(hint, /rename/);
    }),
);

Deno.test(
  "a hard link to a protected file that cannot be looked at is not read",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      await project.unsandboxed(
        `printf %s ${project.canary} > secrets/${LATIN}; ln secrets/${LATIN} open.txt; echo x > plain`,
      );
      const protection = new ProtectedSet([project.root]);
      const ruleOf = (name: string) => {
        const info = Deno.lstatSync(`${project.root}/${name}`);
        const status = { device: info.dev, inode: info.ino ?? 0, links: info.nlink ?? 1, born: 0 };
        // deno-lint-ignore no-explicit-any -- only what tells one file from another
        return protection.ruleOfFile(status as any, `${project.root}/${name}`);
      };
      protection.refresh();
      assert.notEqual(ruleOf("open.txt"), null);
      assert.equal(ruleOf("plain"), null);
    }),
);

Deno.test(
  "a path that is too long takes the last directory that can be named",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.write(".agentclisecret", "no-cloud: **/.env\n");
      const name = "d".repeat(200);
      // Nobody can name it at once; a command goes there step by step.
      const down = `for i in $(seq 30); do cd ${name} || break; done`;
      await project.unsandboxed(
        `for i in $(seq 30); do mkdir ${name}; cd ${name}; done; echo "A=${project.canary}" > .env`,
      );
      const command = `${down}; cat .env; cat ./*`;
      const { text, notices: told } = await notices(project, command);
      assert.ok(!holdsCanary(text, project.canary), text);
      assert.match(told.join("\n"), /d{200}: it holds paths that are too long/);
      assert.ok(holdsCanary(await project.unsandboxed(command), project.canary));
      await project.unsandboxed(`${down}; rm .env; for i in $(seq 30); do cd ..; rmdir ${name}; done`);
    }),
);

Deno.test("sockets and FIFOs of the project are not there", bubblewrap, () =>
  inSandboxProject(async (project) => {
    const path = `${project.root}/run/server.sock`;
    await Deno.mkdir(`${project.root}/run`);
    using listener = Deno.listen({ transport: "unix", path });
    let answered = 0;
    const serving = (async () => {
      for await (const connection of listener) {
        answered++;
        await connection.write(new TextEncoder().encode(project.canary));
        connection.close();
      }
    })().catch(() => {});
    await project.unsandboxed("mkfifo run/fifo");
    const client =
      `python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); s.connect("run/server.sock"); print(s.recv(100))'`;
    const command = `${client}; mv run r2; cd r2 && timeout 1 sh -c 'echo x > fifo; cat fifo'; rm -f fifo; ls -l`;
    const { text } = await project.sandboxed(command);
    assert.ok(!holdsCanary(text, project.canary), text);
    assert.equal(answered, 0);
    assert.ok(Deno.lstatSync(`${project.root}/run/fifo`).isFifo);
    assert.ok(holdsCanary(await project.unsandboxed(client), project.canary));
    listener.close();
    await serving;
  }, { plain: true }));

/** Places outside of the project that a view shows, and how a protected file comes to lie there. */
const OUTSIDE: Record<string, (project: SandboxProject, place: string) => Promise<void>> = {
  "a link leads there": async ({ root, canary }, place) => {
    await Deno.writeTextFile(`${place}/app.env`, `A=${canary}\n`);
    await Deno.remove(`${root}/.env`);
    await Deno.symlink(`${place}/app.env`, `${root}/.env`);
  },
  "a directory that a link leads to lies there": async ({ root, canary }, place) => {
    await Deno.writeTextFile(`${place}/app.env`, `A=${canary}\n`);
    await Deno.remove(`${root}/secrets`, { recursive: true });
    await Deno.symlink(place, `${root}/secrets`);
  },
  "a link below a link leads there": async ({ root, canary }, place) => {
    await Deno.writeTextFile(`${place}/app.env`, `A=${canary}\n`);
    await Deno.mkdir(`${root}/conf`);
    await Deno.symlink(`${place}/app.env`, `${root}/conf/x`);
    await Deno.remove(`${root}/.env`);
    await Deno.symlink("conf/x", `${root}/.env`);
  },
  "another name of a protected file stands there": async ({ root }, place) => {
    await Deno.link(`${root}/.env`, `${place}/app.env`);
  },
};

/** Where a view shows more than the project: the settings and the variable that make it so. */
const SHOWN = {
  "a directory of sandbox.read": (place: string) => ({ settings: { read: [place] } }),
  "a directory of sandbox.write": (place: string) => ({ settings: { write: [place] } }),
  "a directory of sandbox.read that is a link": (place: string) => ({ settings: { read: [`${place}-link`] } }),
  "beside a bin of PATH": (place: string) => ({ path: `${place.replace(/\/share$/, "/bin")}:/usr/bin:/bin` }),
  "a directory of PATH": (place: string) => ({ path: `${place}:/usr/bin:/bin` }),
};

for (const [how, make] of Object.entries(OUTSIDE)) {
  for (const [where, choice] of Object.entries(SHOWN)) {
    Deno.test(`${how}, in ${where}: it is covered there`, bubblewrap, async () => {
      // Its paths stand in the commands without quotes.
      const base = await plainDirectory();
      const place = `${base}/tools/share`;
      try {
        await Deno.mkdir(`${base}/tools/bin`, { recursive: true });
        await Deno.mkdir(place);
        await Deno.symlink(place, `${place}-link`);
        await Deno.writeTextFile(`${place}/open.txt`, "OPEN\n");
        await inSandboxProject(async (project) => {
          await make(project, place);
          const command = `cat ${place}/* ${place}-link/*; mv ${place} ${place}2; cat ${place}2/*; ` +
            `umount ${place}/app.env; cat ${place}/app.env; cat ${place}/open.txt`;
          const { text } = await project.sandboxed(command);
          assert.ok(!holdsCanary(text, project.canary), text);
          assert.ok(holdsCanary(await project.unsandboxed(`cat ${place}/app.env`), project.canary));
          // What is not protected there stays, but for a directory that is protected as a whole.
          if (!how.includes("directory") && !where.includes("link")) assert.match(text, /OPEN/);
        }, choice(place));
      } finally {
        await Deno.remove(base, { recursive: true });
      }
    });
  }
}

for (const [how, make] of Object.entries(OUTSIDE)) {
  Deno.test(`${how}, in a directory of the system: it is covered there, or all is`, asRoot, async () => {
    const place = `/usr/local/share/agentcli-test-${crypto.randomUUID()}`;
    await Deno.mkdir(place);
    try {
      await inSandboxProject(async (project) => {
        try {
          await make(project, place);
        } catch (error) {
          // The temporary directory is another file system: no hard link leads there.
          if (how.startsWith("another name")) return;
          throw error;
        }
        if (how.startsWith("a directory")) {
          assert.match((await refusal(project.sandbox, project.request("true"))).reason, /whole project .*the system/);
          return;
        }
        const { text } = await project.sandboxed(`cat ${place}/*; cat pub.txt`);
        assert.ok(!holdsCanary(text, project.canary), text);
        assert.match(text, /PUB/);
        assert.ok(holdsCanary(await project.unsandboxed(`cat ${place}/*`), project.canary));
      });
    } finally {
      await Deno.remove(place, { recursive: true });
    }
  });
}

Deno.test("a marker above a project in a directory of the system covers what it names there", asRoot, async () => {
  const above = `/usr/local/src/agentcli-test-${crypto.randomUUID()}`;
  await Deno.mkdir(`${above}/other`, { recursive: true });
  try {
    await inSandboxProject(async (project) => {
      await Deno.writeTextFile(`${above}/.agentclisecret`, "no-cloud: other\nno-cloud: **/*.key\n");
      for (const name of ["other/x", "y.key"]) await Deno.writeTextFile(`${above}/${name}`, project.canary);
      // The temporary directory may lie on another disk.
      await new Deno.Command("cp", { args: ["-a", project.root, `${above}/app`] }).output();
      await Deno.remove(project.root, { recursive: true });
      await Deno.symlink(`${above}/app`, project.root);
      const protection = new ProtectedSet([`${above}/app`]);
      protection.refresh();
      const { createSessionSandbox } = await import("../../src/boundary/sandbox/sandbox.ts");
      const sandbox = createSessionSandbox({
        io: sandboxIo("/usr/bin:/bin", project.userHome),
        settings: project.sandbox.settings,
        home: project.home,
        roots: [`${above}/app`],
      });
      const request = await project.request(`cat ${above}/other/* ${above}/y.key .env; cat pub.txt`, {
        root: `${above}/app`,
        cwd: `${above}/app`,
        protection,
      });
      const sandboxed = await sandbox.wrapCommand(request);
      assert.ok(sandboxed.kind === "ready");
      const { text } = await start(sandboxed.argv, sandboxed);
      assert.match(text, /PUB/);
      assert.ok(!holdsCanary(text, project.canary), text);
    });
  } finally {
    await Deno.remove(above, { recursive: true });
  }
});

Deno.test(
  "no value of a variable, and no path of a view, stands on a command line",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      const env = { PATH: "/usr/bin:/bin", HOME: project.userHome, TOLD: `value-${project.canary}` };
      for (
        const programs of [
          undefined,
          await import("./sandbox_project.ts").then((all) => all.secondChoice(project.base)),
        ]
      ) {
        if (programs === null) continue;
        const { createSessionSandbox } = await import("../../src/boundary/sandbox/sandbox.ts");
        const sandbox = createSessionSandbox({
          io: sandboxIo("/usr/bin:/bin", project.userHome),
          settings: project.sandbox.settings,
          home: project.home,
          roots: [project.root],
          ...programs === undefined ? {} : { programs },
        });
        const command = `: ${project.base}; echo "[$TOLD]"; touch ready; while [ ! -e go ]; do sleep 0.02; done`;
        const sandboxed = await sandbox.wrapCommand(await project.request(command, { env }));
        assert.ok(sandboxed.kind === "ready");
        const running = start(sandboxed.argv, sandboxed);
        const deadline = performance.now() + 20_000;
        while (project.read("ready") === null && performance.now() < deadline) {
          await new Promise((on) => setTimeout(on, 10));
        }
        // One line per process, and only processes that name this project: other tests run beside this one.
        const all = await project.unsandboxed(
          `for p in /proc/[0-9]*; do tr '\\0\\n' '  ' < "$p/cmdline"; echo; done 2>/dev/null`,
        );
        const lines = all.split("\n").filter((line) => line.includes(project.base)).join("\n");
        project.write("go", "");
        const { text } = await running;
        assert.match(text, /\[value-CNRY_/);
        assert.match(lines, /touch ready/, "the command runs while it is looked at");
        assert.ok(!holdsCanary(lines, project.canary), "a value stands on a command line");
        assert.doesNotMatch(lines, /deep\/down\/key/);
        for (const name of ["ready", "go"]) await Deno.remove(`${project.root}/${name}`);
      }
    }),
);

Deno.test(
  "bubblewrap gets 1,000 covered files, and too many are refused with what to do",
  bubblewrap,
  () =>
    inSandboxProject(async (project) => {
      project.write(".agentclisecret", "no-cloud: **/.env\n");
      for (let at = 0; at < 400; at++) project.write(`d${at % 20}/e${at}/.env`, project.canary);
      const { text } = await project.sandboxed("cat d*/*/.env; cat pub.txt");
      assert.match(text, /PUB/);
      assert.ok(!holdsCanary(text, project.canary));
      for (let at = 400; at < 2_000; at++) project.write(`d${at % 20}/e${at}/.env`, project.canary);
      const { reason, hint } = await refusal(project.sandbox, await project.request("true"));
      assert.match(reason, /would have to be covered or made read-only one by one/);
      assert.match(hint, /whole directories/);
    }),
);

Deno.test("a project at a path of odd characters is one like any other", bubblewrap, async () => {
  for (const programs of [false, true]) {
    await inSandboxProject(async (project) => {
      const odd = `${project.base}/a 'b" $(touch x) \\0 %s * ;&|é\n`;
      await Deno.rename(project.root, odd);
      const protection = new ProtectedSet([odd]);
      protection.refresh();
      const { createSessionSandbox } = await import("../../src/boundary/sandbox/sandbox.ts");
      const second = programs ? await (await import("./sandbox_project.ts")).secondChoice(project.base) : null;
      const sandbox = createSessionSandbox({
        io: sandboxIo("/usr/bin:/bin", project.userHome),
        settings: project.sandbox.settings,
        home: project.home,
        roots: [odd],
        ...second === null ? {} : { programs: second },
      });
      const env = { PATH: "/usr/bin:/bin", HOME: project.userHome, ODD: `a 'b" $(touch y) \\0 %s\n;é` };
      const command = 'cat pub.txt; cat .env secrets/k.txt; echo "$ODD"; echo new > made; ls -a';
      const request = { root: odd, cwd: odd, protection, env };
      const sandboxed = await sandbox.wrapCommand(await project.request(command, request));
      assert.ok(sandboxed.kind === "ready", JSON.stringify(sandboxed));
      const { text } = await start(sandboxed.argv, sandboxed);
      assert.match(text, /^PUB\n/);
      assert.ok(text.includes(env.ODD), text);
      assert.ok(!holdsCanary(text, project.canary), text);
      assert.equal(project.read(`${odd}/made`), "new\n");
      assert.deepEqual([...Deno.readDirSync(odd)].filter(({ name }) => /^[xy]$/.test(name)), []);
      await Deno.rename(odd, project.root);
    });
  }
});

Deno.test(
  "a session of a remote model, doctor and secrets list name what is left out as a whole",
  bubblewrap,
  async () => {
    await using stage = await openStage();
    await Deno.mkdir(`${stage.project}/old`);
    const { success } = await new Deno.Command("/bin/bash", {
      args: ["-c", `touch "${stage.project}/old/"$'cl\\xe9'`],
    }).output();
    assert.ok(success);
    const played = await stage.play("rem", { script: [say("Done.")] });
    assert.match(
      played.done.stderr,
      /hidden from this model: .*; left out whole: 1 directory; .*agentcli secrets list/,
    );
    const said = /old: holds a name that is not UTF-8; commands do not see it/;
    assert.match((await runProgram(["doctor"], { home: stage.home })).stdout, said);
    assert.match((await runProgram(["secrets", "list"], { home: stage.home })).stderr, said);
  },
);

Deno.test("doctor shows what the settings make of the sandbox", bubblewrap, async () => {
  await using stage = await openStage();
  const { home } = stage;
  await configure(home, {}, { sandbox: { mode: "never", network: true } });
  const { stdout } = await runProgram(["doctor"], { home });
  assert.match(
    stdout,
    /sandbox: bubblewrap hides .*sandbox\.mode is never.*; sandbox\.network is true: .*services of this machine/,
  );
});
