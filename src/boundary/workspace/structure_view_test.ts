import assert from "node:assert/strict";
import { structureOf } from "./structure_view.ts";

const HEX = "9f86d081884c7d659a2feaa0c55ad015";
const PLAIN = "Tr0ub4dor&3";

Deno.test("names are shown, and values by their shapes, in each form of keys and values", () => {
  const cases: [path: string, text: string, shown: string][] = [
    [".env", `DB_PASSWORD=${HEX}\n`, "DB_PASSWORD=<32 characters, letters and digits>\n"],
    [".env.local", `export KEY="${PLAIN}"\r\nEMPTY=\n`, "export KEY=<11 characters, no spaces>\nEMPTY=<empty>\n"],
    [".env", "PORT=5432\nDEBUG=true\nPIN=4711\n", "PORT=5432\nDEBUG=true\nPIN=<4 characters, digits>\n"],
    [".env", `# old: ${PLAIN}\n#\n`, "# <16 characters, words>\n#\n"],
    [".env", `${PLAIN}\n  ${PLAIN}\n`, "<11 characters, no spaces>\n<11 characters, no spaces>\n"],
    [
      "a/config.json",
      `{\n  "db": {\n    "password": "${PLAIN}",\n    "port": 5432,\n    "tags": [],\n    "on": false\n  }\n}`,
      '{\n  "db": {\n    "password": <11 characters, no spaces>,\n    "port": 5432,\n    "tags": [],\n    "on": false\n  }\n}',
    ],
    ["x.json", `{"password":"${PLAIN}"}`, '{\n  "password": <11 characters, no spaces>\n}'],
    [
      "k.yaml",
      `db:\n  password: ${PLAIN}\n  hosts:\n    - ${PLAIN}\n  note: |\n    ${PLAIN}\n    more`,
      "db:\n  password: <11 characters, no spaces>\n  hosts:\n    - <11 characters, no spaces>\n  note: |\n" +
      "    <11 characters, no spaces>\n    <4 characters, letters>",
    ],
    ["notes", `user = bob\npass = ${PLAIN}\n`, "user = <3 characters, letters>\npass = <11 characters, no spaces>\n"],
    ["a.ini", `[db]\npass: ${PLAIN}\n`, "[db]\npass: <11 characters, no spaces>\n"],
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
