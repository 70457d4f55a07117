#!/usr/bin/env node
// Starts agentcli.js with the Deno of the package `deno`. The program lies in a package of its own for each system, so
// no install script has to run (`npm install --ignore-scripts`).
"use strict";
const { spawn } = require("node:child_process");
const { existsSync } = require("node:fs");
const { dirname, join } = require("node:path");

function fail(message) {
  console.error(`agentcli: ${message}`);
  process.exit(1);
}

function findDeno() {
  const { platform, arch } = process;
  const musl = platform === "linux" &&
    !existsSync(`/lib${arch === "x64" ? "64/ld-linux-x86-64.so.2" : "/ld-linux-aarch64.so.1"}`);
  if (musl) fail("this system has no glibc (Alpine, musl), and Deno needs it; use a system or an image with glibc");
  const name = `@deno/${platform}-${arch}${platform === "linux" ? "-glibc" : ""}`;
  try {
    const paths = [dirname(require.resolve("deno/package.json"))];
    return join(
      dirname(require.resolve(`${name}/package.json`, { paths })),
      platform === "win32" ? "deno.exe" : "deno",
    );
  } catch {
    fail(
      `the package ${name} is not installed; install again with optional dependencies (npm install --include=optional)`,
    );
  }
}

const deno = findDeno();
const words = ["run", "--quiet", "-A", "--no-config", join(__dirname, "agentcli.js"), ...process.argv.slice(2)];
process.env.DENO_NO_UPDATE_CHECK = "1";
if (process.execve && process.platform !== "win32") process.execve(deno, [deno, ...words], process.env);
// An older Node cannot hand over: this process waits, and passes on what reaches it alone.
const child = spawn(deno, words, { stdio: "inherit" });
const onTerminal = [0, 1, 2].some((stream) => require("node:tty").isatty(stream));
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  // From a terminal both get Ctrl-C.
  process.on(signal, () => signal === "SIGINT" && onTerminal || child.kill(signal));
}
child.on("error", (error) => fail(`${deno} cannot be started: ${error.code ?? error.message}`));
child.on("exit", (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
