import assert from "node:assert/strict";
import * as fc from "../../../tests/property.ts";
import { explainNoMatch, findAll, linesAt } from "./nearest.ts";
import { applyReplacements, matchEdit } from "./match.ts";
import { hunksOf } from "./report.ts";

const character = fc.constantFrom("a", "b", " ", "\t", "\n", "\r\n", "é", "😀", "$&", "{");
const text = (maxLength: number) => fc.array(character, { maxLength }).map((parts) => parts.join(""));

function apply(file: string, old: string, options: { new: string; all?: boolean }): string | null {
  const match = matchEdit(file, { old, new: options.new, all: options.all ?? false });
  return match.kind === "found" ? applyReplacements(file, match.replacements) : null;
}

Deno.test("the search finds what a plain scan finds", () => {
  const small = fc.array(fc.constantFrom("a", "b"), { maxLength: 30 }).map((parts) => parts.join(""));
  const pattern = fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
  fc.assert(fc.property(small, pattern, (file, wanted) => {
    const plain: number[] = [];
    for (let at = file.indexOf(wanted); at !== -1; at = file.indexOf(wanted, at + 1)) plain.push(at);
    assert.deepEqual(findAll(file, wanted), plain);
  }));
});

Deno.test("an edit of an exact unique text is a plain replacement, all else byte for byte the same", () => {
  // `new` without line ends of its own: those follow the file and are tested beside this.
  const piece = fc.constantFrom("x", " ", "\t", "$1", "é").map(String);
  const replacement = fc.array(piece, { maxLength: 6 }).map((parts) => parts.join(""));
  fc.assert(fc.property(text(20), text(8), text(20), replacement, (before, middle, after, fresh) => {
    const file = before + middle + after;
    fc.pre(middle !== "" && findAll(file, middle).length === 1);
    assert.equal(apply(file, middle, { new: fresh }), before + fresh + after);
  }));
});

Deno.test("places that overlap are several places", () => {
  assert.equal(matchEdit("}\n}\n}\n", { old: "}\n}\n", new: "x", all: false }).kind, "several");
  assert.equal(matchEdit("}\n}\n}\n", { old: " }\n }", new: "x", all: false }).kind, "several");
});

Deno.test("replacing all is what joining the parts is", () => {
  fc.assert(fc.property(text(30), text(3), (file, old) => {
    fc.pre(old !== "" && file.includes(old) && !file.includes("\r"));
    assert.equal(apply(file, old, { new: "X", all: true }), file.split(old).join("X"));
  }));
});

Deno.test("a loose match changes nothing before its first line and after its last", () => {
  const line = fc.constantFrom("  foo( a )", "\tbar", "}", "", "baz  ", "    if x:");
  const lines = fc.array(line, { minLength: 1, maxLength: 8 });
  fc.assert(fc.property(lines, fc.nat(7), fc.nat(7), (all, one, other) => {
    const from = Math.min(one, other, all.length - 1);
    const to = Math.min(Math.max(one, other), all.length - 1);
    const file = all.join("\n");
    const old = all.slice(from, to + 1).map((text) => `   ${text.trim()} `).join("\n");
    const match = matchEdit(file, { old, new: "N", all: false });
    if (match.kind !== "found" || match.differs === "none") return;
    for (const { start, end } of match.replacements) {
      const [first = 0, last = 0] = linesAt(file, [start, Math.max(start, end - 1)]);
      assert.ok(first >= from + 1 && last <= to + 1, `${first}-${last} of ${from + 1}-${to + 1}`);
    }
  }));
});

Deno.test("hunks applied to the old lines give the new lines", () => {
  fc.assert(fc.property(text(60), text(2), text(6), (file, old, fresh) => {
    fc.pre(old !== "" && file.includes(old));
    const match = matchEdit(file, { old, new: fresh, all: true });
    if (match.kind !== "found") return;
    const hunks = hunksOf(file, match.replacements);
    fc.pre(hunks.length < 20);
    const plain = (lines: string) => lines.replaceAll("\r\n", "\n").split("\n");
    const lines = plain(file);
    for (const hunk of hunks) {
      const removed = hunk.lines.filter((line) => !line.startsWith("+")).map((line) => line.slice(1));
      const added = hunk.lines.filter((line) => !line.startsWith("-")).map((line) => line.slice(1));
      assert.equal(removed.length, hunk.oldLines);
      assert.deepEqual(lines.splice(hunk.newStart - 1, hunk.oldLines, ...added), removed);
    }
    const after = plain(applyReplacements(file, match.replacements));
    const trimmed = (all: string[]) => all.join("\n").replace(/\n+$/, "");
    assert.equal(trimmed(lines), trimmed(after));
  }));
});

Deno.test("explaining never fails and stays short", () => {
  fc.assert(fc.property(text(80), text(40), (file, old) => {
    assert.ok(explainNoMatch(file, old).text.length < 3000);
  }));
});

Deno.test("hostile repetition costs no more than its length", { timeout: 60_000 }, () => {
  const million = 1_000_000;
  const cases: [file: string, old: string][] = [
    ["a".repeat(million), "a".repeat(1000) + "b" + "a".repeat(99_000)],
    [" ".repeat(million), " ".repeat(100_000) + "x"],
    [" \n".repeat(million / 2), "x" + " ".repeat(100_000) + "\n".repeat(1000) + "y"],
    ["ab".repeat(million / 2), "ab".repeat(50_000) + "b"],
    ["}\n".repeat(million / 2), "}\n".repeat(20_000) + "x"],
  ];
  for (const [file, old] of cases) {
    assert.equal(matchEdit(file, { old, new: "z", all: false }).kind, "none");
    explainNoMatch(file, old);
  }
});
