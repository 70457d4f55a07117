import assert from "node:assert/strict";
import { AgentcliError } from "../../errors.ts";
import { linuxKeyring } from "./keyring.ts";

const unix = { ignore: Deno.build.os === "windows" };

/** A stand-in for `secret-tool` that writes down what it was given, and then runs `body`. */
async function withTool(body: string, work: (place: string) => Promise<void>): Promise<void> {
  const place = await Deno.makeTempDir({ prefix: "agentcli-test-" });
  try {
    const record =
      `printf '%s\\n' "$@" >> '${place}/arguments'; tr '\\0' '\\n' < /proc/$$/environ > '${place}/environment'`;
    await Deno.writeTextFile(`${place}/secret-tool`, `#!/bin/sh\n${record}\n${body}\n`, { mode: 0o755 });
    await work(place);
  } finally {
    await Deno.remove(place, { recursive: true });
  }
}

const VARIABLES: Record<string, string> = {
  DBUS_SESSION_BUS_ADDRESS: "unix:path=/nowhere",
  HOME: "/home/x",
  OPENAI_API_KEY: "sk-CANARY-env",
  DISPLAY: ":0",
};
const keyringAt = (places: string, variables = VARIABLES) =>
  linuxKeyring({ env: (name) => variables[name] }, { timeoutMs: () => 5_000, places });

async function refusal(work: Promise<unknown>): Promise<string> {
  const error = await work.then(() => null, (reason) => reason);
  assert.ok(error instanceof AgentcliError);
  assert.equal(error.code, "key_store_unusable");
  return `${error.message}\n${error.hint}`;
}

Deno.test("the key goes over the input; arguments and environment of the tool hold nothing of it", {
  ignore: Deno.build.os !== "linux",
}, async () => {
  await withTool(`cat > "$(dirname "$0")/input"`, async (place) => {
    await keyringAt(place).keep("p", "CANARYTEXT");
    assert.equal(await Deno.readTextFile(`${place}/input`), "CANARYTEXT");
    const seen = await Deno.readTextFile(`${place}/arguments`);
    assert.equal(seen, "store\n--label\nagentcli: key of p\nservice\nagentcli\nprovider\np\n");
    const environment = await Deno.readTextFile(`${place}/environment`);
    assert.match(environment, /^DBUS_SESSION_BUS_ADDRESS=/m);
    assert.doesNotMatch(environment, /CANARY|DISPLAY|OPENAI/);
  });
});

Deno.test("an entry that is not there is an exit code without a word", unix, async () => {
  await withTool("exit 1", async (place) => {
    assert.equal(await keyringAt(place).find("p"), null);
    assert.equal(await keyringAt(place).drop("p"), false);
  });
  await withTool("printf found", async (place) => assert.equal(await keyringAt(place).find("p"), "found"));
});

Deno.test("what the tool complains about is reported in our words, without repeating it", unix, async () => {
  const complaints: [string, RegExp][] = [
    ["The name org.freedesktop.secrets was not provided by any .service files", /no keyring service/],
    ["Could not connect: No such file or directory", /cannot be reached/],
    ["Cannot create an item in a locked collection", /it is locked/],
    ["Object does not exist at path /org/freedesktop/secrets/collection/login", /no collection/],
    ["strange words with sk-CANARY", /gave an error/],
  ];
  for (const [words, told] of complaints) {
    await withTool(`echo "secret-tool: ${words}" >&2; exit 1`, async (place) => {
      const text = await refusal(keyringAt(place).keep("p", "x"));
      assert.match(text, told);
      assert.match(text, /--store file/);
      assert.doesNotMatch(text, /CANARY/);
    });
  }
});

Deno.test("without the tool or a bus the error says which of them is missing", unix, async () => {
  assert.match(await refusal(keyringAt("/nowhere").find("p")), /secret-tool is not installed/);
  await withTool("exit 0", async (place) => {
    assert.match(await refusal(keyringAt(place, { HOME: "/home/x" }).find("p")), /no session bus/);
    await assert.rejects(Deno.stat(`${place}/arguments`), Deno.errors.NotFound);
  });
});

Deno.test("a tool that hangs is ended, with what it started", { ...unix, timeout: 60_000 }, async () => {
  await withTool("sleep 1000", async (place) => {
    const keyring = linuxKeyring({ env: (name) => VARIABLES[name] }, { timeoutMs: () => 100, places: place });
    assert.match(await refusal(keyring.find("p")), /does not (answer|respond)/);
  });
});
