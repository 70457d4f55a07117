import assert from "node:assert/strict";
import { dirname } from "../../platform/path.ts";
import { hiddenProgramNotice } from "./hidden_program.ts";

const unix = { ignore: Deno.build.os === "windows" };

/** A home with version managers, and a project with a virtual environment. */
async function withPrograms(work: (base: string) => void): Promise<void> {
  const base = await Deno.realPath(await Deno.makeTempDir());
  const write = (path: string, text: string, mode = 0o755) => {
    Deno.mkdirSync(dirname(`${base}/${path}`), { recursive: true });
    Deno.writeTextFileSync(`${base}/${path}`, text, { mode });
  };
  const link = (path: string, target: string) => {
    Deno.mkdirSync(dirname(`${base}/${path}`), { recursive: true });
    Deno.symlinkSync(`${base}/${target}`, `${base}/${path}`);
  };
  try {
    write("home/.nvm/v20/lib/node_modules/npm/bin/npm-cli.js", "");
    link("home/.nvm/v20/bin/npm", "home/.nvm/v20/lib/node_modules/npm/bin/npm-cli.js");
    write("home/.nvm/v20/bin/node", "");
    write("home/.pyenv/libexec/pyenv", "");
    write("home/.pyenv/versions/3.12/bin/python3.12", "");
    write("home/.rustup/settings.toml", "", 0o644);
    write("home/bin/own", "");
    write("home/notes.txt", "", 0o644);
    link("project/.venv/bin/python", "home/.pyenv/versions/3.12/bin/python3.12");
    write("project/.venv/bin/pip", `#!${base}/project/.venv/bin/python\n`);
    write("project/run.sh", "#!/bin/sh\n");
    write("elsewhere/run.sh", `#!${base}/home/bin/own\n`);
    work(base);
  } finally {
    await Deno.remove(base, { recursive: true });
  }
}

function noticeOf(output: string, base: string, read: string[] = []): string | null {
  const environment: Record<string, string> = { HOME: `${base}/home`, PATH: `${base}/home/.nvm/v20/bin:/usr/bin` };
  const io = { os: "linux" as const, env: (name: string) => environment[name] };
  const [cwd, settings] = [`${base}/project`, { read }];
  return hiddenProgramNotice(output.replaceAll("BASE", base), { io, cwd, roots: [cwd], settings });
}

const HIDDEN: [output: string, directory: string][] = [
  ["bash: line 1: npm: command not found", ".nvm/v20/lib/node_modules/npm"],
  ["sh: 1: npm: not found", ".nvm/v20/lib/node_modules/npm"],
  ["env: \u2018npm\u2019: No such file or directory", ".nvm/v20/lib/node_modules/npm"],
  ["x: line 2: BASE/home/.pyenv/libexec/pyenv: No such file or directory", ".pyenv"],
  ["bash: line 1: .venv/bin/python: No such file or directory", ".pyenv/versions/3.12"],
  ["bash: line 1: .venv/bin/pip: cannot execute: required file not found", ".pyenv/versions/3.12"],
  ["bash: .venv/bin/pip: BASE/project/.venv/bin/python: bad interpreter: No such file", ".pyenv/versions/3.12"],
  ["bash: line 1: python: command not found", ".pyenv/versions/3.12"],
  ["error: rustup could not choose a version of cargo to run", ".rustup"],
  ["sh: BASE/home/bin/own: not found", "bin"],
];

for (const [output, directory] of HIDDEN) {
  Deno.test(`what a command lacked is named with its directory: ${output}`, unix, () =>
    withPrograms((base) => {
      const notice = noticeOf(output, base);
      assert.ok(notice?.includes(`agentcli config set sandbox.read ${base}/home/${directory} `), String(notice));
      const more = noticeOf(output, base, ["/opt/a"]);
      assert.ok(more?.includes(`sandbox.read '["/opt/a","${base}/home/${directory}"]'`), String(more));
    }));
}

Deno.test(
  "what is not there, no program, visible or as wide as a home is not named",
  unix,
  () =>
    withPrograms((base) => {
      Deno.writeTextFileSync(`${base}/home/wide`, "", { mode: 0o755 });
      for (
        const word of [
          "nosuch",
          "BASE/home/notes.txt",
          "./run.sh",
          "sh",
          "BASE/home/wide",
          "BASE/home/.pyenv",
          "/proc/kmsg",
        ]
      ) {
        assert.equal(noticeOf(`sh: 1: ${word}: not found`, base), null, word);
      }
      assert.equal(noticeOf("npm ran, and all was found", base), null);
      assert.equal(noticeOf("sh: BASE/home/bin/own: not found", base, ["~/bin"]), null, "it is visible");
      const elsewhere = noticeOf("sh: BASE/elsewhere/run.sh: cannot execute: required file not found", base);
      assert.ok(elsewhere?.includes(`sandbox.read ${base}/elsewhere `), "its first line is not read");
    }),
);
