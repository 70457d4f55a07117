import assert from "node:assert/strict";
import { FragmentFinder } from "./fragment_finder.ts";

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
