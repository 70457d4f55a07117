import assert from "node:assert/strict";
import { structureOf as structureAt, structureView } from "./structure_view.ts";

const at = (path: string) => ({ path: `/p/${path}`, real: `/p/${path}`, display: path });
const structureOf = (path: string, text: string) => structureAt(at(path), text);

const HEX = "9f86d081884c7d659a2feaa0c55ad015";
const PLAIN = "Tr0ub4dor&3";

Deno.test("names are shown, and values by their shapes, in each form of keys and values", () => {
  const cases: [path: string, text: string, shown: string][] = [
    [".env", `DB_PASSWORD=${HEX}\n`, "DB_PASSWORD=<32 characters, letters and digits>\n"],
    [".env.local", `export KEY="${PLAIN}"\r\nEMPTY=\n`, 'export KEY="<11 characters, no spaces>"\nEMPTY=<empty>\n'],
    [".env", "PORT=5432\nDEBUG=true\nPIN=4711\n", "PORT=5432\nDEBUG=true\nPIN=<4 characters, digits>\n"],
    [".env", `# old: ${PLAIN}\n#\n`, "# <16 characters, words>\n#\n"],
    [".env", `${PLAIN}\n  ${PLAIN}\n`, "<11 characters, no spaces>\n<11 characters, no spaces>\n"],
    [
      "a/config.json",
      `{\n  "db": {\n    "password": "${PLAIN}",\n    "port": 5432,\n    "tags": [],\n    "on": false\n  }\n}`,
      '{\n  "db": {\n    "password": "<11 characters, no spaces>",\n    "port": 5432,\n    "tags": [],\n    "on": false\n  }\n}',
    ],
    ["x.json", `{"password":"${PLAIN}"}`, '{\n  "password": "<11 characters, no spaces>"\n}'],
    [
      "k.yaml",
      `db:\n  password: ${PLAIN}\n  hosts:\n    - ${PLAIN}\n  note: |\n    ${PLAIN}\n    more`,
      "db:\n  password: <11 characters, no spaces>\n  hosts:\n    - <11 characters, no spaces>\n  note: |\n" +
      "    <11 characters, no spaces>\n    <4 characters, letters>",
    ],
    ["notes", `user = bob\npass = ${PLAIN}\n`, "user = <3 characters, letters>\npass = <11 characters, no spaces>\n"],
    ["a.ini", `[db]\npass: ${PLAIN}\n`, "[db]\npass: <11 characters, no spaces>\n"],
    ["a.yaml", "keys:\n  [hunter2]\n", "keys:\n<9 characters, no spaces>\n"],
    ["a.json", '[\n["hunter2"]\n]', "[\n<11 characters, no spaces>\n]"],
    ["notes", "A=1\rB=hunter2\rC=2\r", "<17 characters, words>"],
  ];
  for (const [path, text, shown] of cases) {
    assert.equal(structureOf(path, text).replaceAll(/^ +(?=<)/gm, ""), shown.replaceAll(/^ +(?=<)/gm, ""), path);
  }
});

Deno.test("a private key is shown as its frame, and lines keep their numbers", () => {
  const body = Array.from({ length: 4 }, () => "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7").join("\n");
  const text = `before\n-----BEGIN RSA PRIVATE KEY-----\n${body}\n-----END RSA PRIVATE KEY-----\nafter\n`;
  for (const path of ["key.pem", "notes.md", "a.yaml"]) {
    const shown = structureOf(path, text);
    assert(!shown.includes("MIIE"), shown);
    assert(shown.includes("-----BEGIN RSA PRIVATE KEY-----\n<4 lines of base64>"), shown);
    assert.equal(shown.split("\n").length, text.split("\n").length);
  }
  // One that does not end hides the rest.
  assert(!structureOf("a.md", `-----BEGIN PRIVATE KEY-----\n${body}`).includes("MIIE"));
});

Deno.test("in other texts words stay, and what looks like a key does not", () => {
  const base64 = "dGhpcyBpcyBhIHNlY3JldCB0aGF0";
  const text = `const url = "postgres://bob:${PLAIN}@db/main";\nconst token = "${HEX}"; // ${base64}\n` +
    "function readConfigurationFromEnvironment() { return src_private_structure_view; }\n" +
    "const card = 4111111111111111;\n";
  const shown = structureOf("src/a.ts", text);
  for (const secret of [HEX, PLAIN, base64, "4111111111111111"]) assert(!shown.includes(secret), shown);
  for (
    const word of ["readConfigurationFromEnvironment", "src_private_structure_view", "postgres://bob:", "const token"]
  ) {
    assert(shown.includes(word), shown);
  }
});

Deno.test("a random value is in no view of a file of keys and values", () => {
  for (let round = 0; round < 500; round++) {
    const secret = crypto.getRandomValues(new Uint8Array(9)).toBase64({ alphabet: "base64url" });
    const quote = ["", '"', "'"][round % 3] ?? "";
    const value = `${quote}${secret}${quote}`;
    const forms = [
      `A=${value}`,
      `a: ${value}`,
      `  "a": ${value},`,
      `- ${value}`,
      value,
      `# ${value}`,
      `A B ${value}`,
      `a:\n  ${value}`,
      `${secret}==`,
      `${secret}1aZ=`,
    ];
    for (const form of forms) {
      for (const path of [".env", "a.json", "b.yml", "c.toml", "credentials"]) {
        assert(!structureOf(path, form).includes(secret), `${path}: ${form}`);
      }
    }
  }
});

/** Returns what is written when a model changes the view of a file; the refusal's word where it is not. */
function written(path: string, before: string, change: (shown: string) => string): string {
  const encode = (text: string) => new TextEncoder().encode(text);
  const status = {
    born: 0,
    kind: "file" as const,
    size: before.length,
    modified: 0,
    changed: 0,
    mode: null,
    owner: null,
    device: 1,
    inode: 1,
    links: 1,
  };
  const read = { bytes: encode(before), more: false, status, real: `/p/${path}` };
  const after = structureView.restored(read, at(path), encode(change(structureOf(path, before))));
  return after instanceof Uint8Array ? new TextDecoder().decode(after) : after.refused;
}

Deno.test("a change of the view keeps the values that it does not touch", () => {
  const env = `# ${PLAIN}\nA=${HEX}\nB="x y"\n\nC=\n`;
  assert.equal(written(".env", env, (shown) => shown), env);
  assert.equal(
    written(".env", env, (shown) => shown.replace("C=<empty>", "C=new") + "D=1\n"),
    env.replace("C=", "C=new") + "D=1\n",
  );
  assert.equal(written(".env", env, (shown) => shown.replace(/^A=.*\n/m, "")), env.replace(/^A=.*\n/m, ""));
  assert.equal(
    written(".env", env, (shown) => shown.split("\n").reverse().join("\n")),
    env.split("\n").reverse().join("\n"),
  );
  const json = { a: { password: PLAIN, list: ["one", "two"] } };
  const changed = written("a.json", JSON.stringify(json), (shown) => shown.replace('"list"', '"items"'));
  assert.deepEqual(JSON.parse(changed), { a: { password: PLAIN, items: ["one", "two"] } });
});

Deno.test("lines keep their places and ends when one that holds a whole key stands among them", () => {
  const key = String.raw`-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG\nAASC\n-----END PRIVATE KEY-----\n`;
  const account = `{\n  "id": "${HEX}",\n  "key": "${key}",\n  "mail": "a@b.c",\n  "on": true\n}\n`;
  for (const path of ["a.json", "notes.md"]) {
    const shown = structureOf(path, account);
    assert(!/MIIE|AASC/.test(shown), shown);
    assert.equal(shown.split("\n").length, account.split("\n").length);
    const change = (text: string) => text.replace(": true", ": false");
    assert.equal(written(path, account, change), change(account), path);
  }
  const windows = `A=${HEX}\r\n\r\nPORT=5432\r\nB=x y\r\n`;
  const more = windows.replace("5432", "5433") + "C=1\r\n";
  assert.equal(written(".env", windows, (shown) => shown.replace("5432", "5433") + "C=1\n"), more);
});

Deno.test("a change that leaves a shape without its value is refused", () => {
  const env = `A=${HEX}\nB=abc\n`;
  assert.equal(written(".env", env, (shown) => shown.replace("A=", "Z=")), "protected");
  assert.equal(written(".env", env, (shown) => shown.replace("<32", "<31")), "protected");
  const list = "- abcd\n- efgh\n";
  assert.equal(written("a.yaml", list, (shown) => shown), list);
  // Nobody can tell which of two that look alike is meant.
  assert.equal(written("a.yaml", list, (shown) => shown.split("\n").slice(1).join("\n")), "protected");
});

Deno.test("long lines of any kind are shown in a time that grows with them", () => {
  const size = 1_000_000;
  const long = [
    "://".repeat(size / 3),
    `a=b${" ".repeat(size)}c`,
    " ".repeat(size) + "x",
    `a${"-".repeat(size)}!`,
    `"${"a".repeat(size)}`,
    "-----BEGIN A-----\n".repeat(size / 18),
    `- ${" ,".repeat(size / 2)}`,
    "aB1".repeat(size / 3),
  ];
  for (const path of [".env", "a.md", "a.json"]) for (const text of long) structureOf(path, text);
});
