import assert from "node:assert/strict";
import { doubtOf } from "./marker_report.ts";

Deno.test("a line that looks like two paths or holds a comment is doubted, one with escaped signs is not", () => {
  for (
    const path of [".env .env.local", ".env; secrets", ".env // note", ".env -- note", "- .env", "**.pem", "/etc/x"]
  ) {
    assert.ok(doubtOf(path), path);
  }
  for (const path of [".env", "**/*.pem", "a/**", "my\\ file.txt", "a\\;b", "src/*.ts"]) {
    assert.equal(doubtOf(path), null, path);
  }
});
