import assert from "node:assert/strict";
import { sandboxEnvironment } from "./environment.ts";

const ENVIRONMENT = {
  PATH: "/usr/bin",
  HOME: "/home/me",
  LANG: "C.UTF-8",
  LC_ALL: "C",
  LC_API_KEY: "k",
  TERM: "xterm",
  TZ: "UTC",
  TMPDIR: "/tmp",
  CI: "1",
  DATABASE_URL: "postgres://u:secretvalue@h/db",
  SENTRY_DSN: "https://secretvalue@sentry.test/1",
  SECRET_KEY_BASE: "secretvalue",
  LD_PRELOAD: "/tmp/x.so",
  "BASH_FUNC_x%%": "() { :; }",
  SSH_AUTH_SOCK: "/run/agent",
  PWD: "/p",
  MY_TOKEN: "t",
  PROVIDER_VALUE: "resolved",
  AGENTCLI_HOME: "/h",
  WANTED: "w",
};

Deno.test("a command in a sandbox gets what is on the list, and nothing else", async () => {
  const env = await sandboxEnvironment(ENVIRONMENT, { named: [], secret: [] });
  assert.deepEqual(Object.keys(env).sort(), ["CI", "HOME", "LANG", "LC_ALL", "PATH", "TERM", "TMPDIR", "TZ"]);
});

Deno.test("what the user names is let through, but for keys of providers and settings of this program", async () => {
  const named = ["WANTED", "MY_TOKEN", "PROVIDER_VALUE", "AGENTCLI_HOME", "NOT_SET", "BASH_FUNC_x%%"];
  const env = await sandboxEnvironment(ENVIRONMENT, { named, secret: ["PROVIDER_VALUE"] });
  const added = Object.keys(env).filter((name) => named.includes(name)).sort();
  assert.deepEqual(added, ["MY_TOKEN", "WANTED"]);
});

Deno.test("a value that holds protected content is left out, and the others stay", async () => {
  const asked: string[] = [];
  const holdsProtected = (text: string) => {
    asked.push(text);
    return Promise.resolve(text.includes("secretvalue"));
  };
  const named = ["DATABASE_URL", "WANTED"];
  const env = await sandboxEnvironment(ENVIRONMENT, { named, secret: [], holdsProtected });
  assert.equal(env["DATABASE_URL"], undefined);
  assert.equal(env["WANTED"], "w");
  assert.equal(env["PATH"], "/usr/bin");
  asked.length = 0;
  await sandboxEnvironment(ENVIRONMENT, { named: [], secret: [], holdsProtected });
  assert.equal(asked.length, 1, "one question where nothing is held");
});
