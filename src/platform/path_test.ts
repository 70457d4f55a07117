import assert from "node:assert/strict";
import * as fc from "../../tests/property.ts";
import { normalize } from "./path.ts";

Deno.test("a normalized path has the parts that it had without `.`, `..` and empty ones, whatever it is made of", () => {
  const part = fc.constantFrom("", ".", "..", "...", "a", ".b", "c.", "d e");
  fc.assert(fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
    const path = parts.join("/");
    const left: string[] = [];
    for (const part of path.split("/")) {
      if (part === "" || part === ".") continue;
      if (part !== ".." || (left.at(-1) ?? "..") === "..") left.push(part);
      else left.pop();
    }
    const rooted = path.startsWith("/");
    while (rooted && left[0] === "..") left.shift();
    assert.equal(normalize(path), (rooted ? "/" : "") + left.join("/") || ".");
  }));
});
