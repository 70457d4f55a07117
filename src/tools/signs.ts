/** Characters that models mix up with plain ones, and invisible characters. */

const SIGNS: readonly (readonly [signs: string, plain: string])[] = [
  ["\u2018\u2019\u201a\u201b\u2032", "'"],
  ["\u201c\u201d\u201e\u201f\u2033", '"'],
  ["\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"],
  ["\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000", " "],
  // The wide forms of ASCII, as keyboards of East Asia write them.
  ...Array.from({ length: 94 }, (_, at) => [String.fromCharCode(0xff01 + at), String.fromCharCode(0x21 + at)] as const),
];

/** Character → the plain one. */
export const PLAIN: ReadonlyMap<string, string> = new Map(
  SIGNS.flatMap(([signs, plain]) => [...signs].map((sign) => [sign, plain])),
);

/** Finds every such character. */
export const SIGN: RegExp = new RegExp(`[${SIGNS.map(([signs]) => signs).join("")}]`, "g");

/** Returns the text with plain characters; every position stays. */
export function withPlainSigns(text: string): string {
  return text.replace(SIGN, (sign) => PLAIN.get(sign) ?? sign);
}

/** Returns the text without characters of no width: they come from web pages and tokenizers, not from files. */
export function withoutInvisible(text: string): string {
  return text.replace(/[\u00ad\u200b-\u200d\u2060\ufeff]/g, "");
}
