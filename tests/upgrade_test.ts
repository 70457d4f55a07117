import assert from "node:assert/strict";
import { isNewer } from "../src/cli/upgrade.ts";
import { VERSION } from "../src/cli/version.ts";
import { startFakeServer } from "./helpers/fake_server.ts";
import { runProgram, temporaryHome } from "./helpers/program.ts";

const notes = (body: string, status = 200) => ({ kind: "status", status, body }) as const;

async function upgrade(body: string, { status = 200, json = false }: { status?: number; json?: boolean } = {}) {
  await using home = await temporaryHome();
  await using server = startFakeServer({ routes: { "/v1/NOTES.md": notes(body, status) } });
  const args = ["upgrade", "--from", `${server.baseUrl}/`, ...json ? ["--json"] : []];
  const finished = await runProgram(args, { home });
  assert.equal(await Deno.stat(home.agentcliHome).catch(() => null), null, "nothing is written");
  return { ...finished, requests: server.requests };
}

Deno.test("upgrade says in one request whether there is a newer release, and reveals nothing of this machine", async () => {
  const { code, stdout, stderr, requests } = await upgrade("# agentcli 99.1.0\n\n- New.\n");
  assert.deepEqual([code, stdout], [0, `99.1.0 is available; this is ${VERSION}\n`]);
  assert.match(stderr, /npm install --global agentcli/);
  assert.deepEqual(requests.map(({ method, path, text }) => [method, path, text]), [["GET", "/v1/NOTES.md", ""]]);
  assert.equal(requests[0]?.headers.get("authorization"), null);
  const same = await upgrade(`# agentcli ${VERSION}\n`);
  assert.deepEqual([same.code, same.stdout], [0, ""]);
  assert.match(same.stderr, /is the newest release/);
  const { newest, newer } = JSON.parse((await upgrade("# agentcli 0.0.1\n", { json: true })).stdout);
  assert.deepEqual([newest, newer], ["0.0.1", false]);
});

Deno.test("upgrade says what is wrong with an address", async () => {
  assert.match((await upgrade("<html>", { status: 404 })).stderr, /names no release \(HTTP 404\)/);
  assert.match((await upgrade("# agentcli \x1b[2J\n")).stderr, /names no release/);
  await using home = await temporaryHome();
  const none = await runProgram(["upgrade"], { home });
  assert.deepEqual([none.code, none.stdout], [2, ""]);
  assert.match(none.stderr, /knows no address of releases/);
  const open = await runProgram(["upgrade", "--from", "http://127.0.0.2/x"], { home });
  assert.match(open.stderr, /begins with https:\/\//);
  const refused = await runProgram(["upgrade", "--from", "http://127.0.0.1:9"], { home });
  assert.equal(refused.code, 4);
});

Deno.test("versions are compared number by number", () => {
  for (const [one, other] of [["0.10.0", "0.9.9"], ["1.0.0", "0.99.0"], ["0.1.1", "0.1.0"]] as const) {
    assert.deepEqual([isNewer(one, other), isNewer(other, one), isNewer(one, one)], [true, false, false]);
  }
});
