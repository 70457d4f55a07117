import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import { FragmentFinder } from "./fragment_finder.ts";
import type { Form } from "./variants.ts";

function scannerOf(files: Record<string, string | Uint8Array>): FragmentFinder {
  const scanner = new FragmentFinder();
  for (const [path, content] of Object.entries(files)) {
    scanner.add(path, typeof content === "string" ? bytesOf(content) : content);
  }
  return scanner;
}

const scan = (scanner: FragmentFinder, text: string) => scanner.fragments(text, 500)[0]?.hit ?? null;
const bytesOf = (text: string) => new TextEncoder().encode(text);
const hexOf = (text: string) => [...bytesOf(text)].map((byte) => byte.toString(16).padStart(2, "0"));
const base64Of = (text: string) => btoa(String.fromCharCode(...bytesOf(text)));
/** Little-endian, as bytes in a string. */
const utf16Of = (text: string) =>
  text.split("").map((unit) => unit.charCodeAt(0)).map((unit) => String.fromCharCode(unit & 0xff, unit >> 8)).join("");
const swapCase = (text: string) =>
  [...text].map((letter) => letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase()).join("");

/** Every way that a fragment is looked for; `before` and `after` are what stands around it. */
const ENCODINGS: Record<string, (fragment: string, around: { before: string; after: string }) => string> = {
  plain: (fragment, { before, after }) => before + fragment + after,
  "in another case": (fragment, { before, after }) => before + swapCase(fragment) + after,
  "spread over lines": (fragment, { before, after }) => before + [...fragment].join("\n  ") + after,
  "quoted in pieces": (fragment, { before, after }) => before + [...fragment].join('" "') + after,
  "as JSON": (fragment, { before, after }) => JSON.stringify(before + fragment + after),
  "as JSON in JSON": (fragment, { before, after }) => JSON.stringify(JSON.stringify(before + fragment + after)),
  "by \\u": (fragment, { before, after }) =>
    before + [...fragment].map((letter) => `\\u{${letter.codePointAt(0)?.toString(16)}}`).join("") + after,
  reversed: (fragment, { before, after }) => before + [...fragment].reverse().join("") + after,
  "in percent": (fragment, { before, after }) => before + hexOf(fragment).map((pair) => `%${pair}`).join("") + after,
  "in hex": (fragment, { before, after }) => before + hexOf(fragment).join("") + after,
  "in upper hex": (fragment, { before, after }) => before + hexOf(fragment).join("").toUpperCase() + after,
  "in hex with colons": (fragment) => hexOf(fragment).join(":"),
  "in hex with \\x": (fragment, { before, after }) =>
    before + hexOf(fragment).map((pair) => `\\x${pair}`).join("") + after,
  "in hex as bytes": (fragment) => `[${hexOf(fragment).map((pair) => `0x${pair}`).join(", ")}]`,
  "in base64 with what stands around it": (fragment, { before, after }) => base64Of(before + fragment + after),
  "in base64 within words": (fragment, { before, after }) => `${before} ${base64Of(fragment)} ${after}`,
  "in base64 for URLs": (fragment, { before, after }) =>
    base64Of(before + fragment + after).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", ""),
  "in base64 of UTF-16": (fragment) => btoa(utf16Of(fragment)),
  "in hex of UTF-16": (fragment) =>
    [...utf16Of(fragment)].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join(""),
  "in wrapped base64": (fragment, { before, after }) => base64Of(before + fragment + after).replace(/(.{7})/g, "$1\n"),
};

/** Characters that normalizing keeps, of one, two, three and four bytes. */
const KEPT = fc.constantFrom(
  ...("abcdefghijklmnopqrstuvwxyzABCDEFGHXYZ0123456789" + "=+/_-.:;,!#%&()[]{}<>?@^|~$*äñЖжΩ界😀"),
);
const FRAGMENT = fc.array(KEPT, { minLength: 12, maxLength: 40 }).map((letters) => letters.join(""))
  .filter((text) => new Set(text.toLowerCase()).size > 3);
/** Of UTF-16 only ASCII is read: its other half is NUL, which is left out. */
const ASCII_FRAGMENT = FRAGMENT.map((text) => text.replace(/[^ -~]/g, "k")).filter((text) =>
  new Set(text.toLowerCase()).size > 3
);
const NOISE = fc.string({ maxLength: 30 });

for (const [name, encode] of Object.entries(ENCODINGS)) {
  Deno.test(`a fragment of 12 characters is found ${name}, wherever it stands`, () => {
    fc.assert(
      fc.property(
        name.includes("UTF-16") ? ASCII_FRAGMENT : FRAGMENT,
        NOISE,
        NOISE,
        NOISE,
        NOISE,
        (fragment, before, after, above, below) => {
          const scanner = scannerOf({ "other.txt": "nothing to be found here", ".env": above + fragment + below });
          const hit = scan(scanner, encode(fragment, { before, after }));
          assert.ok(hit !== null);
        },
      ),
      { numRuns: 150 },
    );
  });
}

Deno.test("every part of 12 characters of a long file is found, at any offset", () => {
  const content = Array.from({ length: 60 }, (_, index) => `${index}:${crypto.randomUUID().replaceAll("-", "")}`).join(
    "",
  );
  const scanner = scannerOf({ "key.pem": content });
  for (let at = 0; at + 12 <= content.length; at++) {
    assert.ok(scan(scanner, `>${content.slice(at, at + 12)}<`) !== null, `offset ${at}`);
  }
});

Deno.test("content that repeats itself thousands of times hides none of its parts", () => {
  const rows = Array.from({ length: 4000 }, (_, index) => `2024-01-01,customer,${index * 7919 % 100_003},ok`);
  const scanner = scannerOf({ "rows.csv": rows.join("\n") });
  for (const row of [...rows.slice(0, 40), ...rows.slice(-40), ...rows.slice(2000, 2040)]) {
    const tail = row.slice(10);
    for (let at = 0; at + 12 <= tail.length; at++) assert.ok(scan(scanner, tail.slice(at, at + 12)) !== null, tail);
  }
});

Deno.test("texts that share no characters with the files never hit", () => {
  const capitals = fc.array(fc.constantFrom(..."abcdefgh"), { maxLength: 300 }).map((letters) => letters.join(""));
  const digits = fc.array(fc.constantFrom(...'ijklmnop \n"\\'), { maxLength: 300 }).map((letters) => letters.join(""));
  fc.assert(fc.property(capitals, digits, (content, text) => {
    const found = scannerOf({ a: content }).fragments(text, 10).filter(({ hit }) => hit.form === "plain");
    assert.deepEqual(found, []);
  }));
});

Deno.test("whatever text comes, a hit is really in the file", () => {
  fc.assert(fc.property(fc.string({ maxLength: 200 }), fc.string({ maxLength: 400 }), (content, text) => {
    const whole = content.toLowerCase().replace(/[\s"'`\\]/g, "");
    for (const { normalized, hit } of scannerOf({ a: content }).fragments(text, 10)) {
      assert.equal(hit.path, "a");
      assert.ok(normalized.length >= 8 && whole.includes(normalized));
    }
  }));
});

Deno.test("eleven characters are no hit, unless they are a whole value or line", () => {
  const scanner = scannerOf({ ".env": "API_TOKEN=tr0ub4dor&3xyz\nPIN=12345678\n" });
  assert.equal(scan(scanner, "the end: 4dor&3xyz7"), null);
  assert.equal(scan(scanner, "tr0ub4dor&3"), null);
  assert.ok(scan(scanner, "the number is 12345678.") !== null);
});

const WHOLES: [string, string, string][] = [
  ["a value after =", "PASSWORD=hunter2x\n", "hunter2x"],
  ["a quoted value", 'export PASSWORD="hunter2x" # old\n', "hunter2x"],
  ["a value with a comment", "PASSWORD=hunter2x # old\n", "hunter2x"],
  ["a value of YAML", "db:\n  secret: hunter2x\n", "hunter2x"],
  ["an item of YAML", "pins:\n  - hunter2x\n", "hunter2x"],
  ["a value of JSON", '{"a": {"b": "hunter2x", "c": 1}}', "hunter2x"],
  ["an unquoted value with a comma", "pin = hunter2x,\n", "hunter2x"],
  ["a whole line", "first\nhunter2x\nlast\n", "hunter2x"],
  ["a whole line without an end", "hunter2x", "hunter2x"],
  ["a line with CR LF", "first\r\nhunter2x\r\n", "hunter2x"],
  ["a value of eleven", "A=hunter2xyz1\n", "hunter2xyz1"],
];

for (const [name, content, value] of WHOLES) {
  Deno.test(`${name} of 8 to 11 characters is found: ${JSON.stringify(content)}`, () => {
    const scanner = scannerOf({ f: content });
    for (
      const text of [
        value,
        value.toUpperCase(),
        `x ${value}y`,
        base64Of(`It is ${value}, really`),
        new TextEncoder().encode(value).toHex(),
        [...value].reverse().join(""),
      ]
    ) {
      assert.ok(scan(scanner, text) !== null, text);
    }
    assert.equal(scan(scanner, value.slice(0, 7)), null);
  });
}

Deno.test("a hit names the file and its lines, and the form, and holds nothing of the content", () => {
  const scanner = scannerOf({
    "a.txt": "one\ntwo\n",
    ".env": "\n# comment\nNAME=x\n\nTOKEN=4f9c2b7e1d8a6053\nNEXT=1\n",
    "z.txt": "unrelated words here",
  });
  const plain = { path: ".env", firstLine: 5, lastLine: 5, form: "plain" };
  assert.deepEqual(scan(scanner, "is 4f9c2b7e1d8a6053 right?"), plain);
  assert.deepEqual(scan(scanner, "3506a8d1e7b2c9f4"), { path: ".env", firstLine: 5, lastLine: 5, form: "reversed" });
  assert.deepEqual(scan(scanner, "y\nTOKEN=4f9c2b7e1d8a6053\nNEXT=1\n"), {
    path: ".env",
    firstLine: 5,
    lastLine: 6,
    form: "plain",
  });
});

const FORMS: [Form, string][] = [
  ["plain", "4f9c2b7e1d8a60"],
  ["escaped", "4f9c2b7\\u0065\\u0031d8a60"],
  ["percent", "4f9c2b7%651d8a60"],
  ["reversed", "06a8d1e7b2c9f4"],
  ["hex", hexOf("zq9c2b7e1d8a60").join(" ")],
  ["base64", base64Of("4f9c2b7e1d8a60")],
];
for (const [form, text] of FORMS) {
  Deno.test(`the form ${form} is named`, () => {
    assert.equal(scan(scannerOf({ a: "zq9c2b7e1d8a60 or 4f9c2b7e1d8a60" }), text)?.form, form);
  });
}

Deno.test("rulers, zeros and stopWords words are no hits", () => {
  const scanner = scannerOf({
    a: "# ------------------------------\nNODE_ENV=production\nHOST=localhost\nURL=https://www.example.test\n=-=-=-=-=-=-=-=-=\n",
    b: new Uint8Array(64),
  });
  for (
    const text of ["--------------------", "in production", "localhost", "https://www.other.test", "=-=-=-=-=-=-=-=-=-"]
  ) {
    assert.equal(scan(scanner, text), null, text);
  }
  assert.equal(scan(scanner, "A".repeat(100)), null);
  assert.ok(scan(scanner, "www.example.test") !== null);
});

Deno.test("the head of a file with front matter is no hit; what follows in it is, as without it", () => {
  const scanner = scannerOf({
    "reviewer.md": "---\ndescription: Reviews the quarterly numbers\nname: reviewer\n---\nLook.\n",
    "rule.md": "---\ntrigger: always_on\ndescription: hunter2pw\n---\nLook.\n",
  });
  const open = [
    "---\ndescription: Runs all tests\n---\n",
    "---\ntrigger: always_on\ndescription: says how to write\n---\n",
    "---\ntrigger: always_on\n---\n\nLook at it.\n",
    "description: Reviews them",
  ];
  for (const text of open) assert.equal(scan(scanner, text), null, text);
  const hits = ["---\ndescription: Reviews the qu", "Reviews the quarterly", "description: hunter2pw"];
  for (const text of hits) assert.notEqual(scan(scanner, text), null, text);
});

Deno.test("two files are not one text: what ends one and begins the next is no fragment", () => {
  const scanner = scannerOf({ a: "abcdefg1", b: "2hijklmn" });
  assert.equal(scan(scanner, "bcdefg12hijklm"), null);
});

Deno.test("a megabyte is indexed and a third is scanned without a find, also where everything is alike", () => {
  const pieces: string[] = [];
  for (let index = 0; index < 22_000; index++) {
    pieces.push(`${index * 2654435761 % 4294967296}-row-${index % 97} of the table\n`);
  }
  const content = bytesOf(pieces.join(""));
  for (
    const [bytes, text] of [[content, "lorem ipsum dolor ".repeat(18_000)], [
      new Uint8Array(8e5).fill(45),
      "-".repeat(3e5),
    ]]
  ) {
    const scanner = new FragmentFinder();
    scanner.add("a", bytes as Uint8Array);
    // A slip into the square of the length would show as a test that does not end.
    assert.equal(scan(scanner, text as string), null);
  }
});

Deno.test("one run of base64 of seven megabytes, as an image is, is looked through to its end", () => {
  const secret = "the sentence that stands in the protected file";
  const bytes = new Uint8Array(5 * 1024 * 1024);
  for (let at = 0; at < bytes.length; at++) bytes[at] = (at * 2654435761 >>> 13) & 0xff;
  const scanner = scannerOf({ a: secret });
  bytes.set(bytesOf(secret), bytes.length - 100);
  assert.equal(scan(scanner, bytes.toBase64())?.form, "base64");
});

Deno.test("an image that is no copy of a protected image passes, however alike their headers are; a part of a copy does not", () => {
  const url = (bytes: Uint8Array) => `data:image/png;base64,${bytes.toBase64()}`;
  const noise = (seed: number, length: number) => {
    let state = seed;
    return Uint8Array.from({ length }, () => {
      state = Math.imul(state ^ state >>> 15, 0x2c1b3c6d) + 0x9e3779b9 | 0;
      return state >>> 11 & 0xff;
    });
  };
  const header = new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...noise(7, 400)]);
  const image = (seed: number) => new Uint8Array([...header, ...noise(seed, 6000)]);
  const [kept, other] = [image(1), image(2)];
  const words = "the words of the protected note";
  const scanner = scannerOf({ "kept.png": kept, "note.txt": words });
  assert.equal(scan(scanner, url(other)), null);
  assert.ok(scan(scanner, other.toBase64()) !== null, "control: as text the common header is a fragment");
  for (const copy of [kept, kept.subarray(0, 1500), new Uint8Array([...header, ...kept.subarray(3000)])]) {
    assert.equal(scan(scanner, url(copy))?.path, "kept.png");
  }
  const carrier = new Uint8Array([...other, ...bytesOf(words)]);
  assert.equal(scan(scanner, url(carrier))?.path, "note.txt", "words of other files count as ever");
});

Deno.test("short lines are one text, also where each has its number or the name of its file before it", () => {
  const lines = ["7Kq2", "m9Xz", "Lw4t", "Ry81", "Bn5c"];
  const scanner = scannerOf({ "codes.txt": lines.join("\n") });
  const hex = hexOf(lines.join("")).map((pair, at) => `${at + 1}\t${pair}`).join("\n");
  const base64 = (base64Of(lines.join("")).match(/.{1,6}/g) ?? []).map((part, at) => `b.txt:${at + 1}:${part}`).join(
    "\n",
  );
  const numbered = [
    (line: string, at: number) => `${at + 1}\t${line}`,
    (line: string, at: number) => `     ${at + 98}\t${line}`,
    (line: string, at: number) => `notes/codes.txt:${at + 1}:${line}`,
    (line: string, at: number) => `notes/codes.txt-${at + 1}-${line}`,
    (line: string, at: number) => `${at + 1}: ${line}`,
  ].map((form) => lines.map(form).join("\n"));
  for (const text of [...numbered, hex, base64]) assert.ok(scan(scanner, text) !== null, text);
  assert.equal(scan(scanner, "1\t7Kq2\n2\tnothing\n3\tLw4t"), null, "control: other lines between them");
});

Deno.test("what only begins like an image, or a file that only spells like one, is a text", () => {
  const begin = "data:image/png;base64,";
  const secret = "Wq8Kz31Lm7tR42vB";
  const image = new Uint8Array([
    0x89,
    0x50,
    0x4e,
    0x47,
    0x0d,
    0x0a,
    0x1a,
    0x0a,
    ...bytesOf("lorem ipsum ".repeat(100)),
  ]);
  const scanner = scannerOf({
    "kept.png": new Uint8Array([...image, ...bytesOf(secret)]),
    "note.txt": `about   WEBP ${"dolor sit amet ".repeat(50)} ${secret.toLowerCase()}-9x`,
  });
  const texts = [begin + secret, `${begin}\n${secret}`, `${begin}\n${btoa(secret)}`];
  for (const text of texts) assert.ok(scan(scanner, text) !== null, text.slice(0, 60));
  const other = new Uint8Array([...image.subarray(0, 8), ...bytesOf(`${secret.toLowerCase()}-9x`)]);
  assert.equal(scan(scanner, begin + other.toBase64())?.path, "note.txt", "a text with WEBP in it");
  assert.equal(
    scan(scanner, begin + new Uint8Array(image.subarray(0, 30)).toBase64()),
    null,
    "control: a common header",
  );
});
