/**
 * Ways around the sandbox that one command of a remote model is enough for, through the program itself, each with its
 * control.
 */
import assert from "node:assert/strict";
import { ask, say, want } from "../helpers/fake_server.ts";
import { runProgram } from "../helpers/program.ts";
import { openStage, type Played, type Stage } from "./harness.ts";
import { hasBubblewrap } from "./sandbox_project.ts";

const bubblewrap = { ignore: !hasBubblewrap() };
const allowed = ["--permission-mode", "bypassPermissions"];

/** Letters that no scan decodes: what passes the sandbox in them is out. */
const ROT13 = "tr A-Za-z N-ZA-Mn-za-m";

function rot13(text: string): string {
  return text.replace(/[A-Za-z]/g, (letter) => {
    const base = letter <= "Z" ? 65 : 97;
    return String.fromCharCode((letter.charCodeAt(0) - base + 13) % 26 + base);
  });
}

async function shell(stage: Stage, script: string, cwd = stage.project): Promise<string> {
  const { stdout } = await new Deno.Command("/bin/bash", {
    args: ["-c", script],
    cwd,
    clearEnv: true,
    env: { PATH: "/usr/bin:/bin", HOME: stage.home.home, GIT_CONFIG_NOSYSTEM: "1", BASE: stage.home.root },
  }).output();
  return new TextDecoder().decode(stdout);
}

interface Way {
  /** The canary as the script's `$C`. */
  make: string;
  command: string;
  marker?: string;
  env?: (stage: Stage, canary: string) => Record<string, string>;
  settings?: (stage: Stage) => Record<string, unknown>;
}

const GIT = "git init -q .; git -c user.name=t -c user.email=t@x commit -q --allow-empty -m one";

const WAYS: Record<string, Way> = {
  "a link into a directory beside a bin of PATH": {
    make:
      'mkdir -p "$BASE/app/bin" "$BASE/app/share"; echo "$C" > "$BASE/app/share/x"; rm .env; ln -s "$BASE/app/share/x" .env',
    command: 'cat "../app/share/x"',
    env: ({ home }) => ({ PATH: `${home.root}/app/bin:/usr/bin:/bin` }),
  },
  "a link into a directory of sandbox.read": {
    make: 'mkdir -p "$BASE/data"; echo "$C" > "$BASE/data/x"; rm .env; ln -s "$BASE/data/x" .env',
    command: 'cat "../data/x"',
    settings: ({ home }) => ({ sandbox: { read: [`${home.root}/data`] } }),
  },
  "a name that is not UTF-8": {
    make: `mkdir k; echo "$C" > k/$'cl\\xe9'.pem`,
    command: "cat k/*.pem",
    marker: "no-cloud: .env\nno-cloud: **/*.pem\n",
  },
  "a directory below a name that is not UTF-8": {
    make: `mkdir -p k/$'\\xe9'; echo "$C" > k/$'\\xe9'/.env`,
    command: "cat k/*/.env",
    marker: "no-cloud: **/.env\n",
  },
  "a path that is too long": {
    make: `D=$(printf %0200d 0); for i in $(seq 25); do mkdir $D; cd $D; done; echo "$C" > .env`,
    command: `D=$(printf %0200d 0); for i in $(seq 25); do cd $D; done; cat .env`,
    marker: "no-cloud: **/.env\n",
  },
  "a variable of the environment": {
    make: 'echo "$C" > .env',
    command: 'echo "$DATABASE_URL"',
    env: (_, canary) => ({ DATABASE_URL: `postgres://u:${canary}@h/d` }),
  },
  "a variable that the user lets through, which holds what is protected": {
    make: 'echo "$C" > .env',
    command: 'echo "$DATABASE_URL"',
    env: (_, canary) => ({ DATABASE_URL: canary }),
    settings: () => ({ sandbox: { env: ["DATABASE_URL"] } }),
  },
  "what git keeps of a rebase": {
    make: `${GIT}; mkdir .git/rebase-apply; echo "$C" > .git/rebase-apply/patch`,
    command: "cat .git/rebase-apply/patch",
  },
  "the settings of a repository": {
    make: `${GIT}; git config remote.origin.url "https://u:$C@host.test/x"`,
    command: "git config remote.origin.url; cat .git/config",
  },
  "messages of commits": {
    make: `git init -q .; git -c user.name=t -c user.email=t@x commit -q --allow-empty -m "$C"`,
    command: "git log; cat .git/logs/HEAD .git/COMMIT_EDITMSG",
  },
  "what another version control keeps": {
    make: 'mkdir -p .svn/pristine/ab; echo "$C" > .svn/pristine/ab/x.svn-base',
    command: "cat .svn/pristine/*/*",
  },
};

async function play(stage: Stage, way: Way, marked: boolean): Promise<Played> {
  const canary = stage.canary("env");
  await shell(stage, `C=${canary}; ${way.make}`);
  if (marked) await stage.write(".agentclisecret", way.marker ?? "no-cloud: .env\nno-cloud: secrets\n");
  const script = [ask(want("shell", { command: `( ${way.command} ) 2>&1 | ${ROT13}` })), say("Done.")];
  return await stage.play("rem", {
    script,
    args: allowed,
    env: way.env?.(stage, canary),
    settings: way.settings?.(stage) ?? {},
  });
}

for (const [name, way] of Object.entries(WAYS)) {
  Deno.test(`a command gets nothing protected by ${name}`, bubblewrap, async () => {
    await using stage = await openStage({ marker: null });
    const canary = stage.canary("env");
    const played = await play(stage, way, true);
    assert.equal(played.done.code, 0, played.done.stderr);
    assert.equal(played.results.length, 1);
    assert.ok(!played.sent.includes(rot13(canary)) && !played.sent.includes(canary), played.results[0]);
    // The control: where nothing is protected, the same command brings it.
    await using open = await openStage({ marker: null });
    const control = await play(open, way, false);
    assert.ok(control.sent.includes(rot13(open.canary("env"))), `the control is empty: ${control.results[0]}`);
  });
}

Deno.test("a command of a remote model does not see the protected files of another project", bubblewrap, async () => {
  await using stage = await openStage();
  const canary = stage.canary("env");
  await Deno.mkdir(`${stage.home.root}/other`);
  const cwd = `${stage.home.root}/other`;
  const script = [
    ask(want("shell", { command: `cat ../project/.env ../project/secrets/* | ${ROT13}; pwd; echo mine > made` })),
    say("Done."),
  ];
  // Nothing is known of any protected project yet: commands run as they are.
  const before = await stage.play("rem", { script, args: allowed, cwd });
  assert.ok(before.sent.includes(rot13(canary)), before.results[0]);
  // A session in it makes the home know it.
  await stage.play("rem", { script: [say("Hello.")] });
  const after = await stage.play("rem", { script, args: allowed, cwd });
  assert.equal(after.done.code, 0, after.done.stderr);
  assert.ok(!after.sent.includes(rot13(canary)), after.results[0]);
  assert.match(after.results[0] ?? "", /\/other\n?$/);
  assert.match(after.done.stderr, /commands of this model run in a sandbox/);
  assert.equal(await Deno.readTextFile(`${cwd}/made`), "mine\n");
  // A local model, and a user who wants none of it.
  const local = await stage.play("loc", { script, args: allowed, cwd });
  assert.ok(local.sent.includes(rot13(canary)));
  const never = await stage.play("rem", { script, args: allowed, cwd, settings: { sandbox: { mode: "never" } } });
  assert.ok(never.sent.includes(rot13(canary)));
  // It speaks of other projects alone.
  const own = await stage.play("rem", { script, args: allowed, settings: { sandbox: { mode: "never" } } });
  assert.ok(!own.sent.includes(rot13(canary)));
});

Deno.test("nor do they see them where a link of that project leads", bubblewrap, async () => {
  await using stage = await openStage();
  const canary = stage.canary("env");
  const { root } = stage.home;
  await shell(stage, 'mkdir -p "$BASE/app/bin" "$BASE/app/share/dir" "$BASE/other"; mv .env "$BASE/app/share/x"');
  await shell(stage, 'ln -s "$BASE/app/share/x" .env; mv secrets/k.txt "$BASE/app/share/dir/k"; rmdir secrets');
  await shell(stage, 'ln -s "$BASE/app/share/dir" secrets');
  stage.exempt(`${root}/app/share/x`);
  stage.exempt(`${root}/app/share/dir/k`);
  await stage.play("rem", { script: [say("Hello.")] });
  const command = `cat ../app/share/x ../app/share/dir/k | ${ROT13}`;
  const script = [ask(want("shell", { command })), say("Done.")];
  const env = { PATH: `${root}/app/bin:/usr/bin:/bin` };
  const play = { script, args: allowed, cwd: `${root}/other`, env };
  const played = await stage.play("rem", play);
  for (const one of [canary, stage.canary("key")]) assert.ok(!played.sent.includes(rot13(one)), played.results[0]);
  const never = await stage.play("rem", { ...play, settings: { sandbox: { mode: "never" } } });
  for (const one of [canary, stage.canary("key")]) assert.ok(never.sent.includes(rot13(one)), never.results[0]);
});

Deno.test("there, commands have the network and git is theirs", bubblewrap, async () => {
  await using stage = await openStage();
  await stage.play("rem", { script: [say("Hello.")] });
  const cwd = `${stage.home.root}/other`;
  await Deno.mkdir(cwd);
  await Deno.writeTextFile(`${stage.home.home}/.gitconfig`, "[user]\n\tname = me\n\temail = me@example.test\n");
  await shell(stage, GIT, cwd);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const taken = (async () => {
    for await (const connection of listener) {
      connection.close();
      return true;
    }
  })();
  const command = `echo x > x; git add x; git commit -qm two; git log --oneline | wc -l; git config core.hooksPath h
    (exec 3<>/dev/tcp/127.0.0.1/${listener.addr.port}) && echo connected; mkdir n; git init -q n; ls -d n/.git`;
  const script = [ask(want("shell", { command })), say("Done.")];
  const played = await stage.play("rem", { script, args: allowed, cwd });
  assert.match(played.results[0] ?? "", /^2\nconnected\nn\/\.git$/);
  assert.equal(await taken, true);
  assert.match(await shell(stage, "git config core.hooksPath", cwd), /^h$/m);
});

Deno.test(
  "what could run code later is moved away, told with the way back, and what the user made is not lost",
  bubblewrap,
  async () => {
    await using stage = await openStage({ git: true });
    await stage.git("config", "core.hooksPath", ".githooks");
    await stage.write(".githooks/pre-commit", "#!/bin/sh\n");
    const command = `echo 'cat .env' >> .githooks/pre-commit; echo x > .githooks/post-commit
    mkdir -p .vscode sub; echo '{"evil": 1}' > .vscode/tasks.json; git init -q sub/evil; echo '{}' > .mcp.json`;
    const script = [ask(want("shell", { command })), say("Done.")];
    const played = await stage.play("rem", { script, args: allowed });
    assert.equal(played.done.code, 0, played.done.stderr);
    assert.equal(await Deno.readTextFile(`${stage.project}/.githooks/pre-commit`), "#!/bin/sh\n");
    for (const name of [".githooks/post-commit", ".vscode/tasks.json", "sub/evil/.git", ".mcp.json"]) {
      await assert.rejects(Deno.lstat(`${stage.project}/${name}`), Deno.errors.NotFound, name);
    }
    assert.match(played.results[0] ?? "", /moved to quarantine, since only the user may create them: .*\.vscode/);
    const id = /agentcli quarantine restore (\S+)/.exec(played.done.stderr)?.[1] ?? "";
    assert.doesNotMatch(played.results[0] ?? "", /quarantine restore/);
    const { code, stderr } = await runProgram(["quarantine", "restore", id], { home: stage.home });
    assert.equal(code, 0, stderr);
    assert.equal(await Deno.readTextFile(`${stage.project}/.vscode/tasks.json`), '{"evil": 1}\n');
    assert.ok((await Deno.stat(`${stage.project}/sub/evil/.git`)).isDirectory);
  },
);
