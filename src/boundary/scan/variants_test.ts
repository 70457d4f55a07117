import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import { FragmentFinder } from "./fragment_finder.ts";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const spelled = (base: number) => (text: string) => [...bytesOf(text)].map((byte) => byte.toString(base)).join(" ");

const PACKINGS: Readonly<Record<string, (text: string) => string>> = {
  hex: (text) => bytesOf(text).toHex(),
  base64: (text) => bytesOf(text).toBase64(),
  "reversed base64": (text) => [...bytesOf(text).toBase64()].reverse().join(""),
  decimal: spelled(10),
  octal: spelled(8),
  binary: (text) => [...bytesOf(text)].map((byte) => byte.toString(2).padStart(8, "0")).join(" "),
};

const FRAGMENT = fc.array(fc.constantFrom(..."abcdefghXYZ0123456789-_=+/äЖ界"), { minLength: 12, maxLength: 40 })
  .map((letters) => letters.join("")).filter((text) => new Set(text.toLowerCase()).size > 3);
const NOISE = fc.string({ maxLength: 30 });

for (const [form, pack] of Object.entries(PACKINGS)) {
  Deno.test(`a fragment is found in ${form}`, () => {
    fc.assert(
      fc.property(FRAGMENT, NOISE, NOISE, (fragment, before, after) => {
        const scanner = new FragmentFinder();
        scanner.add(".env", bytesOf(`first line\n${fragment}\n`));
        assert.notEqual(scanner.fragments(`${before} ${pack(`${before} ${fragment} ${after}`)}`, 1)[0], undefined);
        const other = [...fragment].map((letter) => letter === "q" ? "r" : "q").join("") + "k";
        assert.equal(scanner.fragments(pack(other), 1)[0], undefined, "control");
      }),
      { numRuns: 40 },
    );
  });
}
