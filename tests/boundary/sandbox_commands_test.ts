/** Threats 41 to 47: commands that look for protected content, each with its control. */
import assert from "node:assert/strict";
import { plainDirectory } from "../helpers/plain_directory.ts";
import { hasBubblewrap, holdsCanary, inSandboxProject, type SandboxProject, secondChoice } from "./sandbox_project.ts";

/** Commands that show protected content without a sandbox, and say nothing of it in one. */
const SPELLINGS: readonly string[] = [
  "cat .env",
  "cat secrets/k.txt",
  "cat deep/down/key",
  'cat "$PWD/.env"',
  'f=.env; cat "$f"',
  "cat .e*",
  "cat .en[v]",
  "cat $(echo LmVudg== | base64 -d)",
  "c''at .env",
  "cat secrets/../.env ./deep/../.env",
  "cat */k.txt; cat */*/key",
  "head -1 .env; tail -1 .env; sed -n p .env; awk 1 .env; rev .env | rev; sort .env; nl .env; fold .env; pr .env",
  "dd if=.env 2>/dev/null",
  "od -An -tx1 .env",
  "base64 -w0 .env",
  "tar c . 2>/dev/null | tar xO 2>/dev/null",
  "tar cf - secrets | tr -d '\\0'",
  "bash <.env; date -f .env; . ./.env; echo $A",
  "set -a; source .env; env",
  "diff .env /dev/null",
  "git diff --no-index /dev/null .env",
  "grep -r CNRY .",
  "grep -rl . . | xargs cat",
  "find . -name .env -exec cat {} \\;",
  "find . -type f -print0 | xargs -0 cat",
  "cp .env copy; cat copy; rm -f copy",
  "cp -r . /var/tmp/all; cat /var/tmp/all/.env /var/tmp/all/secrets/k.txt; rm -rf /var/tmp/all",
  "ln -s .env symbolic; cat symbolic; rm -f symbolic",
  "ln .env hard; cat hard; rm -f hard",
  "while read -r l; do echo $l; done < .env",
  "mapfile -t a < .env; echo ${a[0]}",
  "echo $(<.env)",
  "exec 5<.env; cat <&5; cat /proc/self/fd/5",
  "cat /proc/self/cwd/.env /proc/$$/cwd/secrets/k.txt",
  "cat /proc/*/root$PWD/.env; cat /proc/1/root$PWD/.env",
  "cat /proc/*/cwd/.env",
  "mv secrets s2; cat s2/k.txt; mv s2 secrets",
  "mv deep d2; cat d2/down/key; mv d2 deep",
  "mv deep/down deep/d2; cat deep/d2/key; mv deep/d2 deep/down",
  "chmod 777 .env secrets; cat .env secrets/k.txt",
  "(cd secrets && cat k.txt)",
  "cat premade other/premade",
  "python3 -c 'print(open(\".env\").read())'",
  "perl -pe 1 .env",
  "cat ../user/.agentcli/providers.yaml",
];

/** Commands that only do something in a sandbox; they must not bring anything to light. */
const TRICKS: readonly string[] = [
  'umount .env; umount "$PWD/.env"; umount -l secrets; cat .env secrets/k.txt',
  "mkdir -p /tmp/m; mount --bind / /tmp/m; cat /tmp/m$PWD/.env",
  "unshare -Urm sh -c 'umount -l .env; umount -l secrets; cat .env secrets/k.txt'",
  "unshare -Urm sh -c 'mkdir /tmp/x; mount --bind . /tmp/x; cat /tmp/x/.env /tmp/x/secrets/k.txt'",
  "unshare -Urm sh -c 'mkdir /tmp/x; mount --rbind . /tmp/x; umount /tmp/x/.env; cat /tmp/x/.env'",
  "nsenter -t 1 -m cat .env",
  "mv $PWD ${PWD}2; cat ${PWD}2/.env",
  "tr '\\0' '\\n' < /proc/$PPID/environ; tr '\\0' '\\n' < /proc/1/environ; cat /proc/1/mem",
  "for p in /proc/[0-9]*; do timeout 0.2 cat $p/fd/[3-9]* </dev/null; done",
  "rm -f .env; cat .env; rm -rf secrets; ls secrets",
  "debugfs -R 'cat .env' /dev/sda1; ls /dev | grep -E 'sd|vd|nvme' | sed 's,^,/dev/,' | xargs head -c 1M",
  "systemd-run --user --pipe cat .env; echo 'cat .env' | at now; ls /run/user /run/docker.sock /var/run/docker.sock",
  "ssh -o BatchMode=yes localhost cat $PWD/.env",
  "setpriv --reuid 0 cat .env; su -c 'cat .env'; sudo -n cat .env",
];

async function prepare(project: SandboxProject): Promise<void> {
  await Deno.link(`${project.root}/.env`, `${project.root}/premade`);
  project.write("other/x", "");
  await Deno.link(`${project.root}/secrets/k.txt`, `${project.root}/other/premade`);
}

/** Returns what each command shows, one after another in one shell. */
async function shownByEach(commands: readonly string[], run: (script: string) => Promise<string>): Promise<string[]> {
  const mark = `END OF ${crypto.randomUUID()}\n`;
  const shown = (await run(commands.map((command) => `( ${command} ) 2>&1; printf '${mark}'`).join("\n"))).split(mark);
  assert.equal(shown.length, commands.length + 1, shown.at(-1));
  return shown.slice(0, -1);
}

Deno.test("no spelling of a command reads a protected file in the sandbox, and each does without it", {
  ignore: !hasBubblewrap(),
}, () =>
  inSandboxProject(async (project) => {
    await prepare(project);
    const inSandbox = await shownByEach(SPELLINGS, async (script) => (await project.sandboxed(script)).text);
    const control = await shownByEach(SPELLINGS, project.unsandboxed);
    for (const [at, command] of SPELLINGS.entries()) {
      const [shown = "", without = ""] = [inSandbox[at], control[at]];
      assert.ok(!holdsCanary(shown, project.canary), `${command} shows the canary:\n${shown}`);
      assert.ok(holdsCanary(without, project.canary), `the control of ${command} shows nothing:\n${without}`);
    }
  }, { plain: true }));

Deno.test(
  "no trick with mounts, processes or services undoes the sandbox",
  { ignore: !hasBubblewrap() },
  () =>
    inSandboxProject(async (project) => {
      await prepare(project);
      const shown = await shownByEach(TRICKS, async (script) => (await project.sandboxed(script)).text);
      for (const [at, command] of TRICKS.entries()) {
        assert.ok(!holdsCanary(shown[at] ?? "", project.canary), `${command} shows the canary:\n${shown[at]}`);
      }
      assert.equal(project.read(".env"), `A=${project.canary}\n`);
      assert.equal(project.read("secrets/k.txt"), `A=${project.canary}\n`);
    }, { plain: true }),
);

Deno.test("the second choice holds against the same commands", { ignore: Deno.build.os !== "linux" }, async (test) => {
  const base = await Deno.makeTempDir();
  try {
    const programs = await secondChoice(base);
    if (programs === null) return;
    await test.step("all of them in one sandbox", () =>
      inSandboxProject(async (project) => {
        await prepare(project);
        const all = [...SPELLINGS, ...TRICKS].map((command) => `( ${command} ) 2>&1`).join("\n");
        const { text } = await project.sandboxed(`${all}\necho END`);
        assert.match(text, /END\n$/);
        assert.ok(!holdsCanary(text, project.canary), text);
        assert.equal(project.read(".env"), `A=${project.canary}\n`);
        assert.match((await project.sandboxed("cat pub.txt; id -u; exit 7")).text, /^PUB\n0\n$/);
        assert.equal((await project.sandboxed("exit 7")).code, 7);
      }, { plain: true, programs }));
  } finally {
    await Deno.remove(base, { recursive: true });
  }
});

Deno.test(
  "what is not protected is there, can be changed, and lasts",
  { ignore: !hasBubblewrap() },
  () =>
    inSandboxProject(async (project) => {
      const { text, code, report } = await project.sandboxed("cat pub.txt; echo new > made; mkdir -p a/b; pwd; exit 3");
      assert.equal(text, `PUB\n${project.root}\n`);
      assert.equal(code, 3);
      assert.deepEqual(report, { quarantined: null, exposed: [] });
      assert.equal(project.read("made"), "new\n");
    }),
);

Deno.test(
  "a protected path is refused and not merely empty",
  { ignore: !hasBubblewrap() },
  () =>
    inSandboxProject(async (project) => {
      const { text, code } = await project.sandboxed("cat .env");
      assert.match(text, /Permission denied/);
      assert.equal(code, 1);
    }),
);

Deno.test(
  "the command has no network, unless it is asked for",
  { ignore: !hasBubblewrap() },
  () =>
    inSandboxProject(async (project) => {
      const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const taken = (async () => {
        let count = 0;
        for await (const connection of listener) {
          count++;
          connection.close();
        }
        return count;
      })();
      const command = `exec 3<>/dev/tcp/127.0.0.1/${listener.addr.port} && echo connected`;
      assert.doesNotMatch((await project.sandboxed(command)).text, /connected\n/);
      assert.match((await project.sandboxed(command, { network: true })).text, /connected\n/);
      assert.match(await project.unsandboxed(command), /connected\n/);
      listener.close();
      assert.equal(await taken, 2);
    }),
);

for (const way of ["bubblewrap", "the second choice"]) {
  Deno.test(
    `${way} shows an empty .git, so that programs can walk the project`,
    { ignore: !hasBubblewrap() },
    async () => {
      const base = await plainDirectory();
      const programs = way === "bubblewrap" ? undefined : await secondChoice(base) ?? undefined;
      await inSandboxProject(async (project) => {
        project.write(".agentclisecret", "no-cloud: .env\nno-cloud: deep/down/key\n");
        project.write("web/.git/config", project.canary);
        project.git("init", "-q");
        const walk = "find . -name '*canary*' && tar cf /tmp/all.tar .git web && ls -A .git web/.git";
        assert.deepEqual(await project.sandboxed(walk).then(({ text, code }) => ({ text, code })), {
          text: ".git:\n\nweb/.git:\n",
          code: 0,
        });
        const { text, code } = await project.sandboxed(
          "cat .git/HEAD web/.git/config; echo x > .git/hooks; rmdir .git",
        );
        assert.equal(code, 1);
        assert.doesNotMatch(text, /ref:/);
        assert.ok(!holdsCanary(text, project.canary));
        assert.ok(holdsCanary(await project.unsandboxed("cat web/.git/config"), project.canary));
        assert.match(
          (await project.sandboxed("mkdir secrets; ls deep/down/key secrets/; cat deep/down/key")).text,
          /denied/,
        );
      }, programs === undefined ? {} : { programs });
      await Deno.remove(base, { recursive: true });
    },
  );
}

for (const way of ["bubblewrap", "the second choice"]) {
  Deno.test(`${way} hands no open directory of ours to the command`, { ignore: !hasBubblewrap() }, async () => {
    const base = await plainDirectory();
    const programs = way === "bubblewrap" ? undefined : await secondChoice(base) ?? undefined;
    await inSandboxProject(async (project) => {
      const command = "for d in /proc/self/fd/*/ /proc/1/fd/*/; do cat $d/.env $d/k.txt; done 2>/dev/null; echo END";
      const sandboxed = await project.sandbox.wrapCommand(await project.request(command));
      assert.ok(sandboxed.kind === "ready");
      const opened = async (argv: string[], env: Record<string, string> = {}) => {
        const script = `exec 7<"${project.root}" 42<"${project.root}/secrets"; exec "$@"`;
        const run = new Deno.Command("/bin/bash", { args: ["-c", script, "bash", ...argv], clearEnv: true, env });
        return new TextDecoder().decode((await run.output()).stdout);
      };
      assert.equal(await opened(sandboxed.argv, sandboxed.env), "END\n");
      assert.ok(holdsCanary(await opened(["/bin/bash", "-c", command]), project.canary));
    }, programs === undefined ? {} : { programs });
    await Deno.remove(base, { recursive: true });
  });
}

for (const way of ["bubblewrap", "the second choice"]) {
  Deno.test(`${way} holds for another user as well`, {
    ignore: !hasBubblewrap() || Deno.uid() !== 0,
  }, async () => {
    const base = await plainDirectory();
    const programs = way === "bubblewrap" ? undefined : await secondChoice(base) ?? undefined;
    await inSandboxProject(asAnotherUser, { plain: true, ...programs === undefined ? {} : { programs } });
    await Deno.remove(base, { recursive: true });
  });
}

async function asAnotherUser(project: SandboxProject): Promise<void> {
  await prepare(project);
  const chown = new Deno.Command("chown", { args: ["-R", "65534:65534", project.base] });
  assert.equal((await chown.output()).code, 0);
  const command = "cat pub.txt; id -u; cat .env secrets/k.txt premade; mv deep d2; cat d2/down/key";
  const sandboxed = await project.sandbox.wrapCommand(await project.request(command));
  assert.ok(sandboxed.kind === "ready");
  const as = (argv: string[], env: Record<string, string> = {}) =>
    new Deno.Command("setpriv", {
      args: ["--reuid=65534", "--regid=65534", "--clear-groups", ...argv],
      cwd: project.root,
      clearEnv: true,
      env,
    }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const shown = await as(sandboxed.argv, sandboxed.env);
  assert.match(text(shown.stdout), /^PUB\n(65534|0)\n$/, text(shown.stderr));
  assert.match(text(shown.stderr), /Permission denied/);
  assert.ok(holdsCanary(text((await as(["/bin/bash", "-c", command])).stdout), project.canary));
}

Deno.test("sessions of one process prove once that what makes a sandbox holds, and each other program anew", {
  ignore: !hasBubblewrap() || Deno.uid() !== 0,
}, async () => {
  const base = await plainDirectory();
  const counts: number[] = [];
  for (const name of ["one", "one", "two"]) {
    const programs = `${base}/${name}`;
    await Deno.mkdir(programs, { recursive: true });
    const script = `#!/bin/sh\necho >> '${base}/started'\nexec /usr/bin/bwrap "$@"\n`;
    await Deno.writeTextFile(`${programs}/bwrap`, script, { mode: 0o755 });
    await inSandboxProject(async (project) => {
      assert.match((await project.sandboxed("cat pub.txt .env")).text, /^PUB\n/);
    }, { programs: [programs] });
    counts.push((await Deno.readTextFile(`${base}/started`)).length);
  }
  await Deno.remove(base, { recursive: true });
  assert.deepEqual(counts, [2, 3, 5]);
});
