import assert from "node:assert/strict";
import { FragmentFinder } from "./fragment_finder.ts";

function finds(file: string, text: string): boolean {
  const scanner = new FragmentFinder();
  scanner.add(".env", new TextEncoder().encode(file));
  return scanner.fragments(text, 10).length > 0;
}

const ENV = "# of the shop\nNODE_ENV=x\nexport DATABASE_PASSWORD='hunter2!'\n- OAUTH2_CLIENT_SECRET=q7-4711-zz\n" +
  "S3_BUCKET_2FA = tr0ub4dor&3\r\nSTRIPE_WEBHOOK_TOKEN=OTHER_VARIABLE_NAME\n";

for (
  const text of [
    "const url = process.env.DATABASE_PASSWORD;",
    "export DATABASE_PASSWORD=",
    "DATABASE_PASSWORD=${DATABASE_PASSWORD:?}",
    'os.environ["OAUTH2_CLIENT_SECRET"]',
    "- OAUTH2_CLIENT_SECRET=",
    "S3_BUCKET_2FA=",
    "stripe_webhook_token=4",
    btoa("the DATABASE_PASSWORD and more"),
  ]
) {
  Deno.test(`names of variables are no secret: ${text}`, () => assert.equal(finds(ENV, text), false));
}

for (
  const text of [
    "DATABASE_PASSWORD='hunter2!'",
    "DATABASE_PASSWORD=h",
    "hunter2!",
    "OAUTH2_CLIENT_SECRET=q7-4711-zz",
    "q7-4711-zz",
    "is it tr0ub4dor&3?",
    "OTHER_VARIABLE_NAME",
    "# of the shop",
  ]
) {
  Deno.test(`values, comments, and what continues into a value are: ${text}`, () =>
    assert.equal(finds(ENV, text), true));
}

/** Lines whose first word may be a secret itself. */
for (
  const line of [
    "c2VjcmV0c2VjcmV0c2Vjc=",
    "QUJDREVGR0hJSktMTU5PUA==",
    "ABCD_EFGH_IJKL_MNOP=",
    "ABCD_EFGH_IJKL_MNOP==",
    "AKIAIOSFODNN7EXAMPLE=alice",
    "AKIA_IOSF7ODNN7EXAMPLE=alice",
    "sk_live_abcdefghijklm=alice",
    "meetingwithfrankfurt=tuesday",
    "OPERATION_NIGHTFALL: tuesday",
    "we call it OPERATION_NIGHTFALL=tuesday",
  ]
) {
  const [before = ""] = line.split(/[=:]/);
  Deno.test(`what is no name of a variable counts: ${line}`, () => assert.equal(finds(`${line}\n`, before), true));
}
