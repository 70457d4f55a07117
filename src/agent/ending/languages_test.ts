import assert from "node:assert/strict";
import { LANGUAGES } from "./languages.ts";

Deno.test("no pattern of a language asks the runtime for tables of letters: every turn ends with them", () => {
  const slow = LANGUAGES.flatMap((language) => Object.values(language) as RegExp[])
    .filter(({ ignoreCase, source }) => ignoreCase || /\\[pP]\{/.test(source));
  assert.deepEqual(slow.map(String), []);
});

Deno.test("every pattern is written in lower case, as the texts are that it is tried on", () => {
  const upper = LANGUAGES.flatMap((language) => Object.values(language) as RegExp[])
    .filter(({ source }) => source.replaceAll(/\\./g, "") !== source.replaceAll(/\\./g, "").toLowerCase());
  assert.deepEqual(upper.map(String), []);
});
