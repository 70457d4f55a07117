import assert from "node:assert/strict";
import { FragmentFinder } from "./fragment_finder.ts";
import { formsOf } from "./normalize.ts";

/** Texts, each in encodings that have its letters: windows-1251 has `а` at 0xe0, windows-1250 `ę` at 0xea. */
const ENCODED: Record<string, { text: string; code?(letter: number): number }> = {
  "Latin-1": { text: "Größe=Schlüsselwort" },
  "windows-1251": { text: "пароль=сверхсекретно", code: (letter) => letter < 0x430 ? letter : letter - 0x430 + 0xe0 },
  "windows-1250": { text: "hasło=tajemnęsłowo", code: (letter) => ({ 0x142: 0xb3, 0x119: 0xea })[letter] ?? letter },
};

for (const [encoding, { text, code = (letter: number) => letter }] of Object.entries(ENCODED)) {
  Deno.test(`a file in UTF-16 or ${encoding} is found in a text`, () => {
    const [name = "", value = ""] = text.split("=");
    const codes = Array.from(`${text} \r\n`, (letter) => letter.charCodeAt(0));
    const little = codes.flatMap((one) => [one & 0xff, one >> 8]);
    const big = codes.flatMap((one) => [one >> 8, one & 0xff]);
    const files = { little, big, marked: [0xff, 0xfe, ...little], bytes: codes.map(code) };
    for (const [what, bytes] of Object.entries(files)) {
      const finder = new FragmentFinder();
      finder.add("a", Uint8Array.from(bytes));
      assert.notEqual(finder.fragments(value, 1).length, 0, what);
      assert.deepEqual(finder.fragments(`${value.slice(0, 5)} ${name.slice(0, 4)}`, 1), [], `control: ${what}`);
    }
  });
}

const HIDDEN = "Кодсейфа:двадцатьсемьлошадей";

/** Texts that hold the value. */
const TEXTS: Record<string, string> = {
  "without a blank or line end": HIDDEN,
  "with a NUL": `line one\nline two\n${HIDDEN}\n\0`,
  "with a line end": `${HIDDEN}\r\n`,
};

/** Returns a text as UTF-16. */
function wide(text: string, { isBig, mark }: { isBig: boolean; mark: string }): Uint8Array {
  const codes = Array.from(mark + text, (letter) => letter.charCodeAt(0));
  return Uint8Array.from(codes.flatMap((one) => isBig ? [one >> 8, one & 0xff] : [one & 0xff, one >> 8]));
}

for (const [what, text] of Object.entries(TEXTS)) {
  Deno.test(`UTF-16 is found in either byte order, with a mark and without: ${what}`, () => {
    const long = `${"много слов ".repeat(1_000)}${text}`;
    for (const isBig of [false, true]) {
      for (const mark of ["", "\ufeff"]) {
        for (const content of [text, long]) {
          const finder = new FragmentFinder();
          finder.add("a", wide(content, { isBig, mark }));
          assert.notEqual(finder.fragments(`is ${HIDDEN} good?`, 1).length, 0, JSON.stringify({ isBig, mark }));
          assert.deepEqual(finder.fragments("совсемдругойтекст", 1), [], "control");
        }
      }
    }
  });
}

Deno.test("binary data cost no more than their bytes, and a mark is always believed", () => {
  // A linear congruential generator: the same bytes in each run.
  let state = 1;
  const data = Uint8Array.from({ length: 100_000 }, () => (state = (state * 1_103_515_245 + 12_345) % 2 ** 31) >> 16);
  assert.equal(formsOf(data).length, 1 + 1);
  data.set([0xff, 0xfe]);
  assert.ok(formsOf(data).length > 2, "control: with a mark");
});
