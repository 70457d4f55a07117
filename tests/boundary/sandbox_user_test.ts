/** The sandbox of an ordinary user, for whom permission bits count: run as nobody, where the tests are run as root. */
import assert from "node:assert/strict";
import { REPOSITORY } from "../helpers/program.ts";
import { hasBubblewrap, holdsCanary, secondChoice } from "./sandbox_project.ts";

const asRoot = { ignore: !hasBubblewrap() || Deno.uid() !== 0 };
const NOBODY = 65534;

interface Place {
  root: string;
  base: string;
  canary: string;
  /** As nobody, in the sandbox. */
  sandboxed(
    command: string,
    programs?: readonly string[],
  ): Promise<{ text?: string; notices?: string[]; kind?: string; reason?: string; copies?: string | null }>;
  /** As nobody, without one. */
  plain(script: string): Promise<string>;
}

async function asNobody(work: (place: Place) => Promise<void>): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const root = `${base}/project`;
  const canary = `CNRY_${crypto.randomUUID().replaceAll("-", "")}`;
  const start = async (argv: string[]) => {
    const output = await new Deno.Command("setpriv", {
      args: [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", ...argv],
      cwd: root,
      clearEnv: true,
      env: { PATH: "/usr/bin:/bin", HOME: base, TMPDIR: `${base}/tmp`, DENO_DIR: `${base}/deno`, C: canary },
    }).output();
    return new TextDecoder().decode(output.stdout) + new TextDecoder().decode(output.stderr);
  };
  try {
    for (const name of ["project", "tmp", "deno"]) await Deno.mkdir(`${base}/${name}`);
    await Deno.writeTextFile(`${root}/.agentclisecret`, "no-cloud: .env\nno-cloud: **/.env\n");
    await Deno.writeTextFile(`${root}/pub.txt`, "PUB\n");
    await new Deno.Command("chown", { args: ["-R", `${NOBODY}:${NOBODY}`, base] }).output();
    await work({
      root,
      base,
      canary,
      plain: (script) => start(["bash", "-c", script]),
      async sandboxed(command, programs = []) {
        const script = `${REPOSITORY}/tests/boundary/as_user.ts`;
        const text = await start([
          Deno.execPath(),
          "run",
          "-A",
          "--quiet",
          "--no-check",
          "--no-config",
          "--cached-only",
          script,
          root,
          `${base}/.agentcli`,
          command,
          ...programs,
        ]);
        try {
          return JSON.parse(text);
        } catch {
          throw new Error(text);
        }
      },
    });
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

/** Directories that may not be looked into, by their owner's own doing, and commands that undo that. */
const CLOSED: Record<string, string> = {
  "without any permission": "mkdir vault; echo $C > vault/.env; chmod 000 vault",
  "that may be searched and not listed": "mkdir vault; echo $C > vault/.env; chmod 111 vault",
  "that may be listed and not searched": "mkdir vault; echo $C > vault/.env; chmod 444 vault",
  "below one that may not be searched": "mkdir -p vault/in; echo $C > vault/in/.env; chmod 444 vault",
  "that holds a nested marker":
    "mkdir vault; echo $C > vault/key; echo 'no-cloud: key' > vault/.agentclisecret; chmod 000 vault",
};

for (const [how, make] of Object.entries(CLOSED)) {
  Deno.test(`a directory ${how} is not there`, asRoot, () =>
    asNobody(async ({ canary, plain, sandboxed }) => {
      await plain(`${make}; touch beside`);
      const open =
        "chmod -R 700 vault; cat vault/.env vault/*/.env vault/key; mv vault v2; chmod -R 700 v2; cat v2/* v2/.env";
      const { text = "", notices } = await sandboxed(`${open}; cat pub.txt; ls`);
      assert.match(text, /PUB\n/);
      assert.match(text, /beside/);
      assert.ok(!holdsCanary(text, canary), text);
      assert.match(notices?.join("\n") ?? "", /commands do not see .*\/vault: it /);
      assert.ok(holdsCanary(await plain(`chmod -R 700 vault; ${open}`), canary), "the control shows nothing");
    }));
}

for (const [mode, found] of [["755", "out/copy.txt"], ["311", "out"]]) {
  Deno.test(
    `a copy in a directory of mode ${mode} is protected: ${found}`,
    asRoot,
    () =>
      asNobody(async ({ canary, plain, sandboxed }) => {
        await plain("echo $C > .env");
        const { copies } = await sandboxed(`mkdir out; echo ${canary} > out/copy.txt; chmod ${mode} out`);
        // No home remembers the rules here, so `.env` is reported, too.
        const names = /: (.*) \(/.exec(copies ?? "")?.[1]?.split(", ");
        assert.ok(names?.some((name) => name === found), `${copies}`);
      }),
  );
}

Deno.test(
  "a protected file that its owner may not read is not made readable by a command",
  asRoot,
  () =>
    asNobody(async ({ canary, plain, sandboxed }) => {
      await plain("echo $C > .env; chmod 000 .env");
      const { text = "" } = await sandboxed("chmod 600 .env; cat .env; cat pub.txt");
      assert.match(text, /PUB/);
      assert.ok(!holdsCanary(text, canary), text);
    }),
);

Deno.test(
  "bubblewrap that works for one user only is passed over for another way, and else refused",
  asRoot,
  () =>
    asNobody(async ({ base, canary, plain, sandboxed }) => {
      await plain("echo $C > .env");
      const programs = await secondChoice(base);
      if (programs === null) return;
      const [directory = ""] = programs;
      const only =
        `#!/bin/bash\n[ "$(id -u)" = 0 ] && exec /usr/bin/bwrap "$@"\necho "bwrap: No permissions to create a new namespace" >&2; exit 1\n`;
      await Deno.writeTextFile(`${directory}/bwrap`, only, { mode: 0o755 });
      await new Deno.Command("chown", { args: ["-R", "0:0", directory] }).output();
      const second = await sandboxed("cat .env; cat pub.txt", programs);
      assert.match(second.text ?? JSON.stringify(second), /PUB/);
      assert.ok(!holdsCanary(second.text ?? "", canary));
      for (const name of ["unshare", "setpriv"]) await Deno.remove(`${directory}/${name}`);
      const { kind, reason = "" } = await sandboxed("touch ran", programs);
      assert.equal(kind, "refused");
      assert.match(reason, /no sandbox can be made here \(bubblewrap: .*No permissions to create a new namespace/);
    }),
);
