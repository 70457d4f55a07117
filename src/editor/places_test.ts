import assert from "node:assert/strict";
import { dirname } from "../platform/path.ts";
import { DIALECT_IDS, DIALECTS, type Scope, SCOPES } from "./dialect.ts";
import { chooseDialect, hooksFileProblems, liveHooksFile, type LookupOptions, placesOf } from "./places.ts";

const AROUND: Readonly<Record<LookupOptions["os"], LookupOptions>> = {
  linux: { root: "/p", userHome: "/home/u", os: "linux" },
  darwin: { root: "/p", userHome: "/Users/u", os: "darwin" },
  windows: { root: "C:/p", userHome: "C:/Users/u", os: "windows", programData: "C:/ProgramData" },
};

/** Where each dialect keeps rules, hooks and servers, by scope and system; null: there is none. */
const PLACES: readonly (readonly [
  dialect: string,
  os: string,
  scope: Scope,
  rules: string | null,
  hooks: string,
  mcp: string | null,
])[] = [
  ["ide", "linux", "project", "/p/.ide/rules", "/p/.ide/hooks.json", null],
  ["ide", "linux", "user", null, "/home/u/.vendor/ide/hooks.json", "/home/u/.vendor/ide/mcp_config.json"],
  ["ide", "windows", "user", null, "C:/Users/u/.vendor/ide/hooks.json", "C:/Users/u/.vendor/ide/mcp_config.json"],
  ["windsurf", "linux", "project", "/p/.windsurf/rules", "/p/.windsurf/hooks.json", null],
  [
    "windsurf",
    "darwin",
    "user",
    null,
    "/Users/u/.codeium/windsurf/hooks.json",
    "/Users/u/.codeium/windsurf/mcp_config.json",
  ],
  ["windsurf", "linux", "system", "/etc/windsurf/rules", "/etc/windsurf/hooks.json", null],
  [
    "windsurf",
    "darwin",
    "system",
    "/Library/Application Support/Windsurf/rules",
    "/Library/Application Support/Windsurf/hooks.json",
    null,
  ],
  ["windsurf", "windows", "system", "C:/ProgramData/Windsurf/rules", "C:/ProgramData/Windsurf/hooks.json", null],
  ["devin", "linux", "project", "/p/.devin/rules", "/p/.devin/hooks.json", null],
  [
    "devin",
    "windows",
    "user",
    null,
    "C:/Users/u/.codeium/windsurf/hooks.json",
    "C:/Users/u/.config/devin/mcp_config.json",
  ],
  ["devin", "linux", "system", "/etc/devin/rules", "/etc/devin/hooks.json", null],
  [
    "devin",
    "darwin",
    "system",
    "/Library/Application Support/Devin/rules",
    "/Library/Application Support/Devin/hooks.json",
    null,
  ],
  ["devin", "windows", "system", "C:/ProgramData/Devin/rules", "C:/ProgramData/Devin/hooks.json", null],
];

for (const [id, os, scope, rules, hooks, mcp] of PLACES) {
  Deno.test(`${id} keeps what belongs to the ${scope} where it looks for it on ${os}`, () => {
    const dialect = DIALECTS[DIALECT_IDS.find((one) => one === id) ?? assert.fail()];
    const around = AROUND[os === "linux" || os === "darwin" ? os : "windows"];
    const places = placesOf(dialect, scope, around);
    assert.deepEqual([places.rules, places.hooks, places.mcp], [rules, hooks, mcp]);
    for (const path of [places.workflows, places.skills, places.scripts]) {
      assert.ok(path.startsWith(`${places.base}/`), path);
    }
  });
}

Deno.test("a system directory that is not known has to be named, and one that is named counts", () => {
  for (const os of ["linux", "darwin", "windows"] as const) {
    assert.throws(
      () => placesOf(DIALECTS.ide, "system", AROUND[os]),
      /the system directory of the dialect ide is not known/,
    );
    const around = { ...AROUND[os], systemDirectory: "/named" };
    for (const id of DIALECT_IDS) assert.equal(placesOf(DIALECTS[id], "system", around).hooks, "/named/hooks.json");
  }
  const { programData: _, ...without } = AROUND.windows;
  assert.throws(() => placesOf(DIALECTS.windsurf, "system", without), /not known here/);
});

Deno.test("the product that shares the name keeps its hooks to itself in every dialect and scope", () => {
  for (const id of DIALECT_IDS) {
    for (const scope of SCOPES.filter((one) => one !== "system")) {
      const { hooks } = placesOf(DIALECTS[id], scope, AROUND.linux);
      assert.equal(
        [`${AROUND.linux.userHome}/.vendor/hooks.json`, `${AROUND.linux.userHome}/.codeium/hooks.json`].includes(hooks),
        false,
      );
    }
  }
});

async function project(files: Record<string, string>) {
  const root = await Deno.realPath(await Deno.makeTempDir());
  for (const [name, text] of Object.entries(files)) {
    await Deno.mkdir(dirname(`${root}/${name}`), { recursive: true });
    await Deno.writeTextFile(`${root}/${name}`, text);
  }
  return { root, [Symbol.asyncDispose]: () => Deno.remove(root, { recursive: true }) };
}

const HOOKS = '{"hooks": {"pre_read_code": [{"command": "true"}]}}';

for (
  const [what, files, live, problems, detected] of [
    ["nothing", {}, ".devin/hooks.json", [], "ide"],
    ["an older hooks file", { ".windsurf/hooks.json": "{}" }, ".windsurf/hooks.json", [], "windsurf"],
    [
      "both hooks files",
      { ".windsurf/hooks.json": HOOKS, ".devin/hooks.json": HOOKS },
      ".devin/hooks.json",
      [[".windsurf/hooks.json", "it is not read: another hooks file of the project goes before it"]],
      "windsurf",
    ],
    [
      "two hooks files without hooks",
      { ".windsurf/hooks.json": "{}", ".devin/hooks.json": '{"hooks": {"pre_read_code": []}}' },
      ".devin/hooks.json",
      [],
      "windsurf",
    ],
    [
      "hooks in the newer file alone",
      { ".windsurf/hooks.json": "{}", ".devin/hooks.json": HOOKS },
      ".devin/hooks.json",
      [],
      "windsurf",
    ],
    [
      "a newer hooks file without hooks beside an older one with some",
      { ".windsurf/hooks.json": HOOKS, ".devin/hooks.json": '{"hooks": {"pre_read_code": []}} // none yet' },
      ".windsurf/hooks.json",
      [[
        ".devin/hooks.json",
        "it holds no hook, but while it is there the editor may pass over the hooks of .windsurf/hooks.json: delete it",
      ]],
      "windsurf",
    ],
    [
      "a newer hooks file that cannot be parsed",
      { ".windsurf/hooks.json": HOOKS, ".devin/hooks.json": "{" },
      ".devin/hooks.json",
      [[".windsurf/hooks.json", "it is not read: another hooks file of the project goes before it"]],
      "windsurf",
    ],
    [
      "a newer hooks file that is empty",
      { ".windsurf/hooks.json": "{}", ".devin/hooks.json": "\ufeff \n" },
      ".windsurf/hooks.json",
      [],
      "windsurf",
    ],
    ["hooks of the other agent", { ".devin/hooks.v1.json": "{}" }, ".devin/hooks.json", [], "devin"],
    ["old rules in one file", { ".windsurfrules": "x" }, ".devin/hooks.json", [], "windsurf"],
    ["rules alone", { ".devin/rules/a.md": "x" }, ".devin/hooks.json", [], "devin"],
    ["rules of two editors", { ".devin/rules/a.md": "x", ".ide/hooks.json": "{}" }, ".devin/hooks.json", [], "ide"],
  ] as const
) {
  Deno.test(`in a project with ${what} the hooks file that is read is written, and the editor is known`, async () => {
    await using at = await project(files);
    assert.equal(liveHooksFile(DIALECTS.devin, at.root), `${at.root}/${live}`);
    assert.deepEqual(
      hooksFileProblems(DIALECTS.devin, at.root).map(({ path, message }) => [path.slice(at.root.length + 1), message]),
      problems,
    );
    assert.equal(chooseDialect(undefined, { ...AROUND.linux, root: at.root }).id, detected);
    assert.equal(chooseDialect("devin", { ...AROUND.linux, root: at.root }).id, "devin");
  });
}

Deno.test("the editor that was used in a project before is meant again, unless several were", async () => {
  await using at = await project({ ".windsurf/hooks.json": "{}" });
  const choose = (...used: ("ide" | "windsurf" | "devin")[]) => chooseDialect(undefined, at, { used }).id;
  assert.deepEqual([choose(), choose("devin", "devin"), choose("devin", "ide")], ["windsurf", "devin", "windsurf"]);
  assert.equal(chooseDialect("ide", at, { used: ["devin"] }).id, "ide");
});
