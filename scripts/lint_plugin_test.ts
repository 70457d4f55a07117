import assert from "node:assert/strict";
import plugin from "./lint_plugin.ts";

function rulesBroken(source: string, path = "/x/src/agent/a.ts"): string[] {
  return Deno.lint.runPlugin(plugin, path, source).map(({ id }) => id);
}

const BAD: [string, string][] = [
  ["export function a(b: string, c: string, d: string) {}", "house/parameters"],
  ["function a(b: string, c: string, d: Options, e: number) {}", "house/parameters"],
  ["export const a = (b: string, c: string, d: boolean) => b;", "house/parameters"],
  ["let count = 0;", "house/module-state"],
  ["export let count = 0;", "house/module-state"],
  ["start();", "house/import-work"],
  ["const a = await start();", "house/import-work"],
  ["export const a = (b: string[]) => b[0]!;", "house/non-null-reason"],
  ["export const a = (b: () => void) => setTimeout(b, 9);", "house/slow-timer"],
  ['export const a = (b: number) => b.toLocaleString("en-US");', "house/locale-number"],
  ['export const a = (b: string) => b.normalize("NFC");', "house/normalizing"],
  [`/** ${"a ".repeat(60)}*/`, "house/comment-width"],
  [`  // ${"a ".repeat(60)}`, "house/comment-width"],
  [`/**\n * ${"a ".repeat(60)}\n */`, "house/comment-width"],
];

for (const [source, rule] of BAD) {
  Deno.test(`lint finds ${rule} in: ${source.slice(0, 80)}`, () => assert.deepEqual(rulesBroken(source), [rule]));
}

const GOOD = [
  "function a(b: string, c: string, d: string) {}",
  "export function a(b: string, c: string, d: Options) {}",
  "export function a(b: string, c: string, { d }: { d: boolean }) {}",
  "export const a = 1; function b() { let c = 0; c += 1; }",
  `/** ${"a ".repeat(56)}*/`,
  `// https://a.example/${"a ".repeat(60)}`,
  `const a = "/**"; // ${"a ".repeat(60)}`,
  "// It was checked above.\nexport const a = (b: string[]) => b[0]!;",
];

for (const source of GOOD) {
  Deno.test(`lint passes: ${source.slice(0, 80).replaceAll("\n", " ")}`, () =>
    assert.deepEqual(rulesBroken(source), []));
}

Deno.test("a chat may have timers that are canceled", () => {
  assert.deepEqual(rulesBroken("export const a = (b: () => void) => setInterval(b, 9);", "/x/src/cli/chat/a.ts"), []);
});

Deno.test("tests may keep state and use ! freely", () => {
  assert.deepEqual(rulesBroken("let a = b!;\nstart();", "/x/src/agent/a_test.ts"), []);
});
