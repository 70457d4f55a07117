/** The one import of the property testing library. */
import { integer } from "npm:fast-check@4.10.2";

export * from "npm:fast-check@4.10.2";

/**
 * Any code point but half a pair: the `unit` of a string. The library's own `binary` makes a list of a million first.
 */
export const codePoint = integer({ min: 0, max: 0x10f7ff })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));
